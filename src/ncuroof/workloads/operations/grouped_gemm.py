"""Matrix products of different row counts in one launch, each with a B of its own (mixture of experts).

W = 2·ΣM·N·K; Q = sizeof·(ΣM·K + groups·KN + ΣM·N). ``m`` is the sum over the groups (tokens × experts per token), or a
list of the rows of each group; groups without rows do not read their B. Source: GEMM formula, summed over the groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow, ShapeError

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "grouped_gemm"
KEYS = {"m": "rows of all groups together, or a list of the rows of each", "n": "columns of B", "k": "rows of B"}
OPTIONAL = {"groups": "groups that have rows; not needed with a list"}
WORK = "2·ΣM·N·K"
BYTES = "sizeof·(ΣM·K + groups·KN + ΣM·N)"
ARITHMETIC = "matrix"


def cost(shape: Shape) -> Cost:
    """Work and bytes of all groups."""
    n, k, kind = shape.size("n"), shape.size("k"), shape.dtype()
    rows, groups = _rows(shape)
    ledger = (
        Flow("A", rows * k * kind.bytes),
        Flow("B", groups * k * n * kind.bytes),
        Flow("C", rows * n * kind.bytes, written=True),
    )
    return Cost(2.0 * rows * n * k, ledger, kind.paths(ARITHMETIC))


def _rows(shape: Shape) -> tuple[int, int]:
    """Rows of all groups together, and groups that have any."""
    stated = shape.values.get("m")
    if not isinstance(stated, list):
        return shape.size("m"), shape.size("groups")
    sizes = [size for size in stated if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**63]
    if len(sizes) != len(stated) or not sum(sizes):
        msg = "m of grouped_gemm is a list that holds something else than whole numbers from 0, or only zeros"
        raise ShapeError(msg)
    return sum(sizes), sum(size > 0 for size in sizes)
