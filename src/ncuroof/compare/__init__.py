"""Holds two analyses against each other: what became faster or slower, what is new or gone, what cannot be compared.

::

    Analysis ─► launches.distinct ─┐
                                   ├─► matching.match ─► conditions.differing ─► spread.judge ─► Comparison
    Analysis ─► launches.distinct ─┘                                   differences.findings ──►

:mod:`~ncuroof.compare.launches` puts repeated launches together, :mod:`~ncuroof.compare.matching` pairs them,
:mod:`~ncuroof.compare.conditions` finds what keeps a pair from being compared, :mod:`~ncuroof.compare.spread` decides
from the spread of repeated launches whether a change is one, :mod:`~ncuroof.compare.differences` sets the findings
against each other. ``formats/`` prints the result, one module a format.
"""

from __future__ import annotations

from ncuroof.compare.comparison import (
    IMPROVED,
    INDISTINGUISHABLE,
    NOT_COMPARABLE,
    REGRESSED,
    STATES,
    Comparison,
    Totals,
    compare,
)
from ncuroof.compare.conditions import CONDITIONS, check_accepted

__all__ = [
    "CONDITIONS",
    "IMPROVED",
    "INDISTINGUISHABLE",
    "NOT_COMPARABLE",
    "REGRESSED",
    "STATES",
    "Comparison",
    "Totals",
    "check_accepted",
    "compare",
]
