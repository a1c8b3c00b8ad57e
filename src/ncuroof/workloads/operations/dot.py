"""Dot product of two vectors of N elements.

W = 2·N (one multiply and one add each); Q = 2·N·sizeof. The result is one element.
Source: the byte ledgers of "Percent of Peak Is Not a Diagnosis".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "dot"
KEYS = {"n": "elements of each vector"}
OPTIONAL: dict[str, str] = {}
WORK = "2·N"
BYTES = "2·N·sizeof"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """One FMA for each pair."""
    n, kind = shape.size("n"), shape.dtype()
    ledger = (
        Flow("x", n * kind.bytes),
        Flow("y", n * kind.bytes),
        Flow("result", kind.bytes, written=True),
    )
    return Cost(2.0 * n, ledger, kind.paths(ARITHMETIC))
