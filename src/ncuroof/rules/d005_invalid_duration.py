"""D005 invalid-duration: the duration is missing or is not a number.

What it does
    Counts the kernels whose duration the report does not give, or gives as NaN or zero.

Why it matters
    Everything on a roofline is a rate. Without the time a kernel cannot be judged, and it is missing from every share
    of GPU time.

How it decides
    ``duration_s`` is null (NaN counts as null) or zero.

What to do
    Profile again with gpu__time_duration.sum; a newer ncu often cures NaN on a new GPU.

When it is wrong
    Never for what the report holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.rules import Limit

CODE = "D005"
NAME = "invalid-duration"
SEVERITY = "note"
NEEDS: tuple[str, ...] = ()
TIER = "roofline"
LIMITS: dict[str, Limit] = {}


def check(kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report that holds kernels without a usable duration."""
    return per_report(
        kernels,
        pl.col("duration_s").is_null() | (pl.col("duration_s") <= 0),
        message=lambda r: f"{r['which']}: the duration is missing, zero or not a number",
        advice="Profile again with gpu__time_duration.sum; where it was NaN, with a newer ncu.",
    )
