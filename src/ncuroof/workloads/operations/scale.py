"""Scale b[i] = q·a[i].

W = N; Q = 2·N·sizeof, without the read that a write-allocate cache would add.
Source: J. D. McCalpin, "Sustainable Memory Bandwidth in Current High Performance Computers", 1995.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "scale"
KEYS = {"n": "elements"}
OPTIONAL: dict[str, str] = {}
WORK = "N"
BYTES = "2·N·sizeof"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """1 FLOP for each element."""
    n, kind = shape.size("n"), shape.dtype()
    size = kind.bytes
    ledger = (
        Flow("a", n * size),
        Flow("b", n * size, written=True),
    )
    return Cost(1.0 * n, ledger, kind.paths(ARITHMETIC))
