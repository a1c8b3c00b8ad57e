"""What the tables know about each distinct device: one row per device, never one per kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import gpus
from ncuroof.gpus.measured import KINDS, MATMUL
from ncuroof.paths import PATH_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncuroof.roofs.record import Roof

KEYS: dict[str, pl.DataType] = {
    "gpu_name": pl.String(),
    "cc_major": pl.UInt32(),
    "cc_minor": pl.UInt32(),
    "sm_count": pl.UInt32(),
    "dram_size_bytes": pl.Float64(),
}
"""Columns of the kernels table by which devices are told apart."""

PEAK_CLOCK_PATHS = ("fp64", "fp64_tensor", "fp32", "fp16_vector")
"""Paths whose data sheet peaks are at the CUDA core clock; the other tensor peaks may be at a lower one."""

AGREEMENT = 0.005
"""Candidates of an ambiguous device whose values differ by less than this count as one."""


def table(kernels: pl.DataFrame, user: Sequence[Roof] = ()) -> tuple[pl.DataFrame, pl.Series]:
    """What is known about each distinct device.

    Args:
        kernels: has the columns of :data:`KEYS` (see :func:`complete`).
        user: roofs of the user's file.

    Returns:
        A frame with one row per distinct device, and for each kernel the number of its row.
        Columns: ``<kind>_<path>`` and ``<kind>_<path>_source`` for kind ``user``, ``measured``, ``datasheet`` and each
        path or level (``dram``, ``l2``, ``l1``); ``matmul_<path>`` likewise (the highest matrix product measured);
        ``rate_<path>`` (dense FLOP per SM and cycle); ``clock_hz``, ``sms``, ``nominal_bytes_s`` from the table;
        ``device_note``.
    """
    # A joined text is the key, because nulls must compare equal and no device column may be lost.
    key = kernels.select(
        pl.concat_str([pl.col(name).cast(pl.String).fill_null("") for name in KEYS], separator="\x1f").alias("key")
    )["key"]
    number = (key.rank("dense").cast(pl.UInt32) - 1).alias("device")
    distinct = kernels.select(list(KEYS)).with_columns(number).unique("device").sort("device")
    rows = [describe(row, user) for row in distinct.iter_rows(named=True)]
    return pl.DataFrame(rows, schema=_schema(), orient="row"), number


def _schema() -> dict[str, pl.DataType]:
    schema: dict[str, pl.DataType] = {}
    for target in (*PATH_NAMES, "dram", "l2", "l1"):
        for kind in ("user", "measured", "datasheet"):
            schema[f"{kind}_{target}"] = pl.Float64()
            schema[f"{kind}_{target}_source"] = pl.String()
    for path in PATH_NAMES:
        schema |= {f"matmul_{path}": pl.Float64(), f"matmul_{path}_source": pl.String()}
        schema |= {f"rate_{path}": pl.Float64()}
    return schema | {
        "rates_source": pl.String(),
        "table_clock_hz": pl.Float64(),
        "table_sms": pl.Float64(),
        "table_nominal_bytes_s": pl.Float64(),
        "memory_attributes": pl.Boolean(),
        "device_note": pl.String(),
    }


def identify(row: Mapping[str, object]) -> gpus.Match:
    """The variant of one row of the device columns."""
    major, minor = row["cc_major"], row["cc_minor"]
    cc = (int(str(major)), int(str(minor))) if major is not None and minor is not None else None
    sms, size = row["sm_count"], row["dram_size_bytes"]
    return gpus.match(
        None if row["gpu_name"] is None else str(row["gpu_name"]),
        cc,
        None if sms is None else int(str(sms)),
        None if size is None else float(str(size)),
    )


def describe(row: Mapping[str, object], user: Sequence[Roof] = ()) -> dict[str, object]:
    """One row of :func:`table`."""
    found = identify(row)
    candidates = [found.gpu] if found.gpu else list(found.candidates)
    result: dict[str, object] = dict.fromkeys(_schema())
    result["device_note"] = None if found.kind == "exact" else found.reason
    _put_measured(result, found.gpu)
    _put_datasheet(result, candidates)
    for roof in user:
        # The first entry of a target wins: the loader puts the more specific entries first.
        target = roof.path or roof.level
        if roof.dense and result[f"user_{target}"] is None and _is_for(roof.gpu, row, found):
            result[f"user_{target}"] = roof.value
            result[f"user_{target}_source"] = f"{roof.source}: {roof.citation}"
    _put_rates(result, row, candidates)
    if found.gpu:
        result["table_clock_hz"] = found.gpu.clock_hz
        result["table_sms"] = None if found.gpu.sms is None else float(found.gpu.sms)
        result["table_nominal_bytes_s"] = found.gpu.nominal_bytes_s
    return result


def _put_measured(result: dict[str, object], gpu: gpus.Gpu | None) -> None:
    known = gpus.measured().get(gpu.id) if gpu else None
    if gpu is None or known is None:
        return
    result["measured_dram"] = known.bytes_s
    result["measured_dram_source"] = f"measured: highest data-moving kernel on {known.device}"
    for path in PATH_NAMES:
        for name, best in (("measured", known.best(path)), ("matmul", known.best(path, MATMUL))):
            if best:
                result[f"{name}_{path}"] = best.flop_s
                result[f"{name}_{path}_source"] = f"measured: {KINDS[best.kind].split(',')[0]} on {known.device}"


def _put_datasheet(result: dict[str, object], candidates: Sequence[gpus.Gpu]) -> None:
    for path in PATH_NAMES:
        value = _agreed(gpu.dense.get(path) for gpu in candidates)
        if value is not None:
            result[f"datasheet_{path}"] = value
            result[f"datasheet_{path}_source"] = f"datasheet: {_names(candidates)}, dense"
        elif len(candidates) == 1:
            _put_boost_peak(result, path, candidates[0])
    value = _agreed(gpu.bytes_s for gpu in candidates)
    if value is not None:
        result["datasheet_dram"] = value
        result["datasheet_dram_source"] = f"datasheet: {_names(candidates)}"


def _put_boost_peak(result: dict[str, object], path: str, gpu: gpus.Gpu) -> None:
    """A path the data sheet does not print: SMs × dense rate × the clock behind the peaks that it does print."""
    known = gpus.architecture(gpu.cc, gpu.driver_name or gpu.name)
    clock = gpu.peak_hz if path in PEAK_CLOCK_PATHS else gpu.tensor_hz
    if known and clock and gpu.sms and path in known.rates:
        result[f"datasheet_{path}"] = gpu.sms * known.rates[path] * clock
        result[f"datasheet_{path}_source"] = f"datasheet: {gpu.name}, SMs × dense rate per cycle × boost clock"


def _put_rates(result: dict[str, object], row: Mapping[str, object], candidates: Sequence[gpus.Gpu]) -> None:
    major, minor = row["cc_major"], row["cc_minor"]
    cc = (int(str(major)), int(str(minor))) if major is not None and minor is not None else None
    if cc is None and candidates and all(gpu.cc == candidates[0].cc for gpu in candidates):
        cc = candidates[0].cc
    # The candidates decide, because a report may hold a short form such as "T4"; else the name itself.
    classes = [known for g in candidates if (known := gpus.architecture(g.cc, g.driver_name))]
    distinct = list({known.product_class: known for known in classes}.values())
    name = row["gpu_name"]
    known = gpus.shared(distinct) if distinct else gpus.architecture(cc, None if name is None else str(name))
    if known:
        for path, rate in known.rates.items():
            result[f"rate_{path}"] = float(rate)
        result["rates_source"] = known.product_class
        result["memory_attributes"] = known.memory_attributes


def _agreed(values: Iterable[float | None]) -> float | None:
    """The common value of all candidates, None where one is unknown or differs."""
    known = list(values)
    if not known or any(v is None for v in known):
        return None
    numbers = [v for v in known if v is not None]
    low, high = min(numbers), max(numbers)
    return low if high <= low * (1 + AGREEMENT) else None


def _names(candidates: Sequence[gpus.Gpu]) -> str:
    if len(candidates) == 1:
        return candidates[0].name
    return f"{candidates[0].name} and {len(candidates) - 1} other candidates agree"


def _is_for(wanted: str, row: Mapping[str, object], found: gpus.Match) -> bool:
    """Whether a user's roof for ``wanted`` (device name, variant id or name) holds for this device."""
    if row["gpu_name"] is not None and wanted.lower() == str(row["gpu_name"]).lower():
        return True
    meant = gpus.find(wanted)
    return meant.gpu is not None and found.gpu is not None and meant.gpu.id == found.gpu.id
