"""What keeps two measurements from being compared, and how that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.compare import matching
from ncuroof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

CLOCK_TOLERANCE = 0.05
"""Relative difference of the measured SM clock. Launches of one kernel in one public report differ by up to 5 %."""

MEMORY_CLOCK_TOLERANCE = 0.10
"""Relative difference of the measured memory clock: its ratio to the nominal one spreads by ±8 % (p10 to p90)."""

CLOCK_FROM_S = 5e-6
MEMORY_CLOCK_FROM_S = 20e-6
"""Below these durations the time bases of the counters disagree by 30 % and more, and no clock can be measured."""

SAME_WORK = 0.01
"""Relative difference of the counted FLOPs up to which a reshaped kernel is taken to do the same work."""

CONDITIONS: dict[str, str] = {
    "gpu": "another GPU, or another number of SMs",
    "clock-mode": "another clock control of ncu (--clock-control)",
    "clock": f"measured SM clocks more than {100 * CLOCK_TOLERANCE:.0f} % apart",
    "memory-clock": f"measured memory clocks more than {100 * MEMORY_CLOCK_TOLERANCE:.0f} % apart",
    "cache-mode": "another cache control of ncu (--cache-control)",
    "replay-mode": "another replay mode of ncu",
    "ncu-version": "another ncu release (major.minor): definitions and defaults change between them, not within one",
    "counters": "another counter set: another number of passes, or time, bytes or work obtained in another way",
    "work": "another launch shape, with nothing that says that the work is the same",
    "time": "no duration on one side",
}
"""Name of each condition, as for ``--accept``, to what it means."""

NEVER_ACCEPTED = ("time",)
FINDINGS_NEED = ("gpu", "cache-mode", "replay-mode")
"""Where one of these differs, the findings of the two sides speak of different things."""


def check_accepted(accept: Sequence[str]) -> None:
    """Raise :class:`UsageError` for a condition that does not exist or cannot be accepted."""
    known = [name for name in CONDITIONS if name not in NEVER_ACCEPTED]
    for name in accept:
        if name not in known:
            msg = f"--accept {name}: choose from {', '.join(known)}"
            raise UsageError(msg)


def differing(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add what differs between the two sides of each pair.

    Args:
        pairs: columns of :func:`ncuroof.compare.launches.distinct` with prefixes ``base_`` and ``head_``, and ``how``.

    Returns:
        The pairs with one column ``_<condition>`` for each of :data:`CONDITIONS`: what differs as a clause, or null.
        What is unknown on either side counts as no difference; ``unknown`` lists those conditions, as text.
    """
    texts = {
        "gpu": pl.coalesce(_other("gpu_name", "GPU"), _other("sm_count", "number of SMs")),
        "clock-mode": _other("clock_control", "clock control"),
        "clock": _apart("sm_hz", "SM clock", CLOCK_TOLERANCE, CLOCK_FROM_S),
        "memory-clock": _apart("dram_hz", "memory clock", MEMORY_CLOCK_TOLERANCE, MEMORY_CLOCK_FROM_S),
        "cache-mode": _other("cache_control", "cache control"),
        "replay-mode": _other("replay_mode", "replay mode"),
        "ncu-version": _other("ncu_release", "ncu release"),
        "counters": pl.coalesce(_other("counters", "time, bytes and work from"), _other("passes", "number of passes")),
        "work": _work(),
        "time": pl.when(pl.col("base_timed").eq(0) | pl.col("head_timed").eq(0)).then(
            pl.format(
                "no duration {}",
                pl.when(pl.col("base_timed") > 0)
                .then(pl.lit("in head"))
                .when(pl.col("head_timed") > 0)
                .then(pl.lit("in base"))
                .otherwise(pl.lit("on either side")),
            )
        ),
    }
    asked = {
        "GPU": "gpu_name",
        "clock control": "clock_control",
        "cache control": "cache_control",
        "ncu version": "ncu_release",
    }
    unknown = [
        pl.when(pl.col(f"base_{c}").is_null() | pl.col(f"head_{c}").is_null()).then(pl.lit(name))
        for name, c in asked.items()
    ]
    return pairs.with_columns(
        pl.concat_list(unknown).list.drop_nulls().list.join(", ").alias("unknown"),
        *(expression.alias(f"_{name}") for name, expression in texts.items()),
    )


def _other(column: str, noun: str) -> pl.Expr:
    base, head = pl.col(f"base_{column}"), pl.col(f"head_{column}")

    def shown(value: pl.Expr) -> pl.Expr:
        return value.cast(pl.Int64).cast(pl.String) if column in {"passes", "sm_count"} else value

    return pl.when((base != head).fill_null(value=False)).then(
        pl.format(f"{noun} {{}} → {{}}", shown(base), shown(head))
    )


def _apart(column: str, noun: str, tolerance: float, from_s: float) -> pl.Expr:
    base, head = pl.col(f"base_{column}"), pl.col(f"head_{column}")
    long = pl.min_horizontal("base_median_s", "head_median_s") >= from_s
    far = (head / base - 1).abs().fill_null(0) > tolerance
    return pl.when(far & long.fill_null(value=False)).then(
        pl.format(
            f"measured {noun} {{}} → {{}} MHz",
            (base / 1e6).round(0).cast(pl.Int64),
            (head / 1e6).round(0).cast(pl.Int64),
        )
    )


def _work() -> pl.Expr:
    """A reshaped launch is the same work where an annotation says so, or the counters count the same."""
    base, head = pl.col("base_flop"), pl.col("head_flop")
    counted = ((base > 0) & ((head / base - 1).abs() <= SAME_WORK)).fill_null(value=False)
    known = pl.col("head_op").is_not_null() | (counted & (pl.col("base_launches") == pl.col("head_launches")))
    return pl.when((pl.col("how") == matching.RESHAPED) & ~known).then(
        pl.lit("the launch shape differs, and neither an annotation nor counted work says that the work is the same")
    )
