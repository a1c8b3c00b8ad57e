"""Draws the roof with one kernel: each element goes through R fused multiply-adds in registers, R = 1 ... 2048.

The arrays read and written take 512 MiB together; an element does 2R FLOP and is read and written once, so
I = R / sizeof FLOP/byte. The height of the flat part is the roof of the ordinary arithmetic units. On a GPU with Triton
the chain runs in registers. Without Triton, or on the CPU, each step is a call of its own (``y = y·a + b``): its
intensity is that of R = 1 whatever R is, the table says so, and it draws no roof.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import torch

import harness

if TYPE_CHECKING:
    from collections.abc import Callable

A, B = 0.999, 0.001
"""y = y·a + b converges to 1 and neither overflows nor becomes subnormal, which some units handle more slowly."""
BLOCK = 1024


def triton_chain(x: torch.Tensor, y: torch.Tensor, steps: int) -> Callable[[], object]:
    """Return a call that runs the chain in registers, one launch."""
    from fma_kernel import chain  # noqa: PLC0415  needs Triton

    grid = ((x.numel() + BLOCK - 1) // BLOCK,)
    return lambda: chain[grid](x, y, x.numel(), A, B, steps, BLOCK=BLOCK)


def torch_chain(x: torch.Tensor, y: torch.Tensor, steps: int) -> Callable[[], object]:
    """Return a call that makes a pass over memory for each step."""
    a = torch.tensor(A, dtype=x.dtype, device=x.device)
    b = torch.full_like(x, B)

    def call() -> None:
        torch.addcmul(b, x, a, out=y)
        for _ in range(steps - 1):
            torch.addcmul(b, y, a, out=y)

    return call


def main() -> None:
    """Run the sweep."""
    options = harness.parser(__doc__ or "", dtypes="fp64,fp32,fp16,bf16")
    options.add_argument("--bytes", type=int, default=512 * harness.MIB, help="bytes of both arrays together")
    options.add_argument("--r", type=harness.ints, default=harness.doubling(1, 2048), help="R, comma-separated")
    options.add_argument("--torch", action="store_true", help="use the torch fallback even where Triton is installed")
    arguments = harness.parse(options)
    harness.start(arguments)
    fused = arguments.device == "cuda" and not arguments.torch and importlib.util.find_spec("triton") is not None
    rows = []
    for dtype in harness.dtypes(arguments):
        if dtype in ("tf32", "fp8"):
            options.error(f"{dtype} is a tensor-core type; this sweep measures the ordinary arithmetic units")
        elements = max(1, arguments.bytes // (2 * harness.SIZEOF[dtype]))
        x = harness.random((elements,), dtype, arguments.device)
        y = torch.empty_like(x)
        for r in arguments.r:
            call = (triton_chain if fused else torch_chain)(x, y, r)
            # Without fusion a step reads y and b and writes y: three arrays, R times.
            arrays = 2 if fused else 3 * r
            shape = {"n": elements, "r": r} if fused else {"n": elements, "reads": 2}
            mark = harness.annotated("elementwise", dtype=dtype, sweep=f"FMA sweep {dtype}", label=f"R={r}", **shape)
            timing = harness.measure(call, arguments, mark)
            moved = arrays * elements * harness.SIZEOF[dtype]
            kernel = "triton" if fused else "torch, a pass for each step"
            rows.append(harness.point(f"R={r}", dtype, timing, flop=2 * r * elements, moved=moved, r=r, kernel=kernel))
    harness.finish("fma_sweep", rows, arguments, best="flop_per_s")


if __name__ == "__main__":
    main()
