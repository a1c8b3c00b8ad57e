"""The default of ``ncuroof analyze``: kernels that own the time, findings by time at stake, notes, one summary line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._groups import (
    FindingGroup,
    Row,
    condensed,
    finding_groups,
    full_name,
    gpu_names,
    kernel_groups,
    label,
    launch_shape,
    limit,
    roof_sources,
    skip_text,
    totals,
)
from ncuroof.reporters._lines import NARROWEST, SEVERITY_COLOR, columns, paint, wrap
from ncuroof.reporters._names import cut, shorten, visible
from ncuroof.reporters._suite import by_cause, covered, disagreements, nsight_alone, where
from ncuroof.verdict_words import CANNOT_SAY

if TYPE_CHECKING:
    import polars as pl

    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "text"
DESCRIPTION = "Kernels that own the time, findings and notes, for a terminal or a log."
SUFFIX = ".txt"

NAMES_NEED = 72
"""Columns under which the table leaves out what the percentage is of."""
PADDED = 1.25
"""Executed over useful work from which the ratio is told: below it, it is the rounding of any tiled kernel."""
SUITE_SHOWN = 10
SHOWN = 20
"""Kernels, and findings, shown unless asked otherwise."""
FOUND = ("Findings, most time at stake first", SHOWN)
NOTED = ("Also noted", 5)


def render(analysis: Analysis, options: RenderOptions) -> str:
    """The report as plain text, at most ``options.width`` columns wide."""
    width = max(options.width, NARROWEST)
    groups = kernel_groups(analysis)
    found = finding_groups(analysis, groups)
    loud = [f for f in found if not f.is_data_note]
    parts = [
        _heading(analysis, groups, width),
        _kernels(groups, options, width),
        _findings(FOUND, [f for f in loud if f.row["severity"] != "note"], groups, options, width),
        _findings(NOTED, [f for f in loud if f.row["severity"] == "note"], groups, options, width),
        _notes([f for f in found if f.is_data_note], analysis, options, width),
    ]
    parts.insert(4, _suite(analysis, options, width))
    if options.verbose:
        parts += [_voices(analysis, options, width), _provenance(analysis, groups, width)]
    parts.append(wrap(covered(analysis), width))
    parts.append(wrap(summary(analysis, verbose=options.verbose), width))
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _heading(analysis: Analysis, groups: pl.DataFrame, width: int) -> list[str]:
    gpus = [cut(name, 40) if name else "unknown GPU" for name in gpu_names(groups)]
    more = f" and {len(gpus) - 3} more GPUs" if len(gpus) > 3 else ""
    sources = analysis.dataset.sources
    where = cut(sources[0].name, 50) if len(sources) == 1 else fig.count(len(sources), "report")
    return wrap(f"{where} on {', '.join(gpus[:3])}{more}", width) if gpus else wrap(where, width)


def _kernels(groups: pl.DataFrame, options: RenderOptions, width: int) -> list[str]:
    rows = list(groups.head(options.cap(SHOWN) or groups.height).iter_rows(named=True))
    if not rows:
        return []
    right = [True, True, True, False, True, False]
    cells = [["", "share", "GPU time", "verdict", "roof", "of"]]
    for r in rows:
        near = limit(r)
        derived = "~" if near.derived and near.pct is not None else ""
        cells.append(
            [
                str(r["group"] + 1),
                fig.percent(100 * r["time_share"] if r["time_share"] is not None else None),
                fig.si(r["total_s"], "s"),
                cut(str(r["verdict"] or fig.UNKNOWN), 16),
                derived + fig.percent(near.pct),
                cut(near.of or fig.UNKNOWN, 12),
            ]
        )
    if width < NAMES_NEED:  # the last column can go: a name of 16 columns cannot
        cells, right = [line[:-1] for line in cells], right[:-1]
    lines = columns(cells, right)
    start = max(len(line) for line in lines) + 2
    names = ["kernel", *_names(rows, max(width - start, 16))]
    out = [f"{line:<{start}}{name}" for line, name in zip(lines, names, strict=True)]
    out[0] = paint(out[0], "bold", on=options.color)
    rest = groups.slice(len(rows))
    if rest.height:
        share = float(rest["time_share"].sum())
        more = f"… and {fig.count(rest.height, 'more kernel')} with {fig.percent(100 * share)} of the GPU time"
        out.append(f"{more} (--limit 0 shows all)")
    out += _unsaid(rows, width)
    out += _padding(rows, width)
    if any("~" in line[4] for line in cells[1:]):
        out.append(paint("~ bytes or FLOPs derived, not counted", "dim", on=options.color))
    if options.verbose:
        out += ["", *_verdicts(rows, width)]
    return out


def _unsaid(rows: list[Row], width: int) -> list[str]:
    """Why nothing can be said of some kernels: each reason once, with the kernels it is true of."""
    reasons: dict[str, list[str]] = {}
    for r in rows:
        if r["verdict"] == CANNOT_SAY:
            reasons.setdefault(str(r["verdict_reason"] or "no reason given"), []).append(f"#{r['group'] + 1}")
    lines = []
    for reason, kernels in reasons.items():
        many = ", ".join(kernels[:6]) + (f" and {len(kernels) - 6} more" if len(kernels) > 6 else "")
        lines += wrap(visible(f"cannot say: {reason} ({many})"), width, "  ")
    return lines


def _padding(rows: list[Row], width: int) -> list[str]:
    """Which kernels execute more than was asked for, and whether that costs time; nothing where none is known to."""
    lines = []
    for free, why in (
        (True, "free, the intensity stays left of the ridge"),
        (False, "right of the ridge it costs time"),
    ):
        ratios: dict[str, list[str]] = {}
        for r in rows:
            ratio = r["executed_over_useful"]
            if ratio is not None and ratio >= PADDED and (r["bound"] == "memory") == free:
                ratios.setdefault(fig.number(ratio), []).append(f"#{r['group'] + 1}")
        if ratios:
            told = "; ".join(f"{ratio} × in {', '.join(where)}" for ratio, where in ratios.items())
            lines += wrap(f"executed over useful work: {told} ({why})", width)
    return lines


def _names(rows: list[Row], width: int) -> list[str]:
    """Kernel names within ``width``, with the number of launches, and the shape where names alone are the same."""
    plain = [shorten(full_name(r), width) for r in rows]
    twice = Counter(name for r, name in zip(rows, plain, strict=True) if not label(r))
    names = []
    for r, name in zip(rows, plain, strict=True):
        told = visible(label(r))
        times = f" ×{r['launches']}" if r["launches"] > 1 else ""
        room = width - len(times)
        if told:
            left = room - len(told) - 3
            if len(told) > room and r["op_label"]:  # the user's own words go before the shape
                told = visible(str(r["op_label"]))
            shown = f"{told} ({shorten(full_name(r), left)})" if left >= 12 else cut(told, room)
        elif twice[name] > 1 and launch_shape(r):
            shape = launch_shape(r).split(",")[0].removeprefix("grid ")
            shown = f"{shorten(full_name(r), max(room - len(shape) - 3, 8))} [{shape}]"
        else:
            shown = shorten(full_name(r), room)
        names.append(shown + times)
    return names


def _verdicts(rows: list[Row], width: int) -> list[str]:
    lines = ["Why these verdicts"]
    for r in rows:
        facts = [
            f"I {fig.number(r['intensity'])} FLOP/B" if r["intensity"] is not None else "",
            f"W {fig.si(r['flop'], 'FLOP')} ({visible(str(r['flop_source']))})" if r["flop"] is not None else "",
            f"Q {fig.si(r['traffic_bytes'], 'byte')} ({visible(str(r['traffic_bytes_source']))})"
            if r["traffic_bytes"] is not None
            else "",
            f"path {visible(str(r['path']))}" if r["path"] else "",
            launch_shape(r),
        ]
        text = "; ".join([str(r["verdict_reason"] or "no reason given"), *(f for f in facts if f)])
        lines += wrap(visible(text), width, "     ", f"{r['group'] + 1:>3}  ")
    return lines


def _findings(
    heading: tuple[str, int], found: list[FindingGroup], groups: pl.DataFrame, options: RenderOptions, width: int
) -> list[str]:
    """A list of findings under its heading, of which so many are shown unless asked otherwise."""
    if not found:
        return []
    title, most = heading
    lines = [paint(title, "bold", on=options.color)]
    shown = found[: options.cap(most)]
    advised: set[tuple[str, str]] = set()
    for f in shown:
        row = f.row
        severity = str(row["severity"])
        voice = {"nsight": " (Nsight)", "both": " (Nsight agrees)"}.get(str(row["voice"]), "")
        lead = f"{fig.si(f.stake_s, 's'):>8}  "
        head = f"{cut(str(row['code']), 8)} {cut(str(row['name']), 28)}"
        tail = f"  {severity}{voice}"
        room = width - len(lead) - len(head) - len(tail) - 2
        where = _where(f, groups, room if room >= 16 else width - len(lead))
        headline = (
            lead
            + paint(head, "bold", on=options.color)
            + paint(tail, SEVERITY_COLOR.get(severity, "dim"), on=options.color)
        )
        lines += [f"{headline}  {where}" if where else headline] if room >= 16 else [headline]
        lines += [" " * len(lead) + where] if where and room < 16 else []
        lines += wrap(visible(str(row["message"] or "")), width, " " * 10)
        # The same advice is given once, where it is worth most.
        if row["advice"] and (row["code"], row["advice"]) not in advised:
            advised.add((row["code"], row["advice"]))
            lines += wrap(visible(str(row["advice"])), width, " " * 12, " " * 10 + "→ ")
    rest = found[len(shown) :]
    if rest:
        at_stake = sum(f.stake_s or 0.0 for f in rest)
        stake = f", {fig.si(at_stake, 's')} at stake in sum" if at_stake else ""
        lines += wrap(f"… and {fig.count(len(rest), 'more finding')}{stake} (--limit 0 shows all)", width)
    return lines


def _where(f: FindingGroup, groups: pl.DataFrame, width: int) -> str:
    if f.group is None:
        return cut(str(f.row["kernel"]), max(width, 12)) if f.row["kernel"] else ""
    times = f" ×{f.launches}" if f.launches > 1 else ""
    number = f"#{f.group + 1} "
    name = shorten(full_name(groups.row(f.group, named=True)), max(width - len(times) - len(number), 8))
    return f"{number}{name}{times}"


def _notes(found: list[FindingGroup], analysis: Analysis, options: RenderOptions, width: int) -> list[str]:
    """Data-quality findings once per code, then what the readers had to say once per kind."""
    lines: list[str] = []
    for note in condensed(found):
        for message in note.all if options.verbose else [note.message]:
            lines += wrap(visible(f"{note.code} {message}"), width, "       ", "  ")
        if options.verbose and note.advice:
            lines += wrap(visible(note.advice), width, "         ", "       → ")
    by_kind: dict[str, list[str]] = {}
    for said in analysis.dataset.notes:
        by_kind.setdefault(said.kind, []).append(f"{said.source}: {said.message}" if said.source else said.message)
    for messages in by_kind.values():
        more = f" (and {len(messages) - 1} more like it)" if len(messages) > 1 and not options.verbose else ""
        for message in messages if options.verbose else messages[:1]:
            lines += wrap(visible(message) + more, width, "    ", "  ")
    return [paint("Notes", "bold", on=options.color), *lines] if lines else []


def _suite(analysis: Analysis, options: RenderOptions, width: int) -> list[str]:
    """Over several reports: findings by kernel and cause, those on most of the GPU time first."""
    rows = by_cause(analysis)
    if len(rows) < 2:
        return []
    shown = rows[: options.cap(SUITE_SHOWN)]
    cells = [["share", "so far", "at stake", "finding"]]
    for r in shown:
        share, so_far = (fig.percent(100 * float(str(r[c]))) for c in ("share", "covered_share"))
        stake = r["time_at_stake_s"]
        what = cut(f"{r['code']} {r['name']}", 24 if width >= 80 else 14)
        cells.append([share, so_far, fig.si(stake if isinstance(stake, float) else None, "s"), what])
    lines = columns(cells, [True, True, True, False])
    start = max(len(line) for line in lines) + 2
    out = [paint("By kernel and cause, most GPU time first", "bold", on=options.color), f"{lines[0]:<{start}}kernel"]
    for line, r in zip(lines[1:], shown, strict=True):
        tail = f" {where(r)}" if where(r) and width >= 80 else ""
        out.append(f"{line:<{start}}{cut(str(r['kernel']), max(width - start - len(tail), 8))}{tail}")
    rest = len(rows) - len(shown)
    return [*out, f"… and {rest} more (--limit 0 shows all)"] if rest else out


def _voices(analysis: Analysis, options: RenderOptions, width: int) -> list[str]:
    """What Nsight Compute's own rules say that ours do not, and where the two disagree."""
    lines = []
    alone, differ = nsight_alone(analysis), disagreements(analysis)
    if alone:
        lines.append(paint("Nsight Compute alone", "bold", on=options.color))
        for head, message in alone:
            lines += [*wrap(visible(head), width, "    ", "  "), *wrap(cut(message, 300), width, " " * 6)]
    if differ:
        lines += [""] if lines else []
        lines.append(paint("Where ncuroof and Nsight Compute disagree", "bold", on=options.color))
        for text in differ:
            lines += wrap(visible(text), width, "    ", "  ")
    return lines


