"""One decode step of a transformer: one new token for each of ``batch`` sequences with ``prompt`` tokens before it.

Q = every weight once (the embedding table is left out: a step reads one row a sequence) + the KV cache,
2·layers·kv_heads·head_dim·sizeof for each earlier token, + the new token's. W = 2 FLOP for each weight and sequence,
and 4·layers·heads·head_dim for each pair of query and key. Source: "The Roofline Model, Starting from Measured Data",
section 6 (Qwen2.5-7B: 15.23 − 1.09 = 14.14 GB). Weights alone bound short prompts; the cache grows with batch × prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow
from ncuroof.workloads.models import SIZES, model_of

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "decode"
KEYS = {"model": "name of a model, or its sizes one by one"}
OPTIONAL = {
    "batch": "sequences (1)",
    "prompt": "tokens before this one, in each sequence (0)",
    "kv_dtype": "element type of the KV cache (dtype)",
    **SIZES,
}
WORK = "batch·(2·weights + 4·layers·heads·head_dim·(prompt + 1))"
BYTES = "weights·sizeof + batch·(prompt + 1)·2·layers·kv_heads·head_dim·sizeof"
ARITHMETIC = "matrix"
COMPOSITE = True


def cost(shape: Shape) -> Cost:
    """Work and bytes of the step."""
    model, kind, cache = model_of(shape), shape.dtype(default="bf16"), shape.dtype("kv_dtype", "bf16")
    batch, prompt = shape.size("batch", 1), shape.size("prompt", 0)
    token = model.cache_elements * cache.bytes
    ledger = [Flow("weights", model.weights * kind.bytes)]
    if prompt:
        ledger.append(Flow("KV cache", batch * prompt * token))
    ledger.append(Flow("KV of the new token", batch * token, written=True))
    work = batch * (2.0 * model.weights + model.attention_flop * (prompt + 1))
    return Cost(work, tuple(ledger), kind.paths(ARITHMETIC))
