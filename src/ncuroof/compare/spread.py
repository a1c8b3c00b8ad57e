"""Decides whether a change of the time is one, from the spread of repeated launches.

The statistic is a moderated t-test on ln(time), made of medians so that one outlier decides nothing:

- The change is ln(median of head) - ln(median of base). A kernel that is launched on different data each time spreads
  widely though nothing changes from run to run. Where both sides have the same number of launches, at least five, and
  the pairwise differences in order of launch spread less than half as far, their median is the change instead.
- The spread of a single launch is 1.4826 × the median absolute deviation, pooled over both sides by degrees of freedom
  (paired: that of the differences, over √2).
- Few launches tell little about their spread. It is therefore pooled with what repeated launches show elsewhere, a
  prior of :data:`PRIOR_SPREAD` (more below some 10 µs) that weighs as much as :data:`PRIOR_DEGREES` further launches.
  This is the moderated variance of Smyth, "Linear models and empirical Bayes methods for assessing differential
  expression in microarray experiments", Stat. Appl. Genet. Mol. Biol. 3(1), 2004, with a fixed prior; a plain t-test
  on two launches a side would need a tenfold change. Where the launches themselves spread further than that, their own
  spread counts: the prior makes quiet kernels no quieter than kernels are, but noisy ones stay noisy.
- Standard error: spread × √(c/n + c/n), where c is 1 up to two launches (the median is the mean) and π/2 above
  (asymptotic variance of a median).
- A change is one where it exceeds the two-sided 99.9 % quantile of Student's t × standard error, and
  :data:`SMALLEST_CHANGE`. One false alarm in a thousand unchanged kernels keeps a gate over a hundred of them quiet.

With one launch on each side only the prior speaks: 4.587 × √2 × 1.5 % gives a smallest change of 10 % for long kernels,
15 % at 10 µs, 24 % at 5 µs.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

PRIOR_SPREAD = 0.015
PRIOR_SPREAD_S = 0.15e-6
"""Standard deviation of ln(time) of a single launch: √(0.015² + (0.15 µs / T)²).

Of pairs of launches of the same kernel within one public report (1,400 pairs of 25 kernels), 95 % differ by less than
3.8 % (40 µs to 1 ms), 5.5 % (above 1 ms), 7.2 % (6 to 15 µs) and 10.7 % (3 to 6 µs); 95 % of pairs of a normal
distribution differ by less than 2.77 standard deviations: 1.4 %, 2.0 %, 2.6 % and 3.9 %.
"""

PRIOR_DEGREES = 10.0
"""How many launches' worth of evidence the prior is: ten repeated launches outweigh it."""

SMALLEST_CHANGE = 0.02
"""Below 2 % nothing is called a change, however many launches agree.

Launches of one run share what changes between runs: GPU clocks move in steps of 15 MHz (1.5 % of 1 GHz), and where
buffers lie in memory differs. Averaging within a run does not reduce that.
"""

PAIRED_FROM = 5
PAIRED_BELOW = 0.5
"""Launches are compared in pairs where that leaves less than half of the spread: they differ more by what they do."""

_DEGREES = (10, 12, 15, 20, 30, 60, 120)
_QUANTILES = (4.587, 4.318, 4.073, 3.850, 3.646, 3.460, 3.373)
_NORMAL = 3.291
"""Student's t, 0.9995 quantile, by degrees of freedom, and its limit."""


def judge(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add ``change`` (ln), ``resolution`` (ln; changes up to it are no changes) and ``paired`` to pairs of launches.

    Args:
        pairs: with ``base_`` and ``head_`` columns ``durations``, ``timed``, ``median_s``, ``spread``.

    Returns:
        The pairs with the columns; ``change`` and ``resolution`` are null where a side has no duration.
    """
    frame = pairs.with_row_index("_at")
    frame = frame.join(_differences(frame), on="_at", how="left")
    n, m = pl.col("base_timed"), pl.col("head_timed")
    pooled = (n - 1).clip(0) * pl.col("base_spread").fill_null(0) ** 2 + (m - 1).clip(0) * pl.col(
        "head_spread"
    ).fill_null(0) ** 2
    frame = frame.with_columns(
        _pooled=pooled,
        paired=(pl.col("_difference_spread") ** 2 / 2 < PAIRED_BELOW**2 * pooled / (n + m - 2)).fill_null(value=False),
    )
    degrees = pl.when("paired").then(n - 1).otherwise((n - 1).clip(0) + (m - 1).clip(0))
    # Twice the variance of one launch is that of a difference of two.
    squares = pl.when("paired").then((n - 1) * pl.col("_difference_spread") ** 2 / 2).otherwise("_pooled")
    typical = pl.min_horizontal("base_median_s", "head_median_s")
    prior = PRIOR_SPREAD**2 + (PRIOR_SPREAD_S / typical) ** 2
    moderated = (PRIOR_DEGREES * prior + squares) / (PRIOR_DEGREES + degrees)
    variance = pl.max_horizontal(moderated, pl.when(degrees > 0).then(squares / degrees))
    error = (variance * (_median_variance(n) + _median_variance(m))).sqrt()
    frame = frame.with_columns(
        change=pl.when("paired")
        .then("_difference")
        .otherwise(pl.col("head_median_s").log() - pl.col("base_median_s").log()),
        _error=error,
        _degrees=PRIOR_DEGREES + degrees,
    )
    quantile = pl.Series(t_quantile(frame["_degrees"].cast(pl.Float64).fill_null(PRIOR_DEGREES).to_numpy()))
    floor = math.log1p(SMALLEST_CHANGE)
    return frame.with_columns(
        resolution=pl.when(pl.col("change").is_not_null()).then((quantile * pl.col("_error")).clip(floor))
    ).drop("_at", "_error", "_degrees", "_difference", "_difference_spread", "_pooled")


def _median_variance(count: pl.Expr) -> pl.Expr:
    """Variance of the median of ``count`` values, as a multiple of the variance of one."""
    return pl.when(count <= 2).then(1.0).otherwise(math.pi / 2) / count


def _differences(frame: pl.DataFrame) -> pl.DataFrame:
    """Median and robust spread of the pairwise ln differences, where both sides have equally many launches."""
    same = frame.filter((pl.col("base_timed") == pl.col("head_timed")) & (pl.col("base_timed") >= PAIRED_FROM))
    long = same.select("_at", "base_durations", "head_durations").explode("base_durations", "head_durations")
    difference = (pl.col("head_durations") / pl.col("base_durations")).log()
    return long.group_by("_at").agg(
        _difference=difference.median(),
        _difference_spread=1.4826 * (difference - difference.median()).abs().median(),
    )


def t_quantile(degrees: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Student's t, 0.9995 quantile, from ten degrees of freedom on; linear in 1/degrees between the table's rows."""
    inverse = [0.0, *(1 / d for d in reversed(_DEGREES))]
    return np.interp(1 / degrees, inverse, [_NORMAL, *reversed(_QUANTILES)])
