"""Copy c[i] = a[i].

W = 0; Q = 2·N·sizeof, without the read that a write-allocate cache would add.
Source: J. D. McCalpin, "Sustainable Memory Bandwidth in Current High Performance Computers", 1995.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "copy"
KEYS = {"n": "elements"}
OPTIONAL: dict[str, str] = {}
WORK = "0"
BYTES = "2·N·sizeof"
ARITHMETIC = "none"


def cost(shape: Shape) -> Cost:
    """0 FLOP for each element."""
    n, kind = shape.size("n"), shape.dtype()
    size = kind.bytes
    ledger = (
        Flow("a", n * size),
        Flow("c", n * size, written=True),
    )
    return Cost(0.0, ledger, ())
