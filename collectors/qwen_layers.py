"""The seven linear layers of one layer of Qwen2.5-7B, prefill and decode, batch 1 ... 16.

q and o are 3584 x 3584, k and v 3584 x 512, gate and up 3584 x 18944, down 18944 x 3584. In prefill M is
batch · prompt tokens, in decode M is the batch. The weights are random: time and traffic do not depend on them.
"""

from __future__ import annotations

import torch

import harness

HIDDEN, KV, MLP = 3584, 512, 18944
LAYERS = {
    "q_proj": (HIDDEN, HIDDEN),
    "k_proj": (KV, HIDDEN),
    "v_proj": (KV, HIDDEN),
    "o_proj": (HIDDEN, HIDDEN),
    "gate_proj": (MLP, HIDDEN),
    "up_proj": (MLP, HIDDEN),
    "down_proj": (HIDDEN, MLP),
}
"""Layer: N (features out), K (features in)."""


def main() -> None:
    """Run the layers."""
    options = harness.parser(__doc__ or "", dtypes="bf16")
    options.add_argument("--batches", type=harness.ints, default=harness.doubling(1, 16), help="comma-separated")
    options.add_argument("--prompt", type=int, default=1024, help="tokens of each prompt in prefill")
    options.add_argument("--phases", default="prefill,decode", help="phases, comma-separated")
    options.add_argument("--scale", type=int, default=1, help="divide every layer's N and K by this, for small runs")
    arguments = harness.parse(options)
    harness.start(arguments)
    rows = []
    for dtype in harness.dtypes(arguments):
        for phase in arguments.phases.split(","):
            if phase not in ("prefill", "decode"):
                options.error(f"no phase {phase!r}; known are prefill and decode")
            for batch in arguments.batches:
                for name, (out_features, in_features) in LAYERS.items():
                    n, k = out_features // arguments.scale, in_features // arguments.scale
                    m = batch * (arguments.prompt if phase == "prefill" else 1)
                    x = harness.random((m, k), dtype, arguments.device)
                    weight = harness.random((n, k), dtype, arguments.device)
                    mark = harness.annotated("gemm", dtype=dtype, label=f"{phase} {name}", m=m, n=n, k=k)
                    timing = harness.measure(
                        lambda x=x, weight=weight: torch.nn.functional.linear(x, weight), arguments, mark
                    )
                    flop, moved = harness.gemm_flop(m, n, k), harness.gemm_bytes(m, n, k, dtype)
                    more = {"phase": phase, "batch": batch, "m": m, "n": n, "k": k}
                    rows.append(harness.point(name, dtype, timing, flop=flop, moved=moved, **more))
    harness.finish("qwen_layers", rows, arguments, best="flop_per_s")


if __name__ == "__main__":
    main()
