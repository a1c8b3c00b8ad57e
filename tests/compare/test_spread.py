"""When a change of the time is one: values worked out by hand, false alarms counted over random launches."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from ncuroof.compare import spread


def side(durations):
    logs = [math.log(d) for d in durations]
    middle = float(np.median(logs))
    return {
        "durations": durations,
        "timed": len(durations),
        "median_s": float(np.median(durations)),
        "spread": 1.4826 * float(np.median([abs(x - middle) for x in logs])) if len(logs) > 1 else None,
    }


def pairs(*both):
    rows = [
        {f"base_{k}": v for k, v in side(b).items()} | {f"head_{k}": v for k, v in side(h).items()} for b, h in both
    ]
    schema = {f"{s}_{n}": t for s in ("base", "head") for n, t in TYPES.items()}
    return pl.DataFrame(rows, schema=schema)


TYPES = {"durations": pl.List(pl.Float64), "timed": pl.Int64, "median_s": pl.Float64, "spread": pl.Float64}


def judged(base, head):
    return spread.judge(pairs((base, head))).row(0, named=True)


@pytest.mark.parametrize(
    ("duration", "percent"),
    [
        # sigma = sqrt(0.015^2 + (0.15 us / T)^2); exp(4.587 * sqrt(2) * sigma) - 1 with
        (1e-3, 10.22),  # sigma = 0.0150
        (1e-5, 14.75),  # sigma = sqrt(2) * 0.015 = 0.02121
        (5e-6, 24.3),  # sigma = sqrt(5) * 0.015 = 0.03354
    ],
)
def test_one_launch_each_needs_the_documented_change(duration, percent):
    row = judged([duration], [duration * 1.01])
    assert 100 * math.expm1(row["resolution"]) == pytest.approx(percent, rel=0.003)
    assert row["change"] == pytest.approx(math.log(1.01))


def test_quiet_launches_resolve_two_percent_and_no_less():
    # 40 launches a side that agree: variance 10 * 0.015^2 / (10 + 78), error 0.00505 * sqrt(2 * (pi / 2) / 40) =
    # 0.0014, times 3.44 is below ln 1.02.
    row = judged([1e-3] * 40, [1.015e-3] * 40)
    assert row["resolution"] == pytest.approx(math.log(1.02))
    assert row["change"] < row["resolution"]
    assert judged([1e-3] * 40, [1.025e-3] * 40)["change"] > row["resolution"]


def test_noisy_launches_keep_their_own_spread():
    # Medians 1 ms; ln deviations 0, 0.1, 0.2 on both sides: MAD of (-0.2, -0.1, 0, 0.1, 0.2) is 0.1, spread 0.14826.
    noisy = [1e-3 * math.exp(x) for x in (-0.2, -0.1, 0.0, 0.1, 0.2)]
    row = judged(noisy, [d * 1.1 for d in reversed(noisy)])
    # Pooled over 8 degrees of freedom it exceeds the prior. Standard error 0.14826 * sqrt(2 * (pi / 2) / 5) = 0.11752;
    # t with 18 degrees of freedom 3.92.
    assert row["resolution"] == pytest.approx(0.11752 * 3.92, rel=0.01)
    assert row["change"] == pytest.approx(math.log(1.1))


def test_one_outlier_decides_nothing():
    base = [1e-3] * 9
    row = judged(base, [1e-3] * 8 + [1e-2])
    assert row["change"] == pytest.approx(0.0)
    assert row["resolution"] < math.log(1.05)


def test_launches_on_different_data_are_compared_in_pairs():
    base = [1e-3 * 2**i for i in range(6)]
    row = judged(base, [1.05 * d for d in base])
    assert row["paired"]
    assert row["change"] == pytest.approx(math.log(1.05))
    # The differences do not spread: variance 10 * 0.015^2 / 15 = 1.5e-4; error sqrt(1.5e-4 * 2 * (pi / 2) / 6) =
    # 0.008862; t with 15 degrees of freedom 4.073.
    assert row["resolution"] == pytest.approx(0.03610, rel=0.01)
    other_order = judged(base, [1.05 * d for d in reversed(base)])
    assert not other_order["paired"]
    assert other_order["change"] < other_order["resolution"]


def test_no_duration_gives_no_verdict():
    frame = pairs(([1e-3], [1e-3])).with_columns(
        head_durations=pl.lit([], dtype=pl.List(pl.Float64)),
        head_timed=pl.lit(0, dtype=pl.Int64),
        head_median_s=pl.lit(None, dtype=pl.Float64),
    )
    row = spread.judge(frame).row(0, named=True)
    assert row["change"] is None
    assert row["resolution"] is None


def test_quantiles_of_students_t():
    # 0.9995 quantiles: 4.437 (11), 3.659 (29), 3.496 (50), 3.291 (normal).
    got = spread.t_quantile(np.array([10.0, 11.0, 29.0, 50.0, 1e9]))
    assert got == pytest.approx([4.587, 4.437, 3.659, 3.496, 3.291], abs=0.006)


@pytest.mark.parametrize(("base", "head"), [(1, 1), (1, 5), (3, 3), (5, 5), (4, 9), (20, 20)])
def test_unchanged_kernels_seldom_look_changed(base, head):
    random = np.random.default_rng(7)
    sets = [
        (
            list(1e-3 * np.exp(0.015 * random.standard_normal(base))),
            list(1e-3 * np.exp(0.015 * random.standard_normal(head))),
        )
        for _ in range(2000)
    ]
    frame = spread.judge(pairs(*sets))
    # One in a thousand is meant; 8 of 2,000 would be exceeded by chance once in 4,000 such tests.
    assert (frame["change"].abs() > frame["resolution"]).sum() <= 8


def test_a_tenth_is_found_with_five_launches_a_side():
    random = np.random.default_rng(8)
    sets = [
        (
            list(1e-3 * np.exp(0.015 * random.standard_normal(5))),
            list(1.1e-3 * np.exp(0.015 * random.standard_normal(5))),
        )
        for _ in range(500)
    ]
    frame = spread.judge(pairs(*sets))
    assert (frame["change"] > frame["resolution"]).mean() > 0.95
