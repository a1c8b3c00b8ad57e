"""The highest rates measured in public benchmarks, from ``measured.toml``."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ncuroof.errors import RegistryError
from ncuroof.gpus import _toml
from ncuroof.paths import PATH_NAMES

MATMUL = "matmul"
"""The kind of peak that a matrix product is held against where there is one."""

KINDS = {
    MATMUL: "highest dense matrix product",
    "fma": "FMA sweep, ordinary units",
}
"""How a peak was measured."""

CITATION = "'The Roofline Model, Starting from Measured Data', published data (RealZST/llm-infra-notes, roofline/data)"
"""Where all rows come from."""

TERA = 1e12
GIGA = 1e9


@dataclass(frozen=True)
class MeasuredPeak:
    """One measured flat part.

    Attributes:
        path: compute path, of :data:`ncuroof.paths.PATH_NAMES`.
        flop_s: FLOP/s, dense.
        kind: a key of :data:`KINDS`.
    """

    path: str
    flop_s: float
    kind: str


@dataclass(frozen=True)
class MeasuredGpu:
    """What was measured on one variant.

    Attributes:
        gpu: id of the variant.
        device: the device name it was measured on.
        bytes_s: DRAM bandwidth, byte/s: the highest of all kernels that only move data.
        peaks: every measured peak; a path may have several.
    """

    gpu: str
    device: str
    bytes_s: float
    peaks: tuple[MeasuredPeak, ...]

    def best(self, path: str, kind: str | None = None) -> MeasuredPeak | None:
        """The highest peak of a path; of one kind where that is given."""
        fitting = (p for p in self.peaks if p.path == path and kind in (None, p.kind))
        return max(fitting, key=lambda p: p.flop_s, default=None)


@functools.cache
def measured() -> dict[str, MeasuredGpu]:
    """All measured GPUs by the id of their variant."""
    result = {}
    for row in _toml.load("measured.toml")["measured"]:
        where = f"gpus/measured.toml, {row.get('gpu', '?')}"
        keys = ("gpu", "device", "bandwidth_gb_s", "peaks")
        _toml.require(row, keys, keys, where)
        peaks = tuple(MeasuredPeak(p["path"], p["tflop_s"] * TERA, p["kind"]) for p in row["peaks"])
        if any(p.path not in PATH_NAMES or p.kind not in KINDS or p.flop_s <= 0 for p in peaks):
            msg = f"{where}: a peak has an unknown path or kind, or is not positive"
            raise RegistryError(msg)
        result[row["gpu"]] = MeasuredGpu(row["gpu"], row["device"], row["bandwidth_gb_s"] * GIGA, peaks)
    return result
