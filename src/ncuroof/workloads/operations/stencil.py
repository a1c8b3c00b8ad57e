"""Stencil sweep over N grid points with ``points`` neighbours each (7 in 3D), constant coefficients.

W = (2·points − 1)·N: one multiply a neighbour, one addition between them; ``flop`` overrides it (8 for the 7-point
heat equation). Q = 2·N·sizeof with perfect reuse of neighbours: each point is read once and written once; ``reads``
says how often a point comes from DRAM where the planes do not fit in cache.
Source: S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009 (stencil kernel).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "stencil"
KEYS = {"n": "grid points"}
OPTIONAL = {
    "points": "neighbours that each result uses, itself included (7)",
    "flop": "FLOP per grid point (2·points − 1)",
    "reads": "times each point comes from DRAM (1)",
}
WORK = "(2·points − 1)·N"
BYTES = "(reads + 1)·N·sizeof"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """One sweep."""
    n, kind, points = shape.size("n"), shape.dtype(), shape.size("points", 7)
    work = shape.number("flop", 2 * points - 1) * n
    ledger = (
        Flow("grid", shape.number("reads", 1) * n * kind.bytes),
        Flow("new grid", n * kind.bytes, written=True),
    )
    return Cost(work, ledger, kind.paths(ARITHMETIC))
