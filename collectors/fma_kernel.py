"""The Triton kernel of the FMA sweep; a file of its own because importing it needs Triton."""

import triton
import triton.language as tl


@triton.jit
def chain(x, y, n, a, b, steps, BLOCK: tl.constexpr):  # noqa: ANN001, ANN201, N803, D103, PLR0917  Triton's own conventions
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < n
    value = tl.load(x + offset, mask=inside)
    factor = a.to(value.dtype)
    summand = b.to(value.dtype)
    for _ in range(steps):
        value = value * factor + summand
    tl.store(y + offset, value, mask=inside)
