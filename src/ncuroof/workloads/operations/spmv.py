"""Sparse matrix times vector, y = A·x, matrix in CSR.

W = 2·nnz; Q = nnz·(sizeof + index) + (rows + 1)·index for the matrix, cols·sizeof for x read once, rows·sizeof for y.
Source: S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009 (SpMV kernel). x read once is the best
case: without reuse in cache it costs up to nnz·sizeof, which ``x_reads`` (mean reads of each element) can say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "spmv"
KEYS = {"rows": "rows of A", "nnz": "stored elements of A"}
OPTIONAL = {
    "cols": "columns of A (rows)",
    "index_bytes": "bytes of an index (4)",
    "x_reads": "times each element of x comes from DRAM (1)",
}
WORK = "2·nnz"
BYTES = "nnz·(sizeof + index) + (rows + 1)·index + x_reads·cols·sizeof + rows·sizeof"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """One FMA for each stored element."""
    rows, nnz, kind = shape.size("rows"), shape.size("nnz"), shape.dtype()
    cols, index = shape.size("cols", rows), shape.number("index_bytes", 4)
    ledger = (
        Flow("values", nnz * kind.bytes),
        Flow("column indices", nnz * index),
        Flow("row pointers", (rows + 1) * index),
        Flow("x", shape.number("x_reads", 1) * cols * kind.bytes),
        Flow("y", rows * kind.bytes, written=True),
    )
    return Cost(2.0 * nnz, ledger, kind.paths(ARITHMETIC))
