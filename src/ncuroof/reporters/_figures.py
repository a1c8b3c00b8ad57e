"""Numbers as the reporters show them: as everywhere in ncuroof, and a dash where nothing is known."""

from __future__ import annotations

import math

from ncuroof import quantity_text

UNKNOWN = "–"


def si(value: float | None, unit: str) -> str:
    """``1.54 ms``, ``788 TFLOP/s``; a dash for an unknown value."""
    return quantity_text.si(value, unit) if finite(value) else UNKNOWN


def percent(value: float | None) -> str:
    """``83 %``, one decimal below 10; a dash for an unknown value."""
    if not finite(value):
        return UNKNOWN
    return "<0.1 %" if value is not None and 0 < value < 0.05 else quantity_text.percent(value)


def number(value: float | None) -> str:
    """Three significant digits; a dash for an unknown value."""
    return quantity_text.digits(value) if value is not None and finite(value) else UNKNOWN


def quantity(value: float | None, unit: str | None) -> str:
    """A number of the evidence in its own unit."""
    if value is None or not finite(value):
        return UNKNOWN
    if unit == "%":
        return percent(value)
    return quantity_text.si(value, "" if unit in {None, "1"} else str(unit))


def finite(value: float | None) -> bool:
    """Whether there is a number to show."""
    return value is not None and math.isfinite(value)


def count(amount: int, noun: str) -> str:
    """``1 kernel``, ``12 kernels``."""
    return f"{amount} {noun}{'' if amount == 1 else 's'}"


def launches(amount: int) -> str:
    """``1 launch``, ``12 launches``."""
    return f"{amount} launch{'' if amount == 1 else 'es'}"