def _provenance(analysis: Analysis, groups: pl.DataFrame, width: int) -> list[str]:
    lines = ["Roofs"]
    for gpu, which, source, value, launches in roof_sources(groups):
        unit = "byte/s" if which == "DRAM" else "FLOP/s"
        where = cut(gpu, 40) or "unknown GPU"
        text = f"{where}: {which} up to {fig.si(value, unit)}, {source} ({fig.launches(launches)})"
        lines += wrap(visible(text), width, "    ", "  ")
    if analysis.skips:
        lines += ["", "Not judged"]
        for skip in sorted(analysis.skips, key=lambda s: s.code):
            lines += wrap(visible(skip_text(skip, analysis.kernels.height)), width, "    ", "  ")
    lines += ["", "Read"]
    for file in analysis.dataset.sources:
        text = f"{file.name} as {file.format}: {file.recognised}; sha256 {file.sha256[:12]}"
        lines += wrap(visible(text), width, "    ", "  ")
    return lines


def summary(analysis: Analysis, *, verbose: bool) -> str:
    """``12 kernels, 3.4 ms GPU time; 5 findings: 2 warnings, 3 infos; 3 rules could not judge up to 7 kernels: …``."""
    t = totals(analysis)
    time = fig.si(t.duration_s, "s") if t.duration_s is not None else "unknown"
    parts = [f"{fig.count(t.kernels, 'kernel')}, {time} GPU time"]
    found = sum(t.by_severity.values())
    kinds = ", ".join(fig.count(number, severity) for severity, number in t.by_severity.items())
    parts.append(f"{fig.count(found, 'finding')}: {kinds}" if found else "no findings")
    if t.skipped_rules:
        hint = "" if verbose else ": see --verbose"
        what = fig.count(t.skipped_kernels, "kernel")
        most = "up to " if t.skipped_rules > 1 else ""
        parts.append(f"{fig.count(t.skipped_rules, 'rule')} could not judge {most}{what}{hint}")
    return "; ".join(parts)
