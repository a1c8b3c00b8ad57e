"""What every collector shares: options, timing, element types, formulas and output.

The collectors are plain scripts. They need PyTorch; of ncuroof they use the annotations only, and run without
it. ``--device cpu`` runs everything without a GPU, and small unless options say otherwise.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

try:
    from ncuroof import annotate
except ImportError:  # a collector also runs on a machine that has only torch
    annotate = None  # type: ignore[assignment]

MIB = 1 << 20
SIZEOF = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1}
TORCH_TYPE = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8": getattr(torch, "float8_e4m3fn", None),
}
FP8_CAPABILITY = (8, 9)
"""First compute capability whose tensor cores take FP8."""
CPU_TYPES = ("fp64", "fp32", "bf16")
CPU_DEFAULTS: dict[str, Any] = {
    "warmup": 1,
    "repeats": 3,
    "bytes": MIB,
    "sweep_last": MIB,
    "sizes": [64, 128],
    "m": [1, 2, 4, 8],
    "n": 64,
    "k": 64,
    "r": [1, 2, 4],
    "launches": 100,
    "scale": 16,
    "layers": 1,
    "batches": [1, 2],
    "prompt": 8,
    "prompts": [16],
}
"""What the options of all collectors default to with ``--device cpu``: each then ends within seconds."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Timing:
    """Seconds a call takes: the median over the repeats and the distance between the quartiles."""

    seconds: float
    spread: float
    repeats: int


def parser(description: str, *, dtypes: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all collectors have."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument(
        "--device",
        choices=("cuda", "cpu"),
        default="cuda",
        help="where to run; cpu is for tests: small sizes, few repeats",
    )
    options.add_argument("--dtypes", default=dtypes, help="element types, comma-separated")
    options.add_argument("--seed", type=int, default=0, help="seed of the random inputs")
    options.add_argument("--warmup", type=int, default=3, help="unmeasured calls before each point")
    options.add_argument("--repeats", type=int, default=20, help="measured calls of each point")
    options.add_argument("--flush", action="store_true", help="overwrite L2 before each measured call")
    options.add_argument("--json", type=Path, metavar="FILE", help="write the rows, with the device, as JSON")
    options.add_argument("--csv", type=Path, metavar="FILE", help="write the rows as CSV")
    return options


