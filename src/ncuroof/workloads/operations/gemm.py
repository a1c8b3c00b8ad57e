"""Matrix product C[M,N] = A[M,K]·B[K,N], ``batch`` of them with matrices of their own.

W = 2·M·N·K; Q counts A, B and C once: sizeof·(MK + KN + MN). Source: "The Roofline Model, Starting from Measured
Data", section 2. ``a``, ``b``, ``c`` give the element types of the three matrices where they differ; ``beta`` other
than 0 reads C as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "gemm"
KEYS = {"m": "rows of A and C", "n": "columns of B and C", "k": "columns of A, rows of B"}
OPTIONAL = {
    "batch": "number of products (1)",
    "a": "element type of A",
    "b": "element type of B",
    "c": "element type of C",
    "acc": "accumulator type, not used in the formula",
    "beta": "not 0: C is read as well",
}
WORK = "2·batch·M·N·K"
BYTES = "batch·sizeof·(MK + KN + MN)"
ARITHMETIC = "matrix"


def cost(shape: Shape) -> Cost:
    """Work and bytes; the path is that of A's element type."""
    m, n, k, batch = shape.size("m"), shape.size("n"), shape.size("k"), shape.size("batch", 1)
    a, b = shape.dtype("a"), shape.dtype("b")
    c = shape.dtype("c")
    ledger = [
        Flow("A", batch * m * k * a.bytes),
        Flow("B", batch * k * n * b.bytes),
        Flow("C", batch * m * n * c.bytes, written=True),
    ]
    if shape.number("beta", 0):
        ledger.append(Flow("C, read for beta", batch * m * n * c.bytes))
    return Cost(2.0 * batch * m * n * k, tuple(ledger), a.paths(ARITHMETIC))
