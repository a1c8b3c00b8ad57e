from __future__ import annotations

import math

import pytest

from ncuroof.reporters import _figures as fig


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(1.54e-3, "s", "1.54 ms"), (788e12, "FLOP/s", "788 TFLOP/s"), (3.085e12, "byte/s", "3.08 TB/s"), (None, "s", "–")],
)
def test_si(value, unit, shown):
    assert fig.si(value, unit) == shown


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_no_number_is_a_dash(value):
    assert fig.percent(value) == fig.number(value) == fig.quantity(value, "byte") == fig.UNKNOWN
    assert not fig.finite(value)


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0.0 %"), (0.01, "<0.1 %"), (0.05, "0.1 %"), (8.3, "8.3 %"), (83.4, "83 %")]
)
def test_percent(value, shown):
    assert fig.percent(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(64.0, "", "64"), (64.0, "1", "64"), (67.1e6, "byte", "67.1 MB"), (83.0, "%", "83 %"), (1.96, "x", "1.96 x")],
)
def test_quantity(value, unit, shown):
    assert fig.quantity(value, unit) == shown


def test_counts_agree_with_their_noun():
    assert [fig.count(n, "kernel") for n in (0, 1, 2)] == ["0 kernels", "1 kernel", "2 kernels"]
    assert [fig.launches(n) for n in (1, 2)] == ["1 launch", "2 launches"]
