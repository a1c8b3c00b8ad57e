"""Kernel groups as the points of the chart, with the texts of their tooltips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._groups import FindingGroup, Row, full_name, is_derived, label, launch_shape, relevant_pct
from ncuroof.reporters._names import cut, shorten
from ncuroof.verdict_words import CANNOT_SAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MEASURED, DERIVED = "counted", "derived"
NAME, TEXT = 110, 160
"""Longest name, and longest other text, in a tooltip: 5,000 kernels must stay under 10 MB."""
MOST_FINDINGS = 3


def by_group(found: Iterable[FindingGroup]) -> dict[int, list[FindingGroup]]:
    """The findings of each kernel group."""
    result: dict[int, list[FindingGroup]] = {}
    for f in found:
        if f.group is not None:
            result.setdefault(f.group, []).append(f)
    return result


def split(groups: Sequence[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """Groups with a place on the roofline, with a place on the bandwidth axis alone, and with none."""
    on_roof, on_strip, nowhere = [], [], []
    for g in groups:
        if _positive(g["intensity"]) and _positive(g["achieved_flop_s"]):
            on_roof.append(g)
        elif g["memory_roof_pct"] is not None and _positive(g["duration_s"]):
            on_strip.append(g)
        else:
            nowhere.append(g)
    return on_roof, on_strip, nowhere


def records(
    groups: Iterable[Row],
    found: Mapping[int, Sequence[FindingGroup]],
    reports: Mapping[str, int],
    total_s: float | None,
) -> list[dict[str, Any]]:
    """One record per group: position, looks and tooltip texts.

    ``report`` is the number of the report, as text; ``percent_of_time`` is of ``total_s``.
    """
    return [_record(g, found.get(g["group"], ()), reports, total_s or 0.0) for g in groups]


def _record(g: Row, found: Sequence[FindingGroup], reports: Mapping[str, int], total_s: float) -> dict[str, Any]:
    told = label(g)
    name = shorten(full_name(g), NAME)
    record: dict[str, Any] = {
        "group": g["group"],
        "report": str(reports.get(g["source_sha256"], 0)),
        "report_name": cut(str(g["source"] or ""), TEXT),
        "verdict": g["verdict"] or CANNOT_SAY,
        "basis": DERIVED if is_derived(g) else MEASURED,
        "percent_of_time": round(100 * (g["total_s"] or 0.0) / total_s, 3) if total_s else 0.0,
        "name": f"{cut(told, NAME)} ({shorten(full_name(g), 60)})" if told else name,
        "launch": launch_shape(g) + (f" ×{g['launches']}" if g["launches"] > 1 else ""),
        "time": _time(g),
        "share": fig.percent(100 * g["time_share"] if g["time_share"] is not None else None),
        "work": _work(g),
        "bytes": _sourced(fig.si(g["traffic_bytes"], "byte"), g["traffic_bytes_source"]),
        "where": _intensity(g),
        "speed": ", ".join(
            text
            for text in (
                fig.si(g["achieved_flop_s"], "FLOP/s") if fig.finite(g["achieved_flop_s"]) else "",
                fig.si(g["achieved_bytes_s"], "byte/s") if fig.finite(g["achieved_bytes_s"]) else "",
            )
            if text
        ),
        "roof": _roof(g),
        "why": cut(f"{g['verdict'] or CANNOT_SAY}: {g['verdict_reason'] or 'no reason given'}", TEXT),
        "found": _findings(found),
    }
    if _positive(g["intensity"]):
        record |= {"intensity": _round(g["intensity"]), "rate": _round(g["achieved_flop_s"])}
        if _positive(g["compulsory_bytes"]) and not str(g["traffic_bytes_source"] or "").startswith("compulsory"):
            record["formula"] = _round(g["flop"] / g["compulsory_bytes"])
    else:
        record |= {"bandwidth_pct": _round(g["memory_roof_pct"]), "seconds": _round(g["duration_s"])}
    return record


def _work(g: Row) -> str:
    text = _sourced(fig.si(g["flop"], "FLOP"), g["flop_source"])
    ratio = g["executed_over_useful"]
    return f"{text}, {fig.number(ratio)} × the useful work" if _positive(ratio) else text


def _time(g: Row) -> str:
    one = fig.si(g["duration_s"], "s")
    return f"{one} (median), {fig.si(g['total_s'], 's')} in all" if g["launches"] > 1 else one


def _intensity(g: Row) -> str:
    if not _positive(g["intensity"]):
        return fig.UNKNOWN
    text = f"{fig.number(g['intensity'])} FLOP/byte"
    if _positive(g["ridge"]):
        text += f", ridge point {fig.number(g['ridge'])}"
    if _positive(g["compulsory_bytes"]) and _positive(g["flop"]):
        text += f"; by formula {fig.number(g['flop'] / g['compulsory_bytes'])}"
    return text


def _roof(g: Row) -> str:
    pct = relevant_pct(g)
    if pct is None:
        return fig.UNKNOWN
    if g["roof_pct"] is None:
        return f"{fig.percent(pct)} of the bandwidth roof"
    paths = f", {g['paths']}" if g["paths"] and g["path_share"] is not None and g["path_share"] < 0.995 else ""
    levels = "".join(
        f"; {level} {fig.percent(g[column])}"
        for level, column in (("L2", "l2_roof_pct"), ("L1", "l1_roof_pct"))
        if g[column] is not None
    )
    return cut(
        f"{fig.percent(pct)} of the {g['bound'] or ''} roof (path {g['path'] or 'unknown'}{paths}){levels}", TEXT
    )


def _findings(found: Sequence[FindingGroup]) -> str:
    if not found:
        return "none"
    shown = [f"{f.row['code']} {f.row['name']}" for f in found[:MOST_FINDINGS]]
    more = f" and {len(found) - MOST_FINDINGS} more" if len(found) > MOST_FINDINGS else ""
    return cut(", ".join(shown), TEXT) + more


def _sourced(text: str, source: object) -> str:
    return f"{text} ({cut(str(source), TEXT)})" if source and text != fig.UNKNOWN else text


def _positive(value: float | None) -> bool:
    return value is not None and fig.finite(value) and value > 0


def _round(value: float) -> float:
    """Six significant digits: more than a screen can show, fewer bytes in the file."""
    return float(f"{value:.6g}")
