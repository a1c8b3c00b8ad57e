"""Which operations are matrix products: their roof is that of tensor cores and of the best measured product."""

from __future__ import annotations

MATRIX_OPS = frozenset({"gemm", "batched_gemm", "grouped_gemm", "attention", "linear", "conv"})
"""Names of operations, as annotations give them."""

PRODUCTS = MATRIX_OPS | {"gemv", "prefill", "decode"}
"""Operations made of matrix products: their compute roof is the highest product measured, not the FMA sweep."""
