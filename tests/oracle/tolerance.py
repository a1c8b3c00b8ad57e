"""How far a value may be off: half a unit of the last printed digit, carried through the formulas of the quantities."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ncuroof.metrics.catalogue import quantities
from ncuroof.readers._units import unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tests.oracle.exports import Cell

    from ncuroof.metrics.catalogue import Candidate, Term
    from ncuroof.metrics.engine import Context

    Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Of a value: what adding and dividing doubles in another order may do."""
_GROUP = 3
_EXPONENT = re.compile(r"[eE]([-+]?\d+)$")


def decimals(text: str) -> int:
    """Digits behind the decimal sign. ncu prints two or six, so three behind the last separator are a group."""
    tail = re.search(r"[.,](\d+)$", _EXPONENT.sub("", text))
    return 0 if tail is None or len(tail[1]) == _GROUP else len(tail[1])


def of_cell(metric: str, cell: Cell, text: str | None = None) -> float:
    """Half a unit of the last digit of a printed value, in the base unit of its metric."""
    text = (cell.text if text is None else text).partition(" (")[0].strip()
    exponent = _EXPONENT.search(text)
    return 0.5001 * 10.0 ** ((int(exponent[1]) if exponent else 0) - decimals(text)) * unit_of(metric, cell.unit)[1]


def of_quantities(of: Context, printed: dict[str, Floats]) -> dict[str, Floats]:
    """For every quantity and launch, how far it may be off when its metrics are off by ``printed``."""
    known: dict[str, Floats] = {}
    for quantity in quantities():
        if quantity.is_text:
            continue
        result = np.zeros(of.size)
        for position, candidate in enumerate(quantity.candidates):
            rows = of.chosen[quantity.name] == position
            if rows.any():
                result[rows] = _of_candidate(candidate, of, printed, known, of.values[quantity.name])[rows]
        known[quantity.name] = result
    return known


def _of_candidate(
    candidate: Candidate, of: Context, printed: dict[str, Floats], known: dict[str, Floats], value: Floats
) -> Floats:
    def off(term: Term) -> Floats:
        nothing = np.zeros(of.size)
        return known.get(term.name, nothing) if term.quantity else printed.get(term.name, nothing)

    def share(term: Term) -> Floats:
        values = None if term.quantity and term.name not in known else of.operand(term)
        if values is None:
            return np.zeros(of.size)
        return np.nan_to_num(off(term) / np.abs(values), nan=0.0, posinf=np.inf)

    factors = [*candidate.times, *candidate.divide]
    with np.errstate(all="ignore"):
        if candidate.function is not None:
            return _part(value, sum((share(t) for t in candidate.needs), np.zeros(of.size)))
        total, loose = np.zeros(of.size), np.zeros(of.size)
        scale = np.full(of.size, abs(candidate.factor))
        for term in candidate.add:
            values = of.operand(term)
            if values is not None:
                total += np.nan_to_num(values) * term.weight
                loose += np.where(np.isfinite(values), off(term), 0.0) * abs(term.weight)
        for term in factors:
            values = of.operand(term)
            if values is not None:
                scale = scale * np.abs(values) if term in candidate.times else scale / np.abs(values)
        return np.nan_to_num(loose * scale) + _part(value, sum((share(t) for t in factors), np.zeros(of.size)))


def _part(value: Floats, share: Floats) -> Floats:
    return np.where(value == 0, 0.0, np.abs(value) * share)
