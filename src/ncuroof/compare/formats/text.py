"""A comparison for a terminal or a log: what changed, most time first, and what could not be compared and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.compare import IMPROVED, INDISTINGUISHABLE, NOT_COMPARABLE, REGRESSED
from ncuroof.compare.differences import FIXED, NEW, UNSURE
from ncuroof.compare.formats import _lines as lines
from ncuroof.reporters import _figures as fig
from ncuroof.reporters._lines import NARROWEST, SEVERITY_COLOR, paint, wrap
from ncuroof.reporters._names import cut, shorten, visible

if TYPE_CHECKING:
    import polars as pl

    from ncuroof.compare import Comparison
    from ncuroof.compare.formats._lines import Row
    from ncuroof.reporters import RenderOptions

NAME = "text"
SHOWN = 20
COLORS = {REGRESSED: "red", IMPROVED: "green", NOT_COMPARABLE: "yellow"}


def render(comparison: Comparison, options: RenderOptions) -> str:
    """Plain text, at most ``options.width`` columns wide."""
    width = max(options.width, NARROWEST)
    parts = [_changed(comparison, state, options, width) for state in (REGRESSED, IMPROVED)]
    parts += [_other_number(comparison, options, width), _not_comparable(comparison, options, width)]
    if options.verbose:
        parts.append(_changed(comparison, INDISTINGUISHABLE, options, width))
    parts += [
        _alone(comparison.new, "New kernels", options, width),
        _alone(comparison.gone, "Gone kernels", options, width),
        *(_findings(comparison, state, options, width) for state in (NEW, FIXED, UNSURE)),
        _notes(comparison, width),
        wrap(lines.summary(comparison), width),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _changed(comparison: Comparison, state: str, options: RenderOptions, width: int) -> list[str]:
    rows = comparison.in_state(state)
    if rows.is_empty():
        return []
    cap = options.cap(SHOWN) or rows.height
    out = [paint(state.capitalize(), "bold", on=options.color)]
    for row in rows.head(cap).iter_rows(named=True):
        first = f"{lines.change(row):>8}  "
        tail = " ".join(part for part in ("", lines.launches(row)) if part)
        out.append(
            paint(first, COLORS.get(state, "dim"), on=options.color)
            + shorten(str(row["head_name"]), max(width - len(first) - len(tail) - 1, 16))
            + (f" {tail}" if tail else "")
        )
        told = [lines.times(row), *lines.facts(row)]
        if options.verbose:
            told += [lines.resolution(row), lines.head_shape(row)]
        if row["how"] != "same launch":
            told.append(f"matched as: {row['how']}")
        out += wrap(visible("; ".join(part for part in told if part)), width, " " * 10)
    return out + _more(rows.height - cap)


def _other_number(comparison: Comparison, options: RenderOptions, width: int) -> list[str]:
    rows = lines.other_number(comparison)
    if rows.is_empty():
        return []
    cap = options.cap(SHOWN) or rows.height
    out = [paint("As fast as before, launched another number of times", "bold", on=options.color)]
    for row in rows.head(cap).iter_rows(named=True):
        tail = f" {lines.launches(row)}, {lines.sums(row)}"
        out.append("  " + shorten(str(row["head_name"]), max(width - len(tail) - 2, 16)) + tail)
    return out + _more(rows.height - cap)


def _not_comparable(comparison: Comparison, options: RenderOptions, width: int) -> list[str]:
    reasons = lines.reasons(comparison)
    if not reasons:
        return []
    out = [paint("Not comparable", "bold", on=options.color)]
    for reason, pairs, time in reasons[: options.cap(SHOWN)]:
        out += wrap(visible(f"{fig.count(pairs, 'kernel')}, {fig.si(time, 's')}: {reason}"), width, "    ", "  ")
    out += _more(len(reasons) - (options.cap(SHOWN) or len(reasons)))
    if options.verbose:
        rows = comparison.in_state(NOT_COMPARABLE)
        out += ["  " + shorten(str(name), width - 2) for name in rows["head_name"].unique(maintain_order=True)]
    return out


def _alone(groups: pl.DataFrame, title: str, options: RenderOptions, width: int) -> list[str]:
    if groups.is_empty():
        return []
    cap = options.cap(SHOWN) or groups.height
    out = [paint(title, "bold", on=options.color)]
    for row in groups.head(cap).iter_rows(named=True):
        times = f" ×{row['launches']}" if row["launches"] > 1 else ""
        name = shorten(str(row["name"]), max(width - 10 - len(times), 16))
        out.append(f"{fig.si(row['total_s'], 's'):>8}  {name}{times}")
    return out + _more(groups.height - cap)


def _findings(comparison: Comparison, state: str, options: RenderOptions, width: int) -> list[str]:
    rows = lines.shown_findings(comparison, state, notes=options.verbose)
    if not rows or (state == UNSURE and not options.verbose):
        return []
    title = {NEW: "New findings", FIXED: "Fixed findings", UNSURE: "Findings that cannot be compared"}[state]
    out = [paint(title, "bold", on=options.color)]
    cap = options.cap(SHOWN) or len(rows)
    for row in rows[:cap]:
        out += _finding(row, options, width)
    return out + _more(len(rows) - cap)


def _finding(row: Row, options: RenderOptions, width: int) -> list[str]:
    first = f"{fig.si(row['time_at_stake_s'], 's'):>8}  "
    head = visible(f"{row['code']} {row['name']}")
    kernel = f"  {cut(str(row['kernel']), max(width - len(first) - len(head) - 12, 16))}" if row["kernel"] else ""
    severity = paint(f"  {row['severity']}", SEVERITY_COLOR.get(str(row["severity"]), "dim"), on=options.color)
    why = f" ({row['reason']})" if row["reason"] else ""
    text = visible(str(row["message"] or "") + why)
    return [first + paint(head, "bold", on=options.color) + severity + kernel, *wrap(text, width, " " * 10)]


def _notes(comparison: Comparison, width: int) -> list[str]:
    out = []
    for what, pairs in lines.unknown(comparison):
        out += wrap(f"{fig.count(pairs, 'kernel')}: the reports do not tell {what}; taken to be the same", width)
    if comparison.accepted:
        out += wrap(f"compared although these may differ: {', '.join(comparison.accepted)}", width)
    return out


def _more(number: int) -> list[str]:
    return [f"… and {number} more (--limit 0 shows all)"] if number > 0 else []
