"""Thin matrix products: N = K = 8192 fixed, M = 1, 2, 4 ... 2048 and 8192 (the M sweep).

One linear layer whose weights stay the same while the number of tokens fed in at once grows. On the slope a
few more rows cost no time; the curve turns flat at the ridge point; a time that falls as M grows is a kernel
chosen badly for the smaller M.
"""

from __future__ import annotations

import harness

ROWS = [*harness.doubling(1, 2048), 8192]
COLUMNS = 8192


def main() -> None:
    """Run the sweep."""
    options = harness.parser(__doc__ or "", dtypes="fp64,fp32,tf32,fp16,bf16,fp8")
    options.add_argument("--m", type=harness.ints, default=ROWS, help="M, comma-separated")
    options.add_argument("--n", type=int, default=COLUMNS, help="N")
    options.add_argument("--k", type=int, default=COLUMNS, help="K")
    arguments = harness.parse(options)
    harness.start(arguments)
    n, k = arguments.n, arguments.k
    rows = []
    for dtype in harness.dtypes(arguments):
        for m in arguments.m:
            call = harness.matmul(m, n, k, dtype, arguments.device)
            mark = harness.annotated("gemm", dtype=dtype, sweep=f"M sweep {dtype}", m=m, n=n, k=k)
            timing = harness.measure(call, arguments, mark)
            flop, moved = harness.gemm_flop(m, n, k), harness.gemm_bytes(m, n, k, dtype)
            rows.append(harness.point(f"M={m}", dtype, timing, flop=flop, moved=moved, m=m, n=n, k=k))
    harness.finish("gemm_msweep", rows, arguments, best="flop_per_s")


if __name__ == "__main__":
    main()
