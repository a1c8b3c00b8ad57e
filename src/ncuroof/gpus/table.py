"""Rows of ``variants/*.toml``: one per exact product, with what its data sheet and its device attributes say."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from ncuroof.errors import RegistryError
from ncuroof.gpus import _toml
from ncuroof.gpus.architectures import parse_cc
from ncuroof.paths import PATH_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

TERA, GIGA, MEGA, GIBI, MEBI = 1e12, 1e9, 1e6, 2**30, 2**20

NEEDED = ("id", "name", "family", "vendor", "chip", "memory_gib", "names", "source")
OPTIONAL = (
    "default", "cc", "sms", "driver_name", "boost_mhz", "peak_mhz", "tensor_mhz", "bus_bits", "memory_mhz",
    "bandwidth_gb_s", "l2_mib", "dense", "sparse", "dense_fp16_accumulate", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Gpu:
    """One exact variant. Unknown is None, or absent from the mappings.

    Attributes:
        id: short name, unique, as ``--gpu`` takes it.
        name: name for people.
        family: the product line a bare name such as ``H100`` refers to.
        default: whether the bare family name means this variant on the command line.
        vendor: nvidia or amd.
        chip: name of the die.
        cc: compute capability; None for other vendors.
        sms: SMs (compute units); None where no source tells.
        memory_bytes: nominal DRAM size in byte; a driver reports up to 12 % less.
        names: regular expressions for device names (matched in full, prefixes such as NVIDIA removed).
        driver_name: the name the driver gives, as an example of ``names``.
        clock_hz: highest SM clock as the device attribute says, else as the data sheet says.
        peak_hz: clock behind the data sheet's CUDA core peaks.
        tensor_hz: clock behind its tensor peaks.
        bus_bits: DRAM bus width.
        memory_hz: DRAM clock as the device attribute gives it; the data rate is twice that.
        bytes_s: DRAM bandwidth in byte/s as the data sheet says.
        l2_bytes: L2 size.
        dense: path to dense FLOP/s as the data sheet says, with FP32 accumulation.
        sparse: path to FLOP/s with 2:4 structured sparsity. Never a roof of a dense kernel.
        dense_fp16_accumulate: dense FLOP/s with FP16 accumulation, where it differs.
        source: topic (peaks, bandwidth, device) to where the numbers come from.
        note: what else to know.
    """

    id: str
    name: str
    family: str
    default: bool
    vendor: str
    chip: str
    cc: tuple[int, int] | None
    sms: int | None
    memory_bytes: float
    names: tuple[re.Pattern[str], ...]
    driver_name: str | None
    clock_hz: float | None
    peak_hz: float | None
    tensor_hz: float | None
    bus_bits: int | None
    memory_hz: float | None
    bytes_s: float | None
    l2_bytes: float | None
    dense: Mapping[str, float]
    sparse: Mapping[str, float]
    dense_fp16_accumulate: Mapping[str, float]
    source: Mapping[str, str]
    note: str

    @property
    def nominal_bytes_s(self) -> float | None:
        """Bandwidth from the attributes: clock × 2 × bus width / 8."""
        if self.memory_hz is None or self.bus_bits is None:
            return None
        return self.memory_hz * 2 * self.bus_bits / 8


def _scaled(row: Mapping[str, Any], key: str, factor: float) -> float | None:
    return row[key] * factor if key in row else None


def _rates(row: Mapping[str, Any], key: str, where: str) -> dict[str, float]:
    wrong = [path for path, value in row.get(key, {}).items() if path not in PATH_NAMES or value <= 0]
    if wrong:
        msg = f"{where}: {key} has {', '.join(wrong)}, which is no path or not positive"
        raise RegistryError(msg)
    return {path: value * TERA for path, value in row.get(key, {}).items()}


def _row(row: Mapping[str, Any], file: str) -> Gpu:
    where = f"gpus/variants/{file}, {row.get('id', '?')}"
    _toml.require(row, (*NEEDED, *OPTIONAL), NEEDED, where)
    boost = _scaled(row, "boost_mhz", MEGA)
    return Gpu(
        id=row["id"],
        name=row["name"],
        family=row["family"],
        default=row.get("default", False),
        vendor=row["vendor"],
        chip=row["chip"],
        cc=parse_cc(row["cc"]) if "cc" in row else None,
        sms=row.get("sms"),
        memory_bytes=row["memory_gib"] * GIBI,
        names=tuple(re.compile(name, re.IGNORECASE) for name in row["names"]),
        driver_name=row.get("driver_name"),
        clock_hz=boost,
        peak_hz=_scaled(row, "peak_mhz", MEGA) or boost,
        tensor_hz=_scaled(row, "tensor_mhz", MEGA) or _scaled(row, "peak_mhz", MEGA) or boost,
        bus_bits=row.get("bus_bits"),
        memory_hz=_scaled(row, "memory_mhz", MEGA),
        bytes_s=_scaled(row, "bandwidth_gb_s", GIGA),
        l2_bytes=_scaled(row, "l2_mib", MEBI),
        dense=_rates(row, "dense", where),
        sparse=_rates(row, "sparse", where),
        dense_fp16_accumulate=_rates(row, "dense_fp16_accumulate", where),
        source=row["source"],
        note=row.get("note", ""),
    )


@functools.cache
def variants() -> tuple[Gpu, ...]:
    """All variants, file by file.

    Raises:
        RegistryError: naming the row that is not whole, or an id that occurs twice.
    """
    folder = resources.files("ncuroof.gpus").joinpath("variants")
    files = sorted(f.name for f in folder.iterdir() if f.name.endswith(".toml"))
    rows = [_row(row, file) for file in files for row in _toml.load("variants", file)["gpu"]]
    seen: set[str] = set()
    for gpu in rows:
        if gpu.id in seen:
            msg = f"gpus/variants: {gpu.id} occurs twice"
            raise RegistryError(msg)
        seen.add(gpu.id)
    return tuple(rows)