def parse(options: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line; with ``--device cpu`` what is not asked for is small."""
    arguments = options.parse_args()
    if arguments.device == "cpu":
        # Options that were given win: a default only fills what is missing.
        options.set_defaults(**{name: CPU_DEFAULTS[name] for name in vars(arguments) if name in CPU_DEFAULTS})
        arguments = options.parse_args()
    return arguments


def start(arguments: argparse.Namespace) -> None:
    """Check the device, seed the generators, and cut the repeats to one where every launch is profiled anyway."""
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("error: torch finds no CUDA device here; --device cpu runs the same code small, without a GPU")
    if arguments.repeats < 1 or arguments.warmup < 0:
        sys.exit("error: --repeats must be at least 1 and --warmup at least 0")
    torch.manual_seed(arguments.seed)
    if os.environ.get("NCUROOF_COLLECT"):
        arguments.repeats, arguments.warmup = 1, min(arguments.warmup, 1)


def dtypes(arguments: argparse.Namespace) -> list[str]:
    """Return the element types asked for that this device has; says which it leaves out."""
    chosen = []
    for name in arguments.dtypes.split(","):
        if name not in SIZEOF:
            sys.exit(f"error: no element type {name!r}; known are {', '.join(SIZEOF)}")
        reason = _unsupported(name, arguments.device)
        if reason:
            print(f"note: {name} left out: {reason}", file=sys.stderr)
        else:
            chosen.append(name)
    if not chosen:
        sys.exit("error: none of the element types asked for can be run here")
    return chosen


def _unsupported(name: str, device: str) -> str:
    if device == "cpu":
        return "" if name in CPU_TYPES else "the CPU run knows fp64, fp32 and bf16"
    capability = torch.cuda.get_device_capability()
    if name == "fp8" and (capability < FP8_CAPABILITY or TORCH_TYPE["fp8"] is None):
        return f"compute capability {capability[0]}.{capability[1]} or this torch has none"
    if name in ("tf32", "bf16") and capability < (8, 0):
        return f"compute capability {capability[0]}.{capability[1]} has none"
    return ""


def ints(text: str) -> list[int]:
    """Parse a comma-separated list of positive sizes."""
    values = [int(part) for part in text.split(",")]
    if not values or min(values) < 1:
        msg = "sizes must be positive"
        raise argparse.ArgumentTypeError(msg)
    return values


def doubling(first: int, last: int) -> list[int]:
    """Return first, 2·first, 4·first ... up to last."""
    sizes = [first]
    while sizes[-1] * 2 <= last:
        sizes.append(sizes[-1] * 2)
    return sizes


def random(shape: Sequence[int], dtype: str, device: str) -> torch.Tensor:
    """Return small normally distributed values, so that sums stay finite in half precision."""
    values = torch.randn(*shape, device=device, dtype=torch.float64 if dtype == "fp64" else torch.float32) / 16
    return values.to(TORCH_TYPE[dtype])


def matmul(m: int, n: int, k: int, dtype: str, device: str) -> Callable[[], torch.Tensor]:
    """Return a call that multiplies a random (m, k) by a random (k, n) matrix on the path of ``dtype``."""
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    left = random((m, k), dtype, device)
    if dtype == "fp8":
        # _scaled_mm wants its right operand column-major.
        right = random((n, k), dtype, device).t()
        one = torch.ones((), device=device)
        return lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    right = random((k, n), dtype, device)
    out = torch.empty((m, n), dtype=left.dtype, device=device)
    return lambda: torch.mm(left, right, out=out)


def gemm_flop(m: int, n: int, k: int) -> int:
    """Return 2·m·n·k: k multiplications and k additions for each element of the product."""
    return 2 * m * n * k


def gemm_bytes(m: int, n: int, k: int, dtype: str) -> int:
    """Return sizeof·(mk + kn) + out·mn: each matrix read or written once; FP8 products are written as BF16."""
    out = 2 if dtype == "fp8" else SIZEOF[dtype]
    return SIZEOF[dtype] * (m * k + k * n) + out * m * n


def annotated(
    name: str, *, dtype: str, sweep: str | None = None, label: str | None = None, **shape: float
) -> AbstractContextManager[Any]:
    """Annotate a measured call with what it was asked to do; nothing where ncuroof is not installed."""
    if annotate is None:
        return nullcontext()
    return annotate.op(name, dtype=dtype, sweep=sweep, label=label, **shape)


def measure(call: Callable[[], object], arguments: argparse.Namespace, mark: AbstractContextManager[Any]) -> Timing:
    """Time ``call``: unmarked warm-ups, then the repeats inside ``mark``.

    On a GPU the time is between two events around each call, so it holds what lies between kernels of one
    call but not the time the CPU takes to issue them, as long as the queue stays full.
    """
    for _ in range(arguments.warmup):
        call()
    samples = (
        _cuda_samples(call, arguments, mark) if arguments.device == "cuda" else _cpu_samples(call, arguments, mark)
    )
    if len(samples) < 2:
        return Timing(samples[0], 0.0, len(samples))
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Timing(middle, high - low, len(samples))


def _cuda_samples(
    call: Callable[[], object], arguments: argparse.Namespace, mark: AbstractContextManager[Any]
) -> list[float]:
    scratch = None
    if arguments.flush:
        size = 4 * getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 * MIB)
        scratch = torch.empty(size, dtype=torch.uint8, device="cuda")
    pairs = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(arguments.repeats)
    ]
    torch.cuda.synchronize()
    for before, after in pairs:
        if scratch is not None:
            scratch.zero_()
        before.record()
        with mark:
            call()
        after.record()
    torch.cuda.synchronize()
    return [before.elapsed_time(after) / 1e3 for before, after in pairs]


def _cpu_samples(
    call: Callable[[], object], arguments: argparse.Namespace, mark: AbstractContextManager[Any]
) -> list[float]:
    samples = []
    for _ in range(arguments.repeats):
        with mark:
            begin = time.perf_counter()
            call()
            samples.append(time.perf_counter() - begin)
    return samples


def point(name: str, dtype: str, timing: Timing, *, flop: float, moved: float, **more: Any) -> Row:  # noqa: ANN401
    """Return one row: what was run, W, Q, T and the rates that follow."""
    return {
        "name": name,
        "dtype": dtype,
        **more,
        "flop": flop,
        "bytes": moved,
        "seconds": timing.seconds,
        "spread_s": timing.spread,
        "repeats": timing.repeats,
        "flop_per_s": flop / timing.seconds,
        "bytes_per_s": moved / timing.seconds,
    }


def finish(collector: str, rows: Sequence[Row], arguments: argparse.Namespace, *, best: str | None) -> None:
    """Print the table, name the highest rate ``best`` of each element type, and write the files asked for."""
    _table(rows)
    for dtype in dict.fromkeys(row["dtype"] for row in rows) if best else ():
        top = max((row for row in rows if row["dtype"] == dtype), key=lambda row: row[best])
        unit = "GB/s" if best == "bytes_per_s" else "TFLOP/s"
        scale = 1e9 if best == "bytes_per_s" else 1e12
        print(f"highest {dtype}: {top[best] / scale:.4g} {unit} ({top['name']})")
    if arguments.json:
        document = {"collector": collector, "format": 1, "device": _device(arguments), "rows": list(rows)}
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if arguments.csv:
        with arguments.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(dict.fromkeys(key for row in rows for key in row)))
            writer.writeheader()
            writer.writerows(rows)


def _device(arguments: argparse.Namespace) -> Row:
    about: Row = {"kind": arguments.device, "torch": torch.__version__, "seed": arguments.seed}
    about["flushed"] = bool(arguments.flush)
    if arguments.device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        about.update(
            name=properties.name,
            capability=f"{properties.major}.{properties.minor}",
            sm_count=properties.multi_processor_count,
            memory_bytes=properties.total_memory,
            l2_bytes=getattr(properties, "L2_cache_size", None),
            cuda=torch.version.cuda,
        )
    return about


def _table(rows: Sequence[Row]) -> None:
    hidden = {"spread_s", "repeats"}
    columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in hidden]
    cells = [columns] + [[_cell(key, row.get(key)) for key in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    for line in cells:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _cell(key: str, value: object) -> str:
    if value is None:
        return "-"
    if key == "seconds" and isinstance(value, float):
        return f"{value * 1e6:.2f} us"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
