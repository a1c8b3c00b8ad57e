"""How little time a launch can take: a kernel that does next to nothing, alone, in a row and in a CUDA graph.

Three figures: the time of one launch between events, the time per launch of a row issued without waiting (the
larger of what the GPU needs and what the CPU takes to issue it), and the time per launch of the same row captured
in a CUDA graph and submitted at once. The difference of the last two is what the CPU's issuing costs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

import harness

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


def per_launch(call: Callable[[], object], launches: int, arguments: argparse.Namespace) -> harness.Timing:
    """Return seconds per call over a row of ``launches``, wall time with one wait at the end."""
    samples = []
    for _ in range(max(2, arguments.repeats)):
        _wait(arguments.device)
        begin = time.perf_counter()
        for _ in range(launches):
            call()
        _wait(arguments.device)
        samples.append((time.perf_counter() - begin) / launches)
    samples.sort()
    middle = samples[len(samples) // 2]
    return harness.Timing(middle, samples[-1 - len(samples) // 4] - samples[len(samples) // 4], len(samples))


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def graph_of(call: Callable[[], object], launches: int) -> Callable[[], object]:
    """Return a call that submits ``launches`` of ``call`` as one CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            call()
    return graph.replay


def main() -> None:
    """Run the three figures."""
    options = harness.parser(__doc__ or "", dtypes="fp32")
    options.add_argument("--launches", type=int, default=1000, help="launches in a row")
    arguments = harness.parse(options)
    harness.start(arguments)
    rows = []
    for dtype in harness.dtypes(arguments):
        x = harness.random((1,), dtype, arguments.device)
        z = torch.empty_like(x)
        moved = 2 * harness.SIZEOF[dtype]
        mark = harness.annotated("copy", dtype=dtype, label="launch floor", n=1)
        timing = harness.measure(lambda z=z, x=x: z.copy_(x), arguments, mark)
        rows.append(harness.point("one launch", dtype, timing, flop=0, moved=moved))
        timing = per_launch(lambda z=z, x=x: z.copy_(x), arguments.launches, arguments)
        rows.append(harness.point("in a row", dtype, timing, flop=0, moved=moved))
        if arguments.device == "cuda":
            replay = graph_of(lambda z=z, x=x: z.copy_(x), arguments.launches)
            whole = per_launch(replay, 1, arguments)
            count = arguments.launches
            timing = harness.Timing(whole.seconds / count, whole.spread / count, whole.repeats)
            rows.append(harness.point("in a graph", dtype, timing, flop=0, moved=moved))
    harness.finish("launch_floor", rows, arguments, best=None)


if __name__ == "__main__":
    main()
