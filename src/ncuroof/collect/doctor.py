"""What is installed, what is allowed, and what would work: the facts behind ``ncuroof doctor``."""

from __future__ import annotations

import importlib
import importlib.util
import platform
import shutil
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from ncuroof import __version__
from ncuroof.collect import calibration, gpu, permission
from ncuroof.collect import ncu as tool
from ncuroof.errors import CollectError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GOOD, MISSING, BAD, UNKNOWN = "ok", "missing", "bad", "unknown"

REQUIRED = (
    "polars",
    "pyarrow",
    "altair",
    "pandas",
    "numpy",
    "google.protobuf",
    "rich",
    "typer",
    "vl_convert",
    "zstandard",
)
DISTRIBUTIONS = {"google.protobuf": "protobuf", "vl_convert": "vl-convert-python"}
"""Import names whose distribution is called otherwise."""


@dataclass(frozen=True)
class Check:
    """One fact.

    Attributes:
        topic: what it is about, short.
        state: ok, missing, bad or unknown.
        detail: what was found.
        remedy: what to do; empty where nothing is to be done.
        needed: whether ncuroof is of no use without it.
    """

    topic: str
    state: str
    detail: str
    remedy: str = ""
    needed: bool = False


@dataclass(frozen=True)
class Ability:
    """Something a user may want to do, and whether it would work here."""

    what: str
    works: bool
    why: str


def examine(environment: Mapping[str, str], *, root: Path) -> tuple[list[Check], list[Ability]]:
    """Look at everything. Imports packages to see whether they can be; runs ``ncu --version`` and ``nvidia-smi``.

    Args:
        environment: environment variables.
        root: the root of the file system, or a folder that stands for it.
    """
    checks = [
        Check("ncuroof", GOOD, __version__),
        Check("python", GOOD, platform.python_version()),
        *(_package(name) for name in REQUIRED),
        _protobuf_backend(),
        _torch(),
        _optional("triton", "the FMA sweep runs without it, a pass over memory for each step"),
        _installed("ncu_report", "NVIDIA's reader, for --reader ncu-report; not needed"),
        _nvtx(),
    ]
    ncu = _ncu(environment, root)
    counters = _counters(environment, root)
    gpus = gpu.detect()
    checks += [ncu, counters, _gpu(gpus), _collectors(environment)]
    return checks, _abilities({check.topic: check for check in checks})


def _abilities(checks: Mapping[str, Check]) -> list[Ability]:
    def good(*topics: str) -> bool:
        return all(checks[topic].state == GOOD for topic in topics)

    broken = [check.topic for check in checks.values() if check.needed and check.state != GOOD]
    lacking = [topic for topic in ("ncu", "gpu") if checks[topic].state != GOOD]
    refused = checks["counters"].state == BAD
    collect_why = f"lacks {' and '.join(lacking)}" if lacking else ""
    if not lacking:
        collect_why = "counters are refused" if refused else ""
        collect_why = collect_why or ("" if good("counters") else "only a run can tell whether counters are allowed")
    torch = checks["torch"]
    return [
        Ability("analyze, ingest, roofline, compare", not broken, f"lacks {', '.join(broken)}" if broken else ""),
        Ability("roofs, bound", True, ""),
        Ability("collect", not lacking and not refused, collect_why),
        Ability(
            "calibrate and the scripts in collectors/",
            good("torch", "gpu", "collectors") and "no CUDA" not in torch.detail,
            "" if good("torch", "gpu", "collectors") else _first_lack(checks, ("torch", "gpu", "collectors")),
        ),
        Ability("annotations reach a profiler", good("nvtx"), "" if good("nvtx") else checks["nvtx"].detail),
    ]


def _first_lack(checks: Mapping[str, Check], topics: tuple[str, ...]) -> str:
    lacking = [topic for topic in topics if checks[topic].state != GOOD]
    return f"lacks {' and '.join(lacking)}"


def _version(name: str) -> str:
    try:
        return metadata.version(DISTRIBUTIONS.get(name, name))
    except metadata.PackageNotFoundError:
        return "version unknown"


