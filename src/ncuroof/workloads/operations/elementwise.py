"""Element-wise operation on N elements, such as y = x·a + b: one FMA, 2 FLOP.

W = flop·N; Q = (reads + writes)·N·sizeof, so that y = x·a + b has I = 1/sizeof.
Source: "The Roofline Model, Starting from Measured Data", section 2. ``r`` repeats the FMA in registers (its FMA sweep,
section 4): W = 2·R·N at the same Q, so I = R/sizeof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "elementwise"
KEYS = {"n": "elements"}
OPTIONAL = {
    "flop": "FLOP per element (2: one FMA)",
    "reads": "arrays read (1)",
    "writes": "arrays written (1)",
    "r": "repetitions of the FLOP in registers (1)",
}
WORK = "flop·R·N"
BYTES = "(reads + writes)·N·sizeof"
ARITHMETIC = "vector"


def cost(shape: Shape) -> Cost:
    """Work and bytes of reading ``reads`` arrays and writing ``writes``."""
    n, kind = shape.size("n"), shape.dtype()
    reads, writes = shape.number("reads", 1), shape.number("writes", 1)
    work = shape.number("flop", 2) * shape.number("r", 1) * n
    ledger = (
        Flow("inputs", reads * n * kind.bytes),
        Flow("outputs", writes * n * kind.bytes, written=True),
    )
    return Cost(work, ledger, kind.paths(ARITHMETIC) if work else ())
