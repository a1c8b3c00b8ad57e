"""Numbers as people read them: three significant digits with an SI prefix and the unit."""

from __future__ import annotations

import math

_PREFIXES = (
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
)
_LONG = {"byte": "B", "byte/s": "B/s", "FLOP": "FLOP", "FLOP/s": "FLOP/s", "s": "s", "Hz": "Hz"}


def si(value: float | None, unit: str) -> str:
    """``si(2.5e9, "byte/s")`` is ``2.5 GB/s``; null is ``unknown``; units without a prefix form print plainly."""
    if value is None or math.isnan(value):
        return "unknown"
    if unit not in _LONG:
        return f"{digits(value)} {unit}".strip()
    if value == 0:
        return f"0 {_LONG[unit]}"
    magnitude = abs(value)
    for scale, prefix in _PREFIXES:
        # Half a unit in the last digit shown belongs to the next prefix: 999.6 kB is 1 MB.
        if magnitude >= scale * 0.9995:
            return f"{digits(value / scale)} {prefix}{_LONG[unit]}"
    return f"{value:.3g} {_LONG[unit]}"


def digits(value: float) -> str:
    """Three significant digits, without an exponent for everyday magnitudes: 0.0123, 1.23, 12.3, 123, 1230."""
    if value == 0 or math.isinf(value) or math.isnan(value):
        return f"{value:g}"
    if abs(value) >= 1000:
        return f"{value:.0f}" if abs(value) < 1e6 else f"{value:.3g}"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{min(places, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(value: float | None) -> str:
    """``87 %``, one decimal below 10; null is ``unknown``."""
    if value is None or math.isnan(value):
        return "unknown"
    return f"{value:.1f} %" if abs(value) < 10 else f"{value:.0f} %"
