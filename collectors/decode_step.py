"""One decode step of a transformer of Qwen2.5-7B's shape with random weights, eager and with CUDA graphs.

A step feeds one new token for each request of the batch through all layers and reads every weight once, so it
takes at least weights / bandwidth. What it takes beyond that is other traffic (the KV cache grows with batch and
prompt), kernels short of their roof, and time outside kernels: over a thousand launches are issued one by one.
With a CUDA graph they are issued at once, and the difference is what issuing cost. ``--layers`` scales the
model to the memory at hand; the embedding table is left out, a step reads one row of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import linear, scaled_dot_product_attention, silu

import harness

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


@dataclass(frozen=True)
class Shape:
    """The sizes of the model; the defaults are Qwen2.5-7B's."""

    layers: int = 28
    hidden: int = 3584
    heads: int = 28
    kv_heads: int = 4
    head_dim: int = 128
    mlp: int = 18944
    vocabulary: int = 152064

    def scaled(self, divisor: int) -> Shape:
        """Return the shape with its widths divided, for small runs."""
        return Shape(
            self.layers,
            self.hidden // divisor,
            self.heads,
            self.kv_heads,
            self.head_dim // divisor,
            self.mlp // divisor,
            self.vocabulary // divisor,
        )

    def linears(self) -> dict[str, tuple[int, int]]:
        """Return the linear layers of one layer: features out, features in."""
        q, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            "q": (q, self.hidden),
            "k": (kv, self.hidden),
            "v": (kv, self.hidden),
            "o": (self.hidden, q),
            "gate": (self.mlp, self.hidden),
            "up": (self.mlp, self.hidden),
            "down": (self.hidden, self.mlp),
        }

    def weights(self) -> int:
        """Return the number of weights a step reads: all linear layers and the output head."""
        return self.layers * sum(n * k for n, k in self.linears().values()) + self.vocabulary * self.hidden

    def cache(self, batch: int, context: int) -> int:
        """Return the number of elements of the KV cache that a step reads."""
        return self.layers * 2 * batch * self.kv_heads * self.head_dim * context

    def flop(self, batch: int, context: int) -> int:
        """Return the FLOP of a step: 2 for each weight and request, 4 for each cached position, head and width."""
        attention = self.layers * 4 * batch * self.heads * self.head_dim * context
        return 2 * batch * self.weights() + attention


@dataclass
class Model:
    """Random weights, a filled KV cache and the step over them."""

    shape: Shape
    batch: int
    prompt: int
    dtype: str
    device: str
    weight: list[dict[str, torch.Tensor]] = field(default_factory=list)
    cache: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Fill weights and cache; the last place of the cache is for the token of the step."""
        shape, context = self.shape, self.prompt + 1
        for _ in range(shape.layers):
            sizes = shape.linears()
            self.weight.append({name: self._random(*size) for name, size in sizes.items()})
            keys = self._random(self.batch, shape.kv_heads, context, shape.head_dim)
            self.cache.append((keys, torch.clone(keys)))
        self.head = self._random(shape.vocabulary, shape.hidden)
        self.norm = torch.ones(shape.hidden, dtype=harness.TORCH_TYPE[self.dtype], device=self.device)
        self.token = self._random(self.batch, shape.hidden)
        angle = torch.rand(shape.head_dim // 2, device=self.device)
        self.turn = torch.cos(angle).to(self.token.dtype), torch.sin(angle).to(self.token.dtype)

    def _random(self, *size: int) -> torch.Tensor:
        return harness.random(size, self.dtype, self.device)

    def _normed(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.norm

    def _turned(self, x: torch.Tensor) -> torch.Tensor:
        cos, sin = self.turn
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)

    def step(self) -> torch.Tensor:
        """Run one step and return the scores of the vocabulary."""
        shape, x = self.shape, self.token
        for weight, (keys, values) in zip(self.weight, self.cache, strict=True):
            y = self._normed(x)
            q = self._turned(linear(y, weight["q"]).view(self.batch, shape.heads, 1, shape.head_dim))
            k = self._turned(linear(y, weight["k"]).view(self.batch, shape.kv_heads, 1, shape.head_dim))
            v = linear(y, weight["v"]).view(self.batch, shape.kv_heads, 1, shape.head_dim)
            keys[:, :, -1:] = k
            values[:, :, -1:] = v
            y = scaled_dot_product_attention(q, keys, values, enable_gqa=True)
            x = x + linear(y.reshape(self.batch, -1), weight["o"])
            y = self._normed(x)
            x = x + linear(silu(linear(y, weight["gate"])) * linear(y, weight["up"]), weight["down"])
        return linear(self._normed(x), self.head)


def graphed(step: Callable[[], object]) -> Callable[[], object]:
    """Return a call that replays the step from a CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def run(shape: Shape, batch: int, prompt: int, dtype: str, arguments: argparse.Namespace) -> list[harness.Row]:
    """Measure one batch and prompt length, eager and, on a GPU, graphed."""
    model = Model(shape, batch, prompt, dtype, arguments.device)
    context = prompt + 1
    moved = (shape.weights() + shape.cache(batch, context)) * harness.SIZEOF[dtype]
    ways: dict[str, Callable[[], object]] = {"eager": model.step}
    if arguments.device == "cuda" and not arguments.no_graph:
        ways["graph"] = graphed(model.step)
    rows = []
    for name, call in ways.items():
        sizes = asdict(shape)
        sizes["intermediate"], sizes["vocab"] = sizes.pop("mlp"), sizes.pop("vocabulary")
        mark = harness.annotated("decode", dtype=dtype, label=f"decode {name}", batch=batch, prompt=prompt, **sizes)
        timing = harness.measure(call, arguments, mark)
        more = {"batch": batch, "prompt": prompt, "layers": shape.layers, "ms_per_token": timing.seconds * 1e3 / batch}
        if arguments.bandwidth:
            bound = moved / (arguments.bandwidth * 1e9)
            more["times_bound"] = timing.seconds / bound
        rows.append(harness.point(name, dtype, timing, flop=shape.flop(batch, context), moved=moved, **more))
    return rows


def main() -> None:
    """Run the step over batches and prompts."""
    options = harness.parser(__doc__ or "", dtypes="bf16")
    options.add_argument("--batches", type=harness.ints, default=[1, 4, 16], help="requests, comma-separated")
    options.add_argument("--prompts", type=harness.ints, default=[128, 1024, 4096], help="tokens, comma-separated")
    options.add_argument("--layers", type=int, default=Shape.layers, help="layers; fewer take less memory")
    options.add_argument("--scale", type=int, default=1, help="divide the widths by this, for small runs")
    options.add_argument("--no-graph", action="store_true", help="leave out the CUDA graph")
    options.add_argument("--bandwidth", type=float, help="measured bandwidth in GB/s, to show the ratio to the bound")
    arguments = harness.parse(options)
    harness.start(arguments)
    shape = Shape(layers=arguments.layers).scaled(arguments.scale)
    rows = []
    with torch.inference_mode():
        for dtype in harness.dtypes(arguments):
            for prompt in arguments.prompts:
                for batch in arguments.batches:
                    rows += run(shape, batch, prompt, dtype, arguments)
    harness.finish("decode_step", rows, arguments, best="bytes_per_s")


if __name__ == "__main__":
    main()
