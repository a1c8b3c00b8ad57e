"""A comparison as Markdown, for comments on pull requests and job summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.compare import IMPROVED, REGRESSED
from ncuroof.compare.differences import FIXED, NEW
from ncuroof.compare.formats import _lines as lines
from ncuroof.reporters import _figures as fig
from ncuroof.reporters._names import shorten
from ncuroof.reporters.markdown import LARGEST, code, prose

if TYPE_CHECKING:
    import polars as pl

    from ncuroof.compare import Comparison
    from ncuroof.compare.formats._lines import Row
    from ncuroof.reporters import RenderOptions

NAME = "markdown"
SHOWN = 50


def render(comparison: Comparison, options: RenderOptions) -> str:
    """Tables of what changed, the reasons for what could not be compared, findings new and fixed; below 1 MiB."""
    cap = options.cap(SHOWN)
    while True:
        text = _document(comparison, options, cap)
        if len(text.encode("utf-8", "replace")) <= LARGEST:
            return text
        cap = (cap or max(comparison.pairs.height, comparison.findings.height, 2)) // 2


def _document(comparison: Comparison, options: RenderOptions, cap: int | None) -> str:
    parts = [
        f"## {prose(options.title or 'GPU kernels, before and after')}",
        prose(lines.summary(comparison)),
        *(_changed(comparison, state, cap) for state in (REGRESSED, IMPROVED)),
        _other_number(comparison, cap),
        _not_comparable(comparison, cap),
        *(_findings(comparison, state, cap) for state in (NEW, FIXED)),
        _alone(comparison.new, "New kernels", cap),
        _alone(comparison.gone, "Gone kernels", cap),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _changed(comparison: Comparison, state: str, cap: int | None) -> str:
    rows = comparison.in_state(state)
    if rows.is_empty():
        return ""
    out = [
        f"### {state.capitalize()}",
        "",
        "| time | before → after | counts from | what else | kernel |",
        "| --: | --: | --: | --- | --- |",
    ]
    for row in (rows if cap is None else rows.head(cap)).iter_rows(named=True):
        kernel = " ".join(part for part in (_kernel(str(row["head_name"])), lines.launches(row)) if part)
        out.append(
            f"| {prose(lines.change(row))} | {prose(lines.times(row))} | {_percent(row['resolution_pct'])} "
            f"| {prose('; '.join(lines.facts(row)))} | {kernel} |"
        )
    return "\n".join(out + _more(rows.height, cap))


def _other_number(comparison: Comparison, cap: int | None) -> str:
    rows = lines.other_number(comparison)
    if rows.is_empty():
        return ""
    out = ["### As fast as before, launched another number of times", ""]
    out += ["| launches | GPU time | kernel |", "| --: | --: | --- |"]
    for row in (rows if cap is None else rows.head(cap)).iter_rows(named=True):
        times = f"{row['base_launches']} → {row['head_launches']}"
        out.append(f"| {times} | {prose(lines.sums(row))} | {_kernel(str(row['head_name']))} |")
    return "\n".join(out + _more(rows.height, cap))


def _not_comparable(comparison: Comparison, cap: int | None) -> str:
    reasons = lines.reasons(comparison)
    if not reasons:
        return ""
    out = ["### Not comparable", "", "| kernels | GPU time | why |", "| --: | --: | --- |"]
    out += [f"| {pairs} | {fig.si(time, 's')} | {prose(reason)} |" for reason, pairs, time in reasons[:cap]]
    return "\n".join(out + _more(len(reasons), cap))


def _findings(comparison: Comparison, state: str, cap: int | None) -> str:
    rows = lines.shown_findings(comparison, state, notes=False)
    if not rows:
        return ""
    out = [
        f"### {state.capitalize()} findings",
        "",
        "| at stake | finding | severity | kernel | what was found |",
        "| --: | --- | --- | --- | --- |",
    ]
    out += [_finding(row) for row in rows[:cap]]
    return "\n".join(out + _more(len(rows), cap))


def _finding(row: Row) -> str:
    why = f" ({row['reason']})" if row["reason"] else ""
    kernel = code(str(row["kernel"]), 60) if row["kernel"] else ""
    what = prose(f"{row['code']} {row['name']}")
    return (
        f"| {fig.si(row['time_at_stake_s'], 's')} | {what} "
        f"| {prose(str(row['severity']))} | {kernel} | {prose(str(row['message'] or '') + why)} |"
    )


def _alone(groups: pl.DataFrame, title: str, cap: int | None) -> str:
    if groups.is_empty():
        return ""
    out = [f"### {title}", "", "| GPU time | launches | kernel |", "| --: | --: | --- |"]
    rows = (groups if cap is None else groups.head(cap)).iter_rows(named=True)
    out += [f"| {fig.si(r['total_s'], 's')} | {r['launches']} | {_kernel(str(r['name']))} |" for r in rows]
    return "\n".join(out + _more(groups.height, cap))


def _kernel(name: str) -> str:
    return code(shorten(name, 70), 70)


def _percent(value: float | None) -> str:
    return prose(fig.percent(value))


def _more(number: int, cap: int | None) -> list[str]:
    return ["", f"and {number - cap} more."] if cap is not None and number > cap else []
