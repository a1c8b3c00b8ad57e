"""Pairs the distinct launches of two analyses: by name, shape, annotation and order of launch."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ncuroof.compare.launches import ANNOTATION, CIRCUMSTANCES, IDENTITY, NAME, SHAPE

SAME = "same launch"
UNANNOTATED = "same launch, annotated on one side only"
RESHAPED = "other launch shape or template arguments"
REPLACED = "other kernel for the same annotated work"


@dataclass(frozen=True)
class _Pass:
    """One round: what must agree, and what it is called. ``ambiguous`` pairs by order even where numbers differ."""

    how: str
    key: tuple[str, ...]
    ambiguous: bool = False


_PASSES = (
    _Pass(SAME, (*IDENTITY, *CIRCUMSTANCES), ambiguous=True),
    # The same launch measured in another way: matched, so that the comparison can say why it compares nothing.
    _Pass(SAME, IDENTITY, ambiguous=True),
    _Pass(UNANNOTATED, (*NAME, *SHAPE)),
    _Pass(RESHAPED, ("kernel_name", *ANNOTATION)),
    _Pass(REPLACED, ANNOTATION),
)


def match(base: pl.DataFrame, head: pl.DataFrame) -> pl.DataFrame:
    """Pair the rows of two :func:`ncuroof.compare.launches.distinct` tables, each row at most once.

    The rounds go from the strictest to the loosest; within a round, launches that agree are paired in the order in
    which they were launched. From the third round on this happens only where both sides have equally many, since
    nothing else would say which belongs to which.

    Returns:
        Columns ``base`` and ``head`` (their ``group``) and ``how`` (:data:`SAME` and the others), sorted by ``head``.
    """
    found = []
    for round_ in _PASSES:
        pairs = _pair(base, head, round_)
        base = base.join(pairs, left_on="group", right_on="base", how="anti")
        head = head.join(pairs, left_on="group", right_on="head", how="anti")
        found.append(pairs)
    return pl.concat(found).sort("head")


def _pair(base: pl.DataFrame, head: pl.DataFrame, round_: _Pass) -> pl.DataFrame:
    key = list(round_.key)
    if round_.how == UNANNOTATED:
        # Only a missing annotation may be overlooked: two that differ are different work.
        bare = pl.all_horizontal(pl.col(c).is_null() for c in ANNOTATION)
        one_way = _join(base.filter(bare), head.filter(~bare), key)
        other_way = _join(base.filter(~bare), head.filter(bare), key)
        joined = pl.concat([one_way, other_way])
    elif round_.how == REPLACED:
        joined = _join(base.filter(pl.col("op").is_not_null()), head.filter(pl.col("op").is_not_null()), key)
    else:
        joined = _join(base, head, key)
    if not round_.ambiguous:
        joined = joined.filter(pl.col("_of") == pl.col("_of_right"))
    return joined.select(base="group", head="group_right", how=pl.lit(round_.how))


def _join(base: pl.DataFrame, head: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    def numbered(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select("group", *key, _place=pl.int_range(pl.len()).over(key), _of=pl.len().over(key))

    return numbered(base).join(numbered(head), on=[*key, "_place"], how="inner", nulls_equal=True)