def _package(name: str) -> Check:
    """A package ncuroof depends on: importing it is the test, since a broken binary imports no better than none."""
    topic = DISTRIBUTIONS.get(name, name)
    try:
        importlib.import_module(name)
    except Exception as error:
        remedy = f"Install it again: pip install --force-reinstall {topic}"
        return Check(topic, BAD, f"cannot be imported: {_one_line(error)}", remedy, needed=True)
    return Check(topic, GOOD, _version(name), needed=True)


def _protobuf_backend() -> Check:
    try:
        from google.protobuf.internal import api_implementation  # noqa: PLC0415

        backend = str(api_implementation.Type())
    except Exception as error:
        return Check("protobuf backend", UNKNOWN, _one_line(error))
    if backend == "python":
        return Check("protobuf backend", BAD, "pure Python: reading reports is many times slower", _SLOW)
    return Check("protobuf backend", GOOD, backend)


_SLOW = "Unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION, or install protobuf from a wheel of this platform."


def _installed(name: str, detail: str) -> Check:
    return Check(name, GOOD if _found(name) else MISSING, _version(name) if _found(name) else detail)


def _optional(name: str, detail: str) -> Check:
    return _installed(name, f"not installed: {detail}")


def _torch() -> Check:
    if not _found("torch"):
        return Check(
            "torch", MISSING, "not installed: collectors and calibrate need it", "pip install 'ncuroof[collectors]'"
        )
    try:
        torch = importlib.import_module("torch")
        cuda = f"CUDA {torch.version.cuda}" if torch.version.cuda else "no CUDA in this build"
        return Check("torch", GOOD, f"{torch.__version__}, {cuda}")
    except Exception as error:
        return Check("torch", BAD, f"cannot be imported: {_one_line(error)}", "Install it again.")


def _nvtx() -> Check:
    """Where annotations would go, as :mod:`ncuroof.annotate` chooses."""
    import ctypes.util  # noqa: PLC0415

    if _found("nvtx"):
        return Check("nvtx", GOOD, "package nvtx")
    if ctypes.util.find_library("nvToolsExt"):
        return Check("nvtx", GOOD, "libnvToolsExt")
    if _found("torch") and _torch_has_cuda():
        return Check("nvtx", GOOD, "torch.cuda.nvtx")
    return Check("nvtx", MISSING, "neither torch with CUDA, nor package nvtx, nor libnvToolsExt", "pip install nvtx")


def _torch_has_cuda() -> bool:
    try:
        return bool(importlib.import_module("torch").version.cuda)
    except Exception:
        return False


def _ncu(environment: Mapping[str, str], root: Path) -> Check:
    try:
        found = tool.find(environment, root=root)
    except CollectError as error:
        return Check("ncu", MISSING, "not found", str(error))
    return Check("ncu", GOOD, f"Nsight Compute {found.version or 'of unknown version'} ({found.how})", found.note or "")


def _counters(environment: Mapping[str, str], root: Path) -> Check:
    allowed = permission.check(environment, root=root)
    state = {permission.OPEN: GOOD, permission.BLOCKED: BAD}.get(allowed.state, UNKNOWN)
    detail = "; ".join(f"{layer.name}: {layer.found}" for layer in allowed.layers)
    return Check("counters", state, detail, " ".join(layer.remedy for layer in allowed.layers if layer.remedy))


def _gpu(found: list[gpu.Gpu]) -> Check:
    if found:
        return Check("gpu", GOOD, "; ".join(f"{one.name} (CC {one.cc or 'unknown'})" for one in found))
    if shutil.which("nvidia-smi") is None:
        return Check("gpu", MISSING, "no nvidia-smi, so no NVIDIA driver is installed here")
    return Check("gpu", BAD, "nvidia-smi lists no GPU", "Is the driver loaded, and the GPU passed to this container?")


def _collectors(environment: Mapping[str, str]) -> Check:
    try:
        calibration.collectors_folder(None, environment)
    except CollectError as error:
        return Check("collectors", MISSING, "not found", str(error))
    return Check("collectors", GOOD, "found")


def _found(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
