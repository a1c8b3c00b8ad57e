"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from ncuroof.quantity_text import digits, percent, si


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.5e9, "byte/s", "2.5 GB/s"),
        (3.085e12, "byte/s", "3.08 TB/s"),
        (4.4554e-6, "s", "4.46 µs"),
        (1.0, "s", "1 s"),
        (999.6e3, "byte", "1 MB"),
        (0.0, "byte", "0 B"),
        (1234.0, "FLOP", "1.23 kFLOP"),
        (62.02, "FLOP/byte", "62 FLOP/byte"),
        (None, "s", "unknown"),
        (math.nan, "s", "unknown"),
        (2e-12, "s", "2e-12 s"),
    ],
)
def test_si(value, unit, text):
    assert si(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01234, "0.0123"),
        (1.0, "1"),
        (12.34, "12.3"),
        (123.4, "123"),
        (12345.6, "12346"),
        (0.0, "0"),
        (1.2e7, "1.2e+07"),
    ],
)
def test_digits(value, text):
    assert digits(value) == text


@pytest.mark.parametrize(("value", "text"), [(87.4, "87 %"), (2.94, "2.9 %"), (None, "unknown"), (104.6, "105 %")])
def test_percent(value, text):
    assert percent(value) == text
