"""Decides the exit status of an analysis from ``--fail-on``.

Having judged nothing is never a pass: when a gate was asked for and none of the selected rules that look at kernels
could judge a single one, the status is 2; so it is when a regression was looked for and no kernel could be compared.

A note states a fact and asks for nothing ("reaches 92 % of its roof"), so it never fails by the way: it counts where
its rule is named in full (``R007``, ``near-roof``) or the severity ``note`` is, and not for a prefix (``R``, ``R00``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ncuroof import rules
from ncuroof.errors import EXIT_ERROR, EXIT_FINDINGS, EXIT_OK, UsageError
from ncuroof.tables import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.compare import Comparison
    from ncuroof.model import Analysis

NOTE = SEVERITIES[-1]
REGRESSION = "regression"
"""Stands for kernels that became slower than the baseline beyond the spread of their launches."""


@dataclass(frozen=True)
class Decision:
    """The exit status, and a sentence that says why it is not 0 (empty for 0)."""

    status: int
    reason: str = ""


def check(fail_on: Sequence[str], *, compares: bool = False) -> None:
    """Raise :class:`UsageError` for a ``--fail-on`` that means nothing, before any work is done.

    Args:
        fail_on: as for :func:`decide`.
        compares: whether there will be something to have regressed from.
    """
    for entry in _of_findings(fail_on):
        _matches(entry)
    if REGRESSION in fail_on and not compares:
        msg = f"--fail-on {REGRESSION} needs something to compare with: --baseline NAME"
        raise UsageError(msg)


def decide(analysis: Analysis, fail_on: Sequence[str], comparison: Comparison | None = None) -> Decision:
    """Hold the findings against ``fail_on``.

    Args:
        analysis: what was found; with a baseline, without what was known already.
        fail_on: severities (that one and anything more severe), rule codes and names (whatever their severity),
            prefixes of codes (findings above note level), or ``regression``.
        comparison: with the baseline, where there is one.

    Raises:
        UsageError: when an entry is neither a severity nor matches a rule, or asks for a comparison that is not there.
    """
    check(fail_on, compares=comparison is not None)
    if not fail_on:
        return Decision(EXIT_OK)
    entries = _of_findings(fail_on)
    hits = analysis.findings.filter(_any(entries)).height
    slower = _regressed(comparison, fail_on)
    if hits or slower:
        return _failed(hits, slower, entries, "finding")
    decision = _nothing_compared(comparison) if REGRESSION in fail_on else Decision(EXIT_OK)
    return _nothing_judged(analysis) if entries and decision.status == EXIT_OK else decision


def decide_comparison(comparison: Comparison, fail_on: Sequence[str]) -> Decision:
    """Hold a comparison against ``fail_on``: regressions, and new findings of a severity or rule.

    Raises:
        UsageError: when an entry is neither ``regression`` nor a severity nor matches a rule.
    """
    check(fail_on, compares=True)
    if not fail_on:
        return Decision(EXIT_OK)
    entries = _of_findings(fail_on)
    hits = comparison.findings.filter((pl.col("state") == "new") & _any(entries)).height
    slower = _regressed(comparison, fail_on)
    if hits or slower:
        return _failed(hits, slower, entries, "new finding")
    decision = _nothing_compared(comparison)
    return _nothing_judged(comparison.head) if entries and decision.status == EXIT_OK else decision


def _failed(hits: int, slower: int, entries: Sequence[str], noun: str) -> Decision:
    reasons = []
    if slower:
        reasons.append(f"{slower} kernel{'s' * (slower != 1)} regressed")
    if hits:
        reasons.append(f"{hits} {noun}{'s' * (hits != 1)} at or above --fail-on {', '.join(entries)}")
    return Decision(EXIT_FINDINGS, "; ".join(reasons))


def _regressed(comparison: Comparison | None, fail_on: Sequence[str]) -> int:
    return 0 if comparison is None or REGRESSION not in fail_on else comparison.totals.by_state["regressed"]


def _nothing_judged(analysis: Analysis) -> Decision:
    about_kernels = {code: n for code, n in analysis.judged.items() if not code.startswith("D")}
    if about_kernels and not any(about_kernels.values()):
        return Decision(EXIT_ERROR, "no selected rule could judge a single kernel, so nothing has passed")
    return Decision(EXIT_OK)


def _nothing_compared(comparison: Comparison | None) -> Decision:
    states = comparison.totals.by_state if comparison is not None else {}
    if any(number for state, number in states.items() if state != "not comparable"):
        return Decision(EXIT_OK)
    return Decision(EXIT_ERROR, "no kernel could be compared, so nothing has passed")


def _of_findings(fail_on: Sequence[str]) -> list[str]:
    return [entry for entry in fail_on if entry != REGRESSION]


def _any(entries: Sequence[str]) -> pl.Expr:
    return pl.any_horizontal([pl.lit(value=False), *(_matches(entry) for entry in entries)])


def _matches(entry: str) -> pl.Expr:
    wanted = entry.strip().lower()
    if wanted in SEVERITIES:
        return pl.col("severity").is_in(SEVERITIES[: SEVERITIES.index(wanted) + 1])
    known = [r.CODE for r in rules.rules() if r.CODE.lower().startswith(wanted) or wanted == r.NAME]
    if not wanted or not known:
        msg = (
            f"--fail-on {entry!r} is neither {REGRESSION} nor a severity ({', '.join(SEVERITIES)}) nor a rule; "
            "see `ncuroof rule --all`"
        )
        raise UsageError(msg)
    exact = [r.CODE for r in rules.rules() if wanted in {r.CODE.lower(), r.NAME}]
    if exact:
        return pl.col("code").is_in(exact)
    return pl.col("code").is_in(known) & (pl.col("severity") != NOTE)
