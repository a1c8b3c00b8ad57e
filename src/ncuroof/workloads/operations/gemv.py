"""Matrix times vector, y[M] = A[M,K]·x[K].

W = 2·M·K; Q = sizeof·(MK + K + M). A product with one row has its own kernels, which run on the ordinary arithmetic
units; the traffic sets its time, so the path hardly matters. Source: GEMM formula with N = 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "gemv"
KEYS = {"m": "rows of A", "k": "columns of A"}
OPTIONAL = {"n": "another name of k"}
WORK = "2·M·K"
BYTES = "sizeof·(MK + K + M)"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """One FMA for each element of A."""
    m, kind = shape.size("m"), shape.dtype()
    k = shape.size("n" if shape.values.get("k") is None and shape.values.get("n") is not None else "k")
    ledger = (
        Flow("A", m * k * kind.bytes),
        Flow("x", k * kind.bytes),
        Flow("y", m * kind.bytes, written=True),
    )
    return Cost(2.0 * m * k, ledger, kind.paths(ARITHMETIC))
