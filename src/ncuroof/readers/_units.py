"""Unit spellings of ncu's text outputs, and the base unit and factor each stands for.

ncu scales values by powers of 1000 unless ``--print-units base`` is given (a configuration of 32768 byte is printed as
``32.77 Kbyte``), and spells units differently between versions: ``nsecond`` and ``ns``, ``cycle/nsecond`` and ``Ghz``.
"""

from __future__ import annotations

import re
from functools import cache

_TIMES = ("s", "sec", "second", "seconds")
# In nanoseconds, so that every factor is exact.
_TIME_PREFIXES = {"": 1e9, "m": 1e6, "u": 1e3, "\u00b5": 1e3, "\u03bc": 1e3, "n": 1.0, "p": 1e-3}
_LONG_TIMES = {"min": 60e9, "minute": 60e9, "h": 3600e9, "hour": 3600e9}
_LARGE = {
    "": 1.0,
    "K": 1e3,
    "k": 1e3,
    "M": 1e6,
    "m": 1e6,
    "G": 1e9,
    "g": 1e9,
    "T": 1e12,
    "t": 1e12,
    "P": 1e15,
    "E": 1e18,
}
_BINARY = {"Ki": 1024.0, "Mi": 1024.0**2, "Gi": 1024.0**3, "Ti": 1024.0**4}
# Singular and plural of what ncu counts; the singular is the base unit.
_THINGS = (
    "byte",
    "block",
    "branch",
    "cluster",
    "cycle",
    "flop",
    "inst",
    "instruction",
    "issue",
    "link",
    "op",
    "operation",
    "packet",
    "pass",
    "query",
    "register",
    "request",
    "sample",
    "sector",
    "tag",
    "texel",
    "thread",
    "transaction",
    "warp",
    "wavefront",
)
_PLURALS = {"branch": "branches", "pass": "passes", "query": "queries"}
_WORDS = (
    {t: t for t in _THINGS}
    | {_PLURALS.get(t, t + "s"): t for t in _THINGS}
    | {"instruction": "inst", "instructions": "inst", "bytes": "byte"}
)
_PREFIXED = re.compile(r"^([KkMGTPE]?)([A-Za-z]+)$")


@cache
def base_unit(unit: str | None) -> tuple[str | None, float]:
    """The base unit of a spelling, and what to multiply a value with.

    Base units are ``ns``, ``byte``, ``hz``, ``%``, ``inst``, ``cycle`` ... and their quotients; rates are per second.
    A unit that is not known is kept as it is with factor 1.

    Returns:
        Base unit (None for no unit) and factor. ``Kbyte/block`` gives ``("byte/block", 1000.0)``.
    """
    text = (unit or "").strip()
    if not text or text == "(!)":
        return None, 1.0
    if "/" in text:
        above, _, below = text.partition("/")
        return _quotient(text, above.strip(), below.strip())
    return _simple(text) or (text, 1.0)


def _quotient(text: str, above: str, below: str) -> tuple[str, float]:
    top, bottom = _simple(above), _simple(below)
    if bottom is None and top is None:
        return text, 1.0
    top_base, top_factor = top or (above, 1.0)
    bottom_base, bottom_factor = bottom or (below, 1.0)
    if bottom_base == "ns":
        per_second = top_factor * 1e9 / bottom_factor
        return ("hz", per_second) if top_base == "cycle" else (f"{top_base}/s", per_second)
    return f"{top_base}/{bottom_base}", top_factor / bottom_factor


def _simple(text: str) -> tuple[str, float] | None:
    """Base unit and factor of a unit without a quotient; None if it is not known."""
    if text in ("%", "pct", "percent"):
        return "%", 1.0
    return _time(text) or _frequency(text) or _bytes(text) or _thing(text)


def _time(text: str) -> tuple[str, float] | None:
    if text in _LONG_TIMES:
        return "ns", _LONG_TIMES[text]
    for prefix, factor in _TIME_PREFIXES.items():
        if text.startswith(prefix) and text[len(prefix) :] in _TIMES:
            return "ns", factor
    return None


def _frequency(text: str) -> tuple[str, float] | None:
    return ("hz", _LARGE[text[:-2]]) if text.lower().endswith("hz") and text[:-2] in _LARGE else None


def _bytes(text: str) -> tuple[str, float] | None:
    """Spellings of byte counts that are not ncu's."""
    for prefix, factor in _BINARY.items():
        if text in (prefix + "B", prefix + "byte", prefix + "bytes"):
            return "byte", factor
    return ("byte", _LARGE[text[:-1]]) if text in ("B", "KB", "kB", "MB", "GB", "TB") else None


def _thing(text: str) -> tuple[str, float] | None:
    """What ncu counts, with or without a prefix."""
    if text in _WORDS:
        return _WORDS[text], 1.0
    match = _PREFIXED.match(text)
    return (_WORDS[match[2]], _LARGE[match[1]]) if match and match[1] and match[2] in _WORDS else None


def unit_of(metric: str, printed: str | None) -> tuple[str | None, float]:
    """As :func:`base_unit`, for a metric: the clock rates among the device attributes count in kHz, in reports too."""
    base, factor = base_unit(printed)
    if base == "hz" and metric.startswith("device__attribute_"):
        return "khz", factor / 1e3
    return base, factor


WHOLE = frozenset({"byte", "inst", "sector", "request", "thread", "block", "warp", "wavefront"})
"""Units that count whole things."""


def counts_whole(metric: str, unit: str | None) -> bool:
    """Whether a value of this metric in this printed unit can only be whole: an unscaled sum of whole things."""
    base, factor = base_unit(unit)
    if factor != 1.0:
        return False
    if metric.startswith("launch__") and metric.endswith(("_size", "_count")):
        return base is None or base in WHOLE
    rolled = metric.endswith(".sum") or "." not in metric
    return (
        rolled
        and "__" in metric
        and "avg" not in metric
        and (base in WHOLE or (unit or "").strip() in ("ns", "nsecond"))
    )
