"""Measured roofs of this machine: the highest rates that the collectors reach, checked against device peaks.

B is the highest bandwidth of all movers, F of a path the highest throughput of all shapes (the rule of "The Roofline
Model, Starting from Measured Data", section 4). A rate above the peak of the device is an error of measurement and is
left out: a copy that ran in L2, a clock that was read wrongly.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncuroof import gpus
from ncuroof.collect import process
from ncuroof.errors import CollectError, InputError
from ncuroof.roofs import Roof

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncuroof.collect.session import Talk

COLLECTORS_VARIABLE = "NCUROOF_COLLECTORS"
RUNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("bandwidth", ()),
    ("gemm_square", ()),
    ("gemm_msweep", ("--m", "1024,2048,8192")),
    ("fma_sweep", ()),
)
"""Collectors and their options; thin products are the highest on no GPU, so the M sweep keeps its large sizes."""
QUICK: dict[str, tuple[str, ...]] = {
    "gemm_square": ("--sizes", "2048,4096,8192", "--repeats", "10"),
    "fma_sweep": ("--r", "512,1024", "--repeats", "10"),
    "gemm_msweep": ("--m", "8192", "--repeats", "10"),
}
CPU: dict[str, tuple[str, ...]] = {
    "bandwidth": ("--bytes", "1048576"),
    "gemm_square": ("--sizes", "64,128"),
    "gemm_msweep": ("--m", "64", "--n", "128", "--k", "128"),
    "fma_sweep": ("--bytes", "65536", "--r", "1,2"),
}
L2_FACTOR = 4
"""A mover's working set must be this many times L2, or what it shows is L2's bandwidth."""
ASK_SECONDS = 60
_NO_TORCH = 3
_HAS_TORCH = f"import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('torch') else {_NO_TORCH})"
"""Looks for PyTorch without importing it, which takes seconds."""
FUSED = "triton"
"""The FMA sweep measures the arithmetic units only where its chain ran in registers."""
CUDA_CORE_PATHS = {"fp64": "fp64", "fp32": "fp32", "fp16": "fp16_vector"}
PRODUCT_PATHS = {"fp32": "fp32", "tf32": "tf32", "fp16": "fp16", "bf16": "bf16", "fp8": "fp8"}


@dataclass(frozen=True)
class Calibration:
    """What came out: roofs of one device, and what the user should know."""

    gpu: str
    roofs: tuple[Roof, ...]
    notes: tuple[str, ...]


def collectors_folder(explicit: Path | None, environment: Mapping[str, str]) -> Path:
    """Find the collectors: named, beside the package, in the source tree, or in the current directory.

    Raises:
        CollectError: if they are nowhere.
    """
    package = Path(__file__).resolve().parents[1]
    places = [explicit] if explicit is not None else []
    if not places and environment.get(COLLECTORS_VARIABLE):
        places = [Path(environment[COLLECTORS_VARIABLE])]
    places = places or [package / "_collectors", package.parents[1] / "collectors", Path.cwd() / "collectors"]
    for place in places:
        if (place / "harness.py").is_file():
            return place
    msg = "the collectors are not here; they come with ncuroof's source (folder collectors), name it with --collectors"
    raise CollectError(msg)


def measure(
    folder: Path, python: str, device: str, talk: Talk, *, quick: bool = False, timeout: float | None = None
) -> list[dict[str, Any]]:
    """Run the collectors and return their results.

    Raises:
        CollectError: if the interpreter has no PyTorch, none of them gave a result, or Ctrl-C ended it.
    """
    need_torch(python)
    results = []
    with tempfile.TemporaryDirectory(prefix="ncuroof-") as scratch:
        for name, options in RUNS:
            output = Path(scratch) / f"{name}.json"
            chosen = CPU.get(name, ()) if device == "cpu" else QUICK.get(name, options) if quick else options
            talk.note(f"running {name}")
            words = [python, str(folder / f"{name}.py"), "--device", device, "--json", str(output), *chosen]
            outcome = process.run(words, environment=os.environ, line=talk.program, timeout=timeout)
            if outcome.interrupted:
                msg = "interrupted; no roofs were written"
                raise CollectError(msg)
            if outcome.status or not output.is_file():
                talk.warn(f"{name} ended with exit status {outcome.status}; going on without it")
                continue
            results.append(read(output))
    if not results:
        msg = "no collector gave a result; they need PyTorch and a GPU (`ncuroof doctor` says what is missing)"
        raise CollectError(msg)
    return results


def need_torch(python: str) -> None:
    """Check that the interpreter of the collectors has PyTorch, before each of them fails on its import.

    Raises:
        CollectError: if it has not, or cannot be run.
    """
    try:
        status = subprocess.run(  # noqa: S603  the interpreter that is to run the collectors
            [python, "-c", _HAS_TORCH],
            capture_output=True,
            timeout=ASK_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        ).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"{Path(python).name} cannot be run ({getattr(error, 'strerror', None) or 'no answer'}); see --python"
        raise CollectError(msg) from error
    if status == _NO_TORCH:
        msg = (
            "PyTorch is not installed in the Python that would run the collectors: pip install 'ncuroof[collectors]', "
            "or name a Python that has it with --python (`ncuroof doctor` says what else is missing)"
        )
        raise CollectError(msg)


def read(path: Path) -> dict[str, Any]:
    """Read what a collector wrote with ``--json``.

    Raises:
        InputError: if it is not that.
    """
    remedy = "Give files that the scripts in collectors/ wrote with --json."
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(path.name, f"no readable JSON ({error})", remedy) from error
    rows = content.get("rows") if isinstance(content, dict) else None
    needed = {"name", "dtype", "bytes", "flop_per_s", "bytes_per_s"}
    usable = isinstance(rows, list) and all(isinstance(row, dict) and needed <= set(row) for row in rows)
    if not usable or content.get("format") != 1 or not isinstance(content.get("device"), dict):
        raise InputError(path.name, "JSON that no collector wrote", remedy)
    return dict(content)


def calibrate(results: Sequence[Mapping[str, Any]]) -> Calibration:
    """Take the highest rates, refuse impossible ones.

    Raises:
        CollectError: if the results are of several devices, or hold no usable rate.
    """
    names = {str(result["device"].get("name", result["device"].get("kind"))) for result in results}
    if len(names) != 1:
        msg = f"the results are of several devices ({', '.join(sorted(names))}); calibrate one at a time"
        raise CollectError(msg)
    name = names.pop()
    about = results[0]["device"]
    peaks, notes = _peaks(name, about)
    best: dict[str, tuple[float, str]] = {}
    for key, rate, cite in _rates(results, about, notes):
        peak = peaks.get(key)
        if peak is not None and rate > peak:
            notes.append(f"{cite}: {_shown(key, rate)} is above the device's peak of {_shown(key, peak)}; left out")
        elif rate > best.get(key, (0.0, ""))[0]:
            best[key] = (rate, cite)
    if not best:
        msg = "the results hold no rate that can be a roof: " + "; ".join(notes)
        raise CollectError(msg)
    version = f"torch {about.get('torch')}" + (f", CUDA {about['cuda']}" if about.get("cuda") else "")
    roofs = tuple(
        Roof(
            value=rate,
            path=None if key == "dram" else key,
            level="dram" if key == "dram" else None,
            dense=True,
            gpu=name,
            source="measured",
            citation=f"highest of {cite}, {version}",
        )
        for key, (rate, cite) in sorted(best.items(), key=lambda item: (item[0] != "dram", item[0]))
    )
    return Calibration(name, roofs, tuple(dict.fromkeys(notes)))


def _rates(
    results: Sequence[Mapping[str, Any]], about: Mapping[str, Any], notes: list[str]
) -> Iterable[tuple[str, float, str]]:
    """Every rate that may be a roof: its key (``dram`` or a path), value in byte/s or FLOP/s, and where from."""
    l2 = about.get("l2_bytes") or 0
    double = _double_path(about)
    for result in results:
        collector = result["collector"]
        for row in result["rows"]:
            cite = f"{collector} {row['name']} {row['dtype']}"
            if collector == "bandwidth":
                if row["bytes"] >= L2_FACTOR * l2:
                    yield "dram", float(row["bytes_per_s"]), cite
                else:
                    notes.append(f"movers of less than {L2_FACTOR} times L2 were passed over: they show L2's bandwidth")
            elif collector in ("gemm_square", "gemm_msweep"):
                path = double if row["dtype"] == "fp64" else PRODUCT_PATHS.get(row["dtype"])
                if path:
                    yield path, float(row["flop_per_s"]), cite
            elif collector == "fma_sweep" and row.get("kernel") == FUSED and row["dtype"] in CUDA_CORE_PATHS:
                yield CUDA_CORE_PATHS[row["dtype"]], float(row["flop_per_s"]), cite


def _double_path(about: Mapping[str, Any]) -> str:
    """Return the path of FP64 products: tensor cores where the architecture has them for FP64."""
    known = _architecture(about)
    return "fp64_tensor" if known is not None and "fp64_tensor" in known.rates else "fp64"


def _architecture(about: Mapping[str, Any]) -> gpus.Architecture | None:
    major, _, minor = str(about.get("capability", "")).partition(".")
    cc = (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None
    return gpus.architecture(cc, str(about.get("name")))


def _peaks(name: str, about: Mapping[str, Any]) -> tuple[dict[str, float], list[str]]:
    """Return the peaks of the device by key, and a note where there is nothing to check against.

    The larger of SMs × dense rate × highest clock and the data sheet: cards clock above their specification.
    """
    known = _architecture(about)
    major, _, minor = str(about.get("capability", "")).partition(".")
    cc = (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None
    match = gpus.match(name, cc, about.get("sm_count"), about.get("memory_bytes"))
    if match.gpu is None:
        return {}, [
            f"{name} is not in the table of GPUs ({match.reason}); the rates were not checked against its peaks"
        ]
    gpu = match.gpu
    peaks = dict(gpu.dense)
    sms = about.get("sm_count") or gpu.sms
    if known is not None and gpu.clock_hz and sms:
        for path, rate in known.rates.items():
            peaks[path] = max(peaks.get(path, 0.0), rate * int(sms) * gpu.clock_hz)
    bandwidths = [value for value in (gpu.nominal_bytes_s, gpu.bytes_s) if value]
    if bandwidths:
        peaks["dram"] = max(bandwidths)
    return peaks, []


def _shown(key: str, rate: float) -> str:
    return f"{rate / 1e9:.4g} GB/s" if key == "dram" else f"{rate / 1e12:.4g} TFLOP/s"


def interpreter(explicit: str | None) -> str:
    """Return the Python to run the collectors with: this one unless another is named."""
    return explicit or sys.executable
