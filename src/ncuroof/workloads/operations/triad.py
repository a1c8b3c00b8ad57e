"""Triad a[i] = b[i] + q·c[i], and equally y[i] = a·x[i] + y[i].

W = 2·N; Q = 3·N·sizeof, without the read that a write-allocate cache would add.
Source: J. D. McCalpin, "Sustainable Memory Bandwidth in Current High Performance Computers", 1995.
In single precision 2 / 12 = 0.167 FLOP/byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "triad"
KEYS = {"n": "elements"}
OPTIONAL: dict[str, str] = {}
WORK = "2·N"
BYTES = "3·N·sizeof"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """2 FLOP for each element."""
    n, kind = shape.size("n"), shape.dtype()
    size = kind.bytes
    ledger = (
        Flow("b", n * size),
        Flow("c", n * size),
        Flow("a", n * size, written=True),
    )
    return Cost(2.0 * n, ledger, kind.paths(ARITHMETIC))
