"""Scaled dot-product attention: softmax(Q·Kᵀ)·V, ``heads`` query heads, keys and values shared within ``kv_heads``.

W = 4·batch·heads·q_len·kv_len·head_dim (two products, 2 FLOP an FMA; about half with ``causal``, q_len = kv_len). The
softmax is not counted: exponentials are no FLOP in the counters. Q = Q, K, V and O once; with ``scores=materialized``
the score matrix is a tensor in memory: written by the first product, read and written by the softmax, read by the
second, 4·batch·heads·q_len·kv_len·sizeof on top, the traffic that FlashAttention avoids.
Sources: "The roofline model: why LLM decode uses 2% of a GPU's peak" (the S × S intermediate); T. Dao et al.,
"FlashAttention", 2022, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "attention"
KEYS = {
    "batch": "sequences",
    "heads": "query heads",
    "q_len": "queries of each sequence",
    "kv_len": "keys of each sequence",
    "head_dim": "size of a head",
}
OPTIONAL = {
    "kv_heads": "heads of K and V (heads)",
    "causal": "true: only keys up to the query's own position",
    "scores": "fused (default) or materialized",
}
WORK = "4·batch·heads·head_dim·pairs, pairs = q_len·kv_len (with causal only those that are seen)"
BYTES = "sizeof·batch·head_dim·(2·heads·q_len + 2·kv_heads·kv_len) [+ 4·batch·heads·q_len·kv_len·sizeof]"
ARITHMETIC = "matrix"
COMPOSITE = True


def cost(shape: Shape) -> Cost:
    """Work and bytes of the two products."""
    batch, heads, queries, keys, dim = (shape.size(key) for key in KEYS)
    kv_heads, kind = shape.size("kv_heads", heads), shape.dtype()
    pairs = float(queries * keys)
    if shape.flag("causal"):
        # The last query sees all keys, each one before it one fewer.
        overlap = min(queries, keys)
        pairs -= overlap * (overlap - 1) / 2
    size = kind.bytes
    ledger = [
        Flow("Q", batch * heads * queries * dim * size),
        Flow("K", batch * kv_heads * keys * dim * size),
        Flow("V", batch * kv_heads * keys * dim * size),
        Flow("O", batch * heads * queries * dim * size, written=True),
    ]
    if shape.choice("scores", ("fused", "materialized")) == "materialized":
        matrix = batch * heads * queries * keys * size
        ledger += [
            Flow("scores, written", matrix, written=True),
            Flow("scores, read by softmax", matrix),
            Flow("probabilities, written", matrix, written=True),
            Flow("probabilities, read", matrix),
        ]
    return Cost(4.0 * batch * heads * pairs * dim, tuple(ledger), kind.paths(ARITHMETIC))
