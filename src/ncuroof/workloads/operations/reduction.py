"""Sum (or maximum, minimum) of N elements to ``outputs`` results.

W = N − outputs additions; Q = N·sizeof read, outputs·sizeof written. Source: the read-and-sum kernel of "The Roofline
Model, Starting from Measured Data", section 4, which gives the highest bandwidth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "reduction"
KEYS = {"n": "elements read"}
OPTIONAL = {"outputs": "results written (1)"}
WORK = "N − outputs"
BYTES = "(N + outputs)·sizeof"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """One addition for each element but the first of each result."""
    n, kind, outputs = shape.size("n"), shape.dtype(), shape.size("outputs", 1)
    ledger = (Flow("input", n * kind.bytes), Flow("results", outputs * kind.bytes, written=True))
    return Cost(float(max(n - outputs, 0)), ledger, kind.paths(ARITHMETIC))
