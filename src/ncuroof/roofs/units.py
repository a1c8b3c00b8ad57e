"""Units of roofs, written and read without guessing: a rate needs its "/s", and a bit is no byte."""

from __future__ import annotations

from ncuroof.paths import BY_NAME

_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

FLOP_RATES = {f"{prefix}FLOP/s": factor for prefix, factor in _DECIMAL.items()}
"""Units of a floating-point roof, to FLOP/s."""

OP_RATES = {f"{prefix}{name}/s": factor for prefix, factor in _DECIMAL.items() for name in ("op", "OP")}
"""Units of an integer roof, to operations per second."""

BYTE_RATES = {f"{prefix}B/s": factor for prefix, factor in (_DECIMAL | _BINARY).items()} | {"byte/s": 1.0}
"""Units of a bandwidth roof, to byte/s."""


def of_path(path: str) -> dict[str, float]:
    """Units that the roof of a path may have, to FLOP/s or operations per second."""
    return OP_RATES if BY_NAME[path].integer else FLOP_RATES


def tera(path: str) -> str:
    """The unit in which the roof of a path is listed: TFLOP/s, or TOP/s on an integer path."""
    return f"T{BY_NAME[path].unit.upper()}/s"


def why_not(unit: str, allowed: dict[str, float]) -> str:
    """What is wrong with a unit that is not among ``allowed``, with the unit that was probably meant."""
    examples = ", ".join(u for u in allowed if u[:1] in "GT")
    if unit in FLOP_RATES or unit in OP_RATES or unit in BYTE_RATES:
        return f"{unit!r} is a unit of another kind of roof; expected {examples}"
    if unit.endswith(("b/s", "bit/s", "bps")) and "B/s" in allowed:
        return f"{unit!r} counts bits; bandwidth roofs are in bytes ({examples})"
    if unit.upper().endswith(("FLOPS", "OPS")):
        return f"{unit!r} may be a rate or a count; write {examples}"
    if unit.upper().endswith(("FLOP", "OP")) or unit in ("B", "GB", "TB", "MB"):
        return f"{unit!r} is an amount, not a rate; write {examples}"
    return f"{unit!r} is no unit of such a roof; expected {examples}"


def show(value: float, kind: str) -> str:
    """A rate for people, with a decimal prefix: ``show(7.876e14, "FLOP/s")`` is ``788 TFLOP/s``."""
    for prefix in ("P", "T", "G", "M", "k"):
        factor = _DECIMAL[prefix]
        # 1,784 TFLOP/s reads better than 1.78 PFLOP/s: the prefix changes at ten thousand.
        if value >= factor * (10 if prefix == "P" else 1):
            return f"{digits(value / factor)} {prefix}{kind}"
    return f"{digits(value)} {kind}"


def digits(value: float) -> str:
    """A number with three significant digits, never fewer than its whole part."""
    if value == 0:
        return "0"
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return f"{value:.2e}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    places = 2 if abs(value) >= 1 else 3
    if abs(value) >= 10:
        places = 1
    if abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:.{places}f}"
