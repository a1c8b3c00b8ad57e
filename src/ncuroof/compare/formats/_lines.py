"""What the formats for people share: figures of a pair, sections, the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.compare import IMPROVED, INDISTINGUISHABLE, NOT_COMPARABLE, REGRESSED
from ncuroof.compare.differences import FIXED, NEW, UNSURE
from ncuroof.reporters import _figures as fig
from ncuroof.reporters._groups import label, launch_shape

if TYPE_CHECKING:
    from ncuroof.compare import Comparison

Row = dict[str, Any]


def head_shape(row: Row, side: str = "head") -> str:
    """Annotation and launch shape of one side of a pair, as far as known."""
    group = {k.removeprefix(f"{side}_"): v for k, v in row.items() if k.startswith(f"{side}_")} if side else row
    return ", ".join(part for part in (label(group), launch_shape(group)) if part)


def change(row: Row) -> str:
    """``+12 %``, ``×32``; a dash where it is unknown."""
    value = row["change_pct"]
    if not fig.finite(value):
        return fig.UNKNOWN
    if value >= 900:
        return f"×{fig.number(1 + value / 100)}"
    if abs(value) < 0.05:  # neither "+0.0" nor "-0.0": at this precision there is no change, and so no direction
        return "0.0 %"
    return f"{value:+.1f} %" if abs(value) < 10 else f"{value:+.0f} %"


def times(row: Row) -> str:
    """``10.2 µs → 12.1 µs``: medians of a launch."""
    return f"{fig.si(row['base_median_s'], 's')} → {fig.si(row['head_median_s'], 's')}"


def sums(row: Row) -> str:
    """``30.6 µs → 61.2 µs``: all launches together."""
    return f"{fig.si(row['base_total_s'], 's')} → {fig.si(row['head_total_s'], 's')}"


def launches(row: Row) -> str:
    """``×3``, or ``×3 → ×5`` where the number changed; empty for one on each side."""
    base, head = row["base_launches"], row["head_launches"]
    if base == head:
        return f"×{head}" if head > 1 else ""
    return f"×{base} → ×{head}"


def facts(row: Row) -> list[str]:
    """Percent of the roof, bytes, work and verdict, each as it was and is; unchanged verdicts once."""
    out = []
    for noun, name in (("of its roof", "roof_pct"), ("of the bandwidth roof", "memory_roof_pct")):
        base, head = row[f"base_{name}"], row[f"head_{name}"]
        if base is not None or head is not None:
            out.append(f"{fig.percent(base)} → {fig.percent(head)} {noun}")
            break
    for noun, name, unit in (("bytes", "traffic_bytes", "byte"), ("work", "flop", "FLOP")):
        base, head = row[f"base_{name}"], row[f"head_{name}"]
        if base is None and head is None:
            continue
        was, now = fig.si(base, unit), fig.si(head, unit)
        out.append(f"{noun} {now}" if was == now else f"{noun} {was} → {now}")
    base, head = row["base_verdict"], row["head_verdict"]
    out.append(str(head) if base == head else f"{base} → {head}")
    return out


def resolution(row: Row) -> str:
    """How far apart the sides would have to be: ``changes above 10 % count (one launch each)``."""
    how = "in pairs" if row["paired"] else f"{row['base_timed']} and {row['head_timed']} launches"
    return f"changes above {fig.percent(row['resolution_pct'])} count ({how})"


def reasons(comparison: Comparison) -> list[tuple[str, int, float]]:
    """Why pairs could not be compared: reason, number of pairs, their GPU time in head; most time first."""
    rows = (
        comparison.in_state(NOT_COMPARABLE)
        .group_by("reason", maintain_order=True)
        .agg(pl.len().alias("pairs"), pl.col("head_total_s").sum().alias("time"))
        .sort("time", descending=True, maintain_order=True)
    )
    return [(str(r), int(n), float(t)) for r, n, t in rows.iter_rows()]


def unknown(comparison: Comparison) -> list[tuple[str, int]]:
    """Conditions that the reports do not tell, with the number of compared pairs: they were taken to be the same."""
    rows = (
        comparison.pairs.filter((pl.col("state") != NOT_COMPARABLE) & (pl.col("unknown") != ""))
        .group_by("unknown", maintain_order=True)
        .agg(pl.len().alias("pairs"))
    )
    return [(str(u), int(n)) for u, n in rows.iter_rows()]


def shown_findings(comparison: Comparison, state: str, *, notes: bool) -> list[Row]:
    """Findings in a state, most time at stake first; without notes unless asked for."""
    rows = comparison.findings.filter(pl.col("state") == state)
    if not notes:
        rows = rows.filter(pl.col("severity") != "note")
    return list(rows.iter_rows(named=True))


def other_number(comparison: Comparison) -> pl.DataFrame:
    """Pairs whose time per launch did not change, but whose number of launches did; most time first."""
    return comparison.in_state(INDISTINGUISHABLE).filter(pl.col("base_launches") != pl.col("head_launches"))


def _other_launches(comparison: Comparison) -> str:
    base, head = comparison.totals.compared_base_launches, comparison.totals.compared_head_launches
    return "" if base == head else f", with {base} → {head} launches"


def summary(comparison: Comparison) -> str:
    """``2 regressed, 1 improved, 5 indistinguishable, 1 not comparable; …; GPU time 1.2 ms → 1.3 ms (+8.3 %)``."""
    t = comparison.totals
    states = ", ".join(
        f"{t.by_state[s]} {s}" for s in (REGRESSED, IMPROVED, INDISTINGUISHABLE, NOT_COMPARABLE) if t.by_state[s]
    )
    parts = [states or "no kernel in common"]
    if t.new or t.gone:
        parts[0] += "".join(f", {n} {what}" for n, what in ((t.new, "new"), (t.gone, "gone")) if n)
    found = [f"{t.findings[s]} {s}" for s in (NEW, FIXED, UNSURE) if t.findings.get(s)]
    parts.append("findings: " + (", ".join(found) if found else "nothing new or fixed"))
    if t.compared_base_s > 0:
        ratio = {"change_pct": 100 * (t.compared_head_s / t.compared_base_s - 1)}
        parts.append(
            f"GPU time of what could be compared {fig.si(t.compared_base_s, 's')} → "
            f"{fig.si(t.compared_head_s, 's')} ({change(ratio)}{_other_launches(comparison)})"
        )
    return "; ".join(parts)
