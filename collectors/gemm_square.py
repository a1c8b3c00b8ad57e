"""Square matrix products n = 256 ... 8192 on every compute path.

The compute roof of a path is the highest throughput over all shapes. The smallest sizes show launch overhead:
eight times the work in the same time.
"""

from __future__ import annotations

import harness

FIRST, LAST = 256, 8192


def main() -> None:
    """Run the products."""
    options = harness.parser(__doc__ or "", dtypes="fp64,fp32,tf32,fp16,bf16,fp8")
    options.add_argument("--sizes", type=harness.ints, default=harness.doubling(FIRST, LAST), help="n, comma-separated")
    arguments = harness.parse(options)
    harness.start(arguments)
    rows = []
    for dtype in harness.dtypes(arguments):
        for n in arguments.sizes:
            call = harness.matmul(n, n, n, dtype, arguments.device)
            mark = harness.annotated("gemm", dtype=dtype, sweep=f"square {dtype}", m=n, n=n, k=n)
            timing = harness.measure(call, arguments, mark)
            flop, moved = harness.gemm_flop(n, n, n), harness.gemm_bytes(n, n, n, dtype)
            rows.append(harness.point(f"n={n}", dtype, timing, flop=flop, moved=moved, m=n, n=n, k=n))
    harness.finish("gemm_square", rows, arguments, best="flop_per_s")


if __name__ == "__main__":
    main()
