"""Sizes of dense transformer models, and the weights that one step reads."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from ncuroof.workloads.cost import ShapeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.workloads.cost import Shape

SIZES = {
    "layers": "transformer layers",
    "hidden": "hidden size",
    "intermediate": "width of the MLP",
    "heads": "query heads",
    "kv_heads": "key and value heads (heads)",
    "head_dim": "size of a head (hidden / heads)",
    "vocab": "vocabulary",
    "tied": "true: output layer and embedding table are one",
    "bias": "true: q, k and v have biases",
}
"""Sizes by which a model that is not in the table can be described, in place of ``model``."""


@dataclass(frozen=True)
class Model:
    """A decoder-only transformer with gated MLP (q, k, v, o, gate, up, down) and two norms a layer.

    Attributes are sizes as in :data:`SIZES`.
    """

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    tied: bool
    bias: bool

    @property
    def output_weights(self) -> int:
        """Weights of the output layer; the same table as the embedding if tied."""
        return self.vocab * self.hidden

    @property
    def embedding_weights(self) -> int:
        """Weights of the embedding table, of which a step reads one row a token."""
        return self.vocab * self.hidden

    @property
    def weights(self) -> int:
        """Weights that every step reads in full: all but the embedding table."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        attention = self.hidden * (queries + 2 * keys) + queries * self.hidden
        biases = queries + 2 * keys if self.bias else 0
        layer = attention + biases + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return self.layers * layer + self.hidden + self.output_weights

    @property
    def parameters(self) -> int:
        """All weights, embedding table included."""
        return self.weights + (0 if self.tied else self.embedding_weights)

    @property
    def cache_elements(self) -> int:
        """Elements of the KV cache for each token."""
        return 2 * self.layers * self.kv_heads * self.head_dim

    @property
    def attention_flop(self) -> float:
        """FLOP for each pair of query and key: two products of ``head_dim`` FMAs, all heads and layers."""
        return 4.0 * self.layers * self.heads * self.head_dim


@functools.cache
def models() -> dict[str, Model]:
    """The models of ``models.toml`` by name."""
    text = resources.files("ncuroof.workloads").joinpath("models.toml").read_text(encoding="utf-8")
    return {row["name"]: _model(row) for row in tomllib.loads(text)["model"]}


def _model(row: Mapping[str, Any]) -> Model:
    return Model(**{key: row[key] for key in SIZES})


def model_of(shape: Shape) -> Model:
    """The model a shape names, or describes size by size.

    Raises:
        ShapeError: for an unknown name, and for sizes that are missing.
    """
    name = shape.values.get("model")
    if name is not None:
        known = models().get(str(name).strip().lower().removeprefix("qwen/").removeprefix("meta-llama/"))
        if known is None:
            sizes = ", ".join(SIZES)
            msg = f"model is {str(name)[:40]!r}; known are {', '.join(models())}, others by their sizes ({sizes})"
            raise ShapeError(msg)
        return known
    heads, hidden = shape.size("heads"), shape.size("hidden")
    return Model(
        layers=shape.size("layers"),
        hidden=hidden,
        intermediate=shape.size("intermediate"),
        heads=heads,
        kv_heads=shape.size("kv_heads", heads),
        head_dim=shape.size("head_dim", max(hidden // heads, 1)),
        vocab=shape.size("vocab"),
        tied=shape.flag("tied"),
        bias=shape.flag("bias"),
    )
