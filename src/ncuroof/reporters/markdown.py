"""Markdown for job summaries and comments on pull requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._groups import (
    LEVELS,
    FindingGroup,
    Row,
    condensed,
    finding_groups,
    full_name,
    kernel_groups,
    label,
    limit,
    roof_sources,
)
from ncuroof.reporters._names import cut, shorten
from ncuroof.reporters._suite import by_cause, covered, where
from ncuroof.reporters.text import summary

if TYPE_CHECKING:
    import polars as pl

    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "markdown"
DESCRIPTION = "Markdown for job summaries and pull-request comments, always under 1 MiB."
SUFFIX = ".md"

SHOWN = 50
LARGEST = 1_000_000
"""Bytes. A GitHub job summary of more than 1 MiB is refused as a whole."""

_ACTIVE = re.compile(r"[!-/:-@\[-`{-~]")
_BREAKS = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=GH)(?=-)")


def render(analysis: Analysis, options: RenderOptions) -> str:
    """Headings, a table of findings with their details folded, a table of kernels, where the roofs come from."""
    groups = kernel_groups(analysis)
    found = finding_groups(analysis, groups)
    cap = options.cap(SHOWN)
    while True:
        text = _document(analysis, groups, found, options, cap)
        if len(text.encode("utf-8", "replace")) <= LARGEST:
            return text
        cap = (cap or max(groups.height, len(found), 2)) // 2


def _document(
    analysis: Analysis, groups: pl.DataFrame, found: list[FindingGroup], options: RenderOptions, cap: int | None
) -> str:
    problems = [f for f in found if not f.is_data_note]
    notes = [f for f in found if f.is_data_note]
    parts = [
        f"## {prose(options.title or 'GPU kernels under their roofs')}",
        prose(summary(analysis, verbose=True)),
        prose(covered(analysis)),
        _suite(analysis, cap),
        _findings(problems, groups, cap),
        _kernels(groups, cap),
        _notes(notes, analysis, cap),
        _roofs(groups, cap),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _suite(analysis: Analysis, cap: int | None) -> str:
    """Over several reports: findings by kernel and cause, those on most of the GPU time first."""
    rows = by_cause(analysis)
    if len(rows) < 2:
        return ""
    lines = [
        "### By kernel and cause, most GPU time first",
        "",
        "| share of GPU time | so far | at stake | finding | kernel |",
        "| --: | --: | --: | --- | --- |",
    ]
    for r in rows[:cap]:
        share, covered_share = (_percent(100 * float(str(r[c]))) for c in ("share", "covered_share"))
        stake = r["time_at_stake_s"]
        what = prose(f"{r['code']} {r['name']}")
        kernel = " ".join(part for part in (code(str(r["kernel"]), 70), where(r)) if part)
        lines.append(
            f"| {share} | {covered_share} | {fig.si(stake if isinstance(stake, float) else None, 's')} "
            f"| {what} | {kernel} |"
        )
    return "\n".join([*lines, *(["", f"and {len(rows) - cap} more."] if cap and len(rows) > cap else [])])


def _findings(found: list[FindingGroup], groups: pl.DataFrame, cap: int | None) -> str:
    if not found:
        return "### Findings\n\nNone."
    lines = [
        "### Findings, most time at stake first",
        "",
        "| at stake | finding | severity | kernel | what was found |",
        "| --: | --- | --- | --- | --- |",
    ]
    shown = found[:cap]
    advised: set[tuple[str, str]] = set()
    for f in shown:
        kernel = (
            f"#{f.group + 1} {_kernel(groups.row(f.group, named=True))}"
            if f.group is not None
            else code(str(f.row["kernel"] or ""), 60)
        )
        times = f" ×{f.launches}" if f.launches > 1 else ""
        voice = {"nsight": " (Nsight)", "both": " (Nsight agrees)"}.get(str(f.row["voice"]), "")
        advice = ""
        if f.row["advice"] and (f.row["code"], f.row["advice"]) not in advised:  # once, where it is worth most
            advised.add((f.row["code"], f.row["advice"]))
            advice = f"<br>→ {prose(str(f.row['advice']))}"
        what = prose(f"{f.row['code']} {f.row['name']}")
        lines.append(
            f"| {fig.si(f.stake_s, 's')} | {what} | {prose(str(f.row['severity']))}{voice} "
            f"| {kernel}{times} | {prose(str(f.row['message'] or ''))}{advice} |"
        )
    if len(shown) < len(found):
        lines += ["", f"and {fig.count(len(found) - len(shown), 'more finding')}."]
    return "\n".join(lines)


def _kernels(groups: pl.DataFrame, cap: int | None) -> str:
    if groups.is_empty():
        return ""
    rows = list((groups if cap is None else groups.head(cap)).iter_rows(named=True))
    lines = [
        "### Kernels, most GPU time first",
        "",
        "| # | share | GPU time | launches | verdict | of its roof | path | kernel |",
        "| --: | --: | --: | --: | --- | --: | --- | --- |",
    ]
    for r in rows:
        near = limit(r)
        derived = "\\~" if near.derived and near.pct is not None else ""
        level = f" {prose(LEVELS[near.of])}" if near.of in LEVELS else ""
        lines.append(
            f"| {r['group'] + 1} | {_percent(100 * r['time_share'] if r['time_share'] is not None else None)} "
            f"| {fig.si(r['total_s'], 's')} | {r['launches']} | {prose(str(r['verdict'] or fig.UNKNOWN))} "
            f"| {derived}{_percent(near.pct)}{level} "
            f"| {prose(str(r['path'] or fig.UNKNOWN))} | {_kernel(r)} |"
        )
    rest = groups.height - len(rows)
    if rest:
        lines += ["", f"and {fig.count(rest, 'more kernel')}."]
    if any(limit(r).derived for r in rows):
        lines += ["", "\\~ bytes or FLOPs derived, not counted"]
    return "\n".join(lines)


def _percent(value: float | None) -> str:
    return fig.percent(value).replace("<", "&lt;")


def _kernel(group: Row) -> str:
    told = label(group)
    name = code(shorten(full_name(group), 70), 70)
    return f"{prose(told)} {name}" if told else name


def _notes(found: list[FindingGroup], analysis: Analysis, cap: int | None) -> str:
    items = [f"- {prose(note.code)} {prose(note.message)}" for note in condensed(found)]
    items += [f"- {prose(f'{n.source}: {n.message}' if n.source else n.message)}" for n in analysis.dataset.notes]
    if not items:
        return ""
    more = [f"- and {len(items) - cap} more"] if cap and len(items) > cap else []
    return "\n".join(["<details><summary>Notes</summary>", "", *items[:cap], *more, "", "</details>"])


def _roofs(groups: pl.DataFrame, cap: int | None) -> str:
    roofs = roof_sources(groups)[:cap]
    if not roofs:
        return ""
    lines = [
        "<details><summary>Where the roofs come from</summary>",
        "",
        "| GPU | roof | highest | source |",
        "| --- | --- | --: | --- |",
    ]
    for gpu, which, source, value, _ in roofs:
        height = fig.si(value, "byte/s" if which == "DRAM" else "FLOP/s")
        lines.append(f"| {prose(gpu or 'unknown GPU')} | {prose(which)} | {height} | {prose(source)} |")
    return "\n".join([*lines, "", "</details>"])


def prose(text: str) -> str:
    """Text from anywhere as Markdown that shows just that text, on one line and inside a table cell.

    Every ASCII punctuation mark that can mean something becomes a character reference, which Markdown never reads as
    markup; a zero-width space keeps GitHub from making mentions, issue references and links of what remains.
    """
    text = _BREAKS.sub("\u200b", cut(text, 600))
    return _ACTIVE.sub(lambda m: m.group() if m.group() in "'(),-./:;=%+?" else f"&#{ord(m.group())};", text)


def code(text: str, width: int) -> str:
    """A name in a fixed-width font, safe inside a table cell; empty for none."""
    text = _BREAKS.sub("\u200b", cut(text, width))
    return f"<code>{_ACTIVE.sub(lambda m: f'&#{ord(m.group())};', text)}</code>" if text else ""
