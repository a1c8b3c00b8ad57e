"""``batch`` matrix products of one shape in one launch; B is shared by all of them with ``shared_b``.

W = 2·batch·M·N·K; Q = sizeof·batch·(MK + KN + MN), with shared_b sizeof·(batch·MK + KN + batch·MN).
Source: GEMM formula of "The Roofline Model, Starting from Measured Data", section 2, for each product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "batched_gemm"
KEYS = {
    "batch": "number of products",
    "m": "rows of A and C",
    "n": "columns of B and C",
    "k": "columns of A, rows of B",
}
OPTIONAL = {
    "shared_b": "true: one B for all products",
    "a": "element type of A",
    "b": "element type of B",
    "c": "element type of C",
}
WORK = "2·batch·M·N·K"
BYTES = "sizeof·batch·(MK + KN + MN)"
ARITHMETIC = "matrix"


def cost(shape: Shape) -> Cost:
    """Work and bytes of all products."""
    batch, m, n, k = (shape.size(key) for key in ("batch", "m", "n", "k"))
    a, b, c = shape.dtype("a"), shape.dtype("b"), shape.dtype("c")
    copies = 1 if shape.flag("shared_b") else batch
    ledger = (
        Flow("A", batch * m * k * a.bytes),
        Flow("B", copies * k * n * b.bytes),
        Flow("C", batch * m * n * c.bytes, written=True),
    )
    return Cost(2.0 * batch * m * n * k, ledger, a.paths(ARITHMETIC))
