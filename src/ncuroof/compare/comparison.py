"""The comparison itself: pairs with their verdict, what is new and gone, findings, totals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.compare import conditions, differences, launches, matching, spread
from ncuroof.model import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.model import Analysis

REGRESSED = "regressed"
IMPROVED = "improved"
INDISTINGUISHABLE = "indistinguishable"
NOT_COMPARABLE = "not comparable"
STATES = (REGRESSED, IMPROVED, INDISTINGUISHABLE, NOT_COMPARABLE)


@dataclass(frozen=True)
class Totals:
    """Sums over the comparison.

    Attributes:
        base_s, head_s: GPU time of everything, in seconds; None where no duration is known.
        compared_base_s, compared_head_s: GPU time of the pairs that could be compared.
        compared_base_launches, compared_head_launches: their number of launches.
        by_state: number of pairs per entry of :data:`STATES`.
        new, gone: number of distinct launches without a counterpart.
        new_s, gone_s: their GPU time.
        findings: number of findings above note level per state (new, fixed, known, cannot say).
    """

    base_s: float | None
    head_s: float | None
    compared_base_s: float
    compared_head_s: float
    compared_base_launches: int
    compared_head_launches: int
    by_state: dict[str, int]
    new: int
    gone: int
    new_s: float
    gone_s: float
    findings: dict[str, int]


@dataclass(frozen=True)
class Comparison:
    """Two analyses held against each other.

    Attributes:
        base, head: what was compared.
        pairs: one row per matched distinct launch, those that cost or save most time first: ``pair``; ``how`` they were
            matched; ``state`` (:data:`STATES`) and ``reason``; ``change_pct`` of the time and ``resolution_pct``, the
            change up to which nothing is concluded; ``delta_s``, what head's launches take more than as many of base
            would; ``unknown`` conditions; and the columns of :func:`ncuroof.compare.launches.distinct` with prefixes
            ``base_`` and ``head_``.
        new, gone: distinct launches only in head, only in base; most time first.
        findings: columns :data:`ncuroof.compare.differences.SCHEMA`.
        totals: sums.
        accepted: conditions that were allowed to differ.
    """

    base: Analysis
    head: Analysis
    pairs: pl.DataFrame
    new: pl.DataFrame
    gone: pl.DataFrame
    findings: pl.DataFrame
    totals: Totals
    accepted: tuple[str, ...] = ()

    def known(self) -> pl.DataFrame:
        """``head.findings`` with a column ``known``: found in base already."""
        return differences.known_rows(self.pairs, self.findings, self.base, self.head)

    def without_known(self, baseline: str) -> Analysis:
        """``head`` with the findings that base has not, and notes that say what is hidden and what regressed.

        Args:
            baseline: what to call base in the notes.
        """
        found = self.known()
        new = found.filter(~pl.col("known")).drop("known")
        hidden = found.height - new.height
        notes = list(self.head.dataset.notes)
        if hidden:
            notes.append(
                Note(
                    "known-findings",
                    f"{hidden} known finding{'s' * (hidden != 1)} hidden: in the baseline {baseline} already",
                )
            )
        states = self.totals.by_state
        told = ", ".join(f"{states[s]} {s}" for s in STATES if states[s]) or "no kernel in common"
        notes.append(Note("baseline", f"kernels against the baseline {baseline}: {told}"))
        return replace(self.head, findings=new, dataset=replace(self.head.dataset, notes=tuple(notes)))

    def in_state(self, state: str) -> pl.DataFrame:
        """The pairs with this verdict."""
        return self.pairs.filter(pl.col("state") == state)


def compare(base: Analysis, head: Analysis, accept: Sequence[str] = ()) -> Comparison:
    """Compare two analyses kernel by kernel.

    Args:
        base: what it was.
        head: what it is now.
        accept: names of :data:`ncuroof.compare.conditions.CONDITIONS` that may differ all the same.

    Raises:
        UsageError: for a condition that does not exist or cannot be accepted.
    """
    conditions.check_accepted(accept)
    old, new = launches.distinct(base.kernels), launches.distinct(head.kernels)
    matched = matching.match(old, new)
    pairs = (
        matched.join(old.rename(lambda c: f"base_{c}"), left_on="base", right_on="base_group", how="left")
        .join(new.rename(lambda c: f"head_{c}"), left_on="head", right_on="head_group", how="left")
        .with_row_index("pair")
    )
    pairs = _with_verdict(spread.judge(conditions.differing(pairs)), accept)
    found = differences.findings(pairs, base, head)
    pairs = pairs.drop(f"_{c}" for c in conditions.CONDITIONS).sort(
        pl.col("delta_s").abs(), "pair", descending=[True, False], nulls_last=True
    )

    def alone(groups: pl.DataFrame, side: str) -> pl.DataFrame:
        rest = groups.join(matched, left_on="group", right_on=side, how="anti")
        return rest.sort("total_s", "group", descending=[True, False], nulls_last=True)

    only_new, gone = alone(new, "head"), alone(old, "base")
    totals = Totals(
        _time(old),
        _time(new),
        **_compared(pairs),
        new=only_new.height,
        gone=gone.height,
        new_s=_time(only_new) or 0.0,
        gone_s=_time(gone) or 0.0,
        findings=dict(found.filter(pl.col("severity") != "note").group_by("state").len().sort("state").iter_rows()),
    )
    return Comparison(base, head, pairs, only_new, gone, found, totals, tuple(accept))


def _with_verdict(pairs: pl.DataFrame, accept: Sequence[str]) -> pl.DataFrame:
    against = [f"_{c}" for c in conditions.CONDITIONS if c not in accept]
    reason = pl.concat_list(against).list.drop_nulls().list.join("; ")
    blocked = pl.any_horizontal(pl.col(c).is_not_null() for c in against)
    change, resolution = pl.col("change"), pl.col("resolution")
    state = (
        pl.when(blocked | change.is_null())
        .then(pl.lit(NOT_COMPARABLE))
        .when(change > resolution)
        .then(pl.lit(REGRESSED))
        .when(change < -resolution)
        .then(pl.lit(IMPROVED))
        .otherwise(pl.lit(INDISTINGUISHABLE))
    )
    return pairs.with_columns(
        state=state,
        reason=pl.when(blocked).then(reason),
        change_pct=100 * (change.exp() - 1),
        resolution_pct=100 * (resolution.exp() - 1),
        delta_s=pl.col("head_total_s") * (1 - (-change).exp()),
    ).drop("change", "resolution")


def _compared(pairs: pl.DataFrame) -> dict[str, Any]:
    compared = pairs.filter(pl.col("state") != NOT_COMPARABLE)
    counts = dict(pairs.group_by("state").len().iter_rows())
    return {
        "compared_base_s": math.fsum(compared["base_total_s"].drop_nulls()),
        "compared_head_s": math.fsum(compared["head_total_s"].drop_nulls()),
        "compared_base_launches": int(compared["base_launches"].sum()),
        "compared_head_launches": int(compared["head_launches"].sum()),
        "by_state": {s: counts.get(s, 0) for s in STATES},
    }


def _time(groups: pl.DataFrame) -> float | None:
    known = groups["total_s"].drop_nulls()
    return math.fsum(known) if known.len() else None
