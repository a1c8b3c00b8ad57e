"""The prefill step of a transformer: ``batch`` prompts of ``prompt`` tokens in one pass.

Q = every weight once (embedding table left out) + the KV cache written; activations that stay in cache are left out, so
this is a lower bound. W = 2 FLOP for each weight and token, causal attention on top; the output layer runs for the last
token of each sequence only. Source: "The Roofline Model, Starting from Measured Data", section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.workloads.cost import Cost, Flow
from ncuroof.workloads.models import SIZES, model_of

if TYPE_CHECKING:
    from ncuroof.workloads.cost import Shape

NAME = "prefill"
KEYS = {"model": "name of a model, or its sizes one by one", "prompt": "tokens of each sequence"}
OPTIONAL = {"batch": "sequences (1)", "kv_dtype": "element type of the KV cache (dtype)", **SIZES}
WORK = "batch·(2·prompt·layer weights + 2·output weights + 4·layers·heads·head_dim·prompt·(prompt + 1)/2)"
BYTES = "weights·sizeof + batch·prompt·2·layers·kv_heads·head_dim·sizeof"
ARITHMETIC = "matrix"
COMPOSITE = True


def cost(shape: Shape) -> Cost:
    """Work and bytes of the step."""
    model, kind, cache = model_of(shape), shape.dtype(default="bf16"), shape.dtype("kv_dtype", "bf16")
    batch, prompt = shape.size("batch", 1), shape.size("prompt")
    ledger = (
        Flow("weights", model.weights * kind.bytes),
        Flow("KV cache", batch * prompt * model.cache_elements * cache.bytes, written=True),
    )
    pairs = prompt * (prompt + 1) / 2
    layers = model.weights - model.output_weights
    work = batch * (2.0 * prompt * layers + 2.0 * model.output_weights + model.attention_flop * pairs)
    return Cost(work, ledger, kind.paths(ARITHMETIC))
