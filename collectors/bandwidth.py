"""Memory bandwidth: kernels that only move data, 512 MiB, and a copy over working sets from 4 KiB to 1 GiB.

The bandwidth roof of a GPU is the highest value of all movers: kernels written differently reach different
values. With ``--sweep`` the copy kernel runs on working sets that fit into L2 and on ones that do not: below a
few MiB the time is launch overhead, up to the size of L2 the bandwidth is L2's, beyond it memory's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

import harness

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

MOVERS = {"read": (1, 0, 1), "copy": (1, 1, 0), "scale": (1, 1, 1), "add": (2, 1, 1), "triad": (2, 1, 2)}
"""Mover: arrays read, arrays written, FLOP per element. ``read`` sums its array: one addition per element."""
SWEEP_FIRST, SWEEP_LAST = 4 << 10, 1 << 30


def mover(name: str, elements: int, dtype: str, device: str) -> Callable[[], object]:
    """Return a call that runs one mover over arrays of ``elements``."""
    x = harness.random((elements,), dtype, device)
    if name == "read":
        return lambda: torch.sum(x)
    z = torch.empty_like(x)
    if name == "copy":
        return lambda: z.copy_(x)
    if name == "scale":
        return lambda: torch.mul(x, 3.0, out=z)
    y = harness.random((elements,), dtype, device)
    if name == "add":
        return lambda: torch.add(x, y, out=z)
    return lambda: torch.add(x, y, alpha=3.0, out=z)


def run(
    name: str, working_set: int, dtype: str, arguments: argparse.Namespace, sweep: str | None = None
) -> harness.Row:
    """Measure one mover whose arrays together take ``working_set`` bytes (rounded down to whole elements)."""
    reads, writes, flop = MOVERS[name]
    elements = max(1, working_set // ((reads + writes) * harness.SIZEOF[dtype]))
    moved = elements * (reads + writes) * harness.SIZEOF[dtype]
    call = mover(name, elements, dtype, arguments.device)
    operation = "reduction" if name == "read" else name
    mark = harness.annotated(operation, dtype=dtype, sweep=sweep, label=name, n=elements)
    timing = harness.measure(call, arguments, mark)
    return harness.point(name, dtype, timing, flop=elements * flop, moved=moved, working_set=moved)


def main() -> None:
    """Run the movers, or the sweep."""
    options = harness.parser(__doc__ or "", dtypes="fp64,fp32,fp16,bf16,fp8")
    options.add_argument("--bytes", type=int, default=512 * harness.MIB, help="bytes moved by each mover")
    options.add_argument("--movers", default=",".join(MOVERS), help="movers, comma-separated")
    options.add_argument("--sweep", action="store_true", help="copy over working sets instead")
    options.add_argument("--sweep-last", type=int, default=SWEEP_LAST, help="largest working set of the sweep, bytes")
    arguments = harness.parse(options)
    names = arguments.movers.split(",")
    unknown = [name for name in names if name not in MOVERS]
    if unknown:
        options.error(f"no mover {unknown[0]!r}; known are {', '.join(MOVERS)}")
    harness.start(arguments)
    rows = []
    for dtype in harness.dtypes(arguments):
        if arguments.sweep:
            sizes = harness.doubling(SWEEP_FIRST, arguments.sweep_last)
            rows += [run("copy", size, dtype, arguments, sweep="working-set") for size in sizes]
        else:
            # Elementwise arithmetic is not defined on FP8; a byte moves like any other byte.
            able = [name for name in names if name == "copy" or dtype != "fp8"]
            rows += [run(name, arguments.bytes, dtype, arguments) for name in able]
    harness.finish("bandwidth", rows, arguments, best="bytes_per_s")


if __name__ == "__main__":
    main()
