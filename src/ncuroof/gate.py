"""Decides the exit status of an analysis from ``--fail-on``.

Having judged nothing is never a pass: when a gate was asked for and none of the selected rules that look at kernels
could judge a single one, the status is 2.
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

    from ncuroof.model import Analysis


@dataclass(frozen=True)
class Decision:
    """The exit status, and a sentence that says why it is not 0 (empty for 0)."""

    status: int
    reason: str = ""


def check(fail_on: Sequence[str]) -> None:
    """Raise :class:`UsageError` for a ``--fail-on`` that means nothing, before any work is done."""
    for entry in fail_on:
        _matches(entry)


def decide(analysis: Analysis, fail_on: Sequence[str]) -> Decision:
    """Hold the findings against ``fail_on``.

    Args:
        analysis: what was found.
        fail_on: severities (that one and anything more severe), rule codes, prefixes of codes, or rule names.

    Raises:
        UsageError: when an entry is neither a severity nor matches a rule.
    """
    if not fail_on:
        return Decision(EXIT_OK)
    hits = analysis.findings.filter(pl.any_horizontal(_matches(entry) for entry in fail_on))
    if not hits.is_empty():
        count = hits.height
        return Decision(
            EXIT_FINDINGS, f"{count} finding{'s' * (count != 1)} at or above --fail-on {', '.join(fail_on)}"
        )
    about_kernels = {code: n for code, n in analysis.judged.items() if not code.startswith("D")}
    if about_kernels and not any(about_kernels.values()):
        return Decision(EXIT_ERROR, "no selected rule could judge a single kernel, so nothing has passed")
    return Decision(EXIT_OK)


def _matches(entry: str) -> pl.Expr:
    wanted = entry.strip().lower()
    if wanted in SEVERITIES:
        return pl.col("severity").is_in(SEVERITIES[: SEVERITIES.index(wanted) + 1])
    known = [r for r in rules.rules() if r.CODE.lower().startswith(wanted) or wanted == r.NAME]
    if not wanted or not known:
        msg = (
            f"--fail-on {entry!r} is neither a severity ({', '.join(SEVERITIES)}) nor a rule; see `ncuroof rule --all`"
        )
        raise UsageError(msg)
    return pl.col("code").is_in([r.CODE for r in known])
