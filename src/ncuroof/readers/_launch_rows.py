"""Builds the launches table from what text files say about a launch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.readers._kernel_names import function_name, is_mangled
from ncuroof.readers._nvtx_text import parse_ranges
from ncuroof.tables import LAUNCHES, NVTX_RANGE, conform

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncuroof.readers._reading import Reading

WHO = (
    "kernel",
    "function",
    "mangled",
    "process",
    "process_text",
    "context",
    "stream",
    "device",
    "gpu",
    "cc",
    "grid",
    "block",
)
"""Columns of a table that say which launch a row is of."""

_DIGITS = r"\d+"
_UINT32 = 1 << 32
_FEW = 2000
_RANGES = pl.List(NVTX_RANGE)


def launches(
    reading: Reading, columns: dict[str, pl.Series], index: pl.Series, gpu: pl.Series | None = None
) -> pl.DataFrame:
    """The launches table of some results.

    Args:
        reading: the file.
        columns: texts as printed: ``kernel``, ``function``, ``mangled``, ``process``, ``process_text``, ``context``,
            ``stream``, ``device``, ``gpu``, ``cc``, ``grid``, ``block`` (:data:`WHO`), ``nvtx`` (joined); any may be
            missing.
        index: index of each result.
        gpu: device names found among the metrics.
    """
    data: dict[str, pl.Series] = {"result_index": index, **_names(columns), **_device(columns, gpu)}
    if "process" in columns:
        data["process_id"] = map_unique(columns["process"], whole_number, pl.UInt64)
    elif "process_text" in columns:
        data["process_id"] = columns["process_text"].str.extract(r"\[(\d+)\]", 1).cast(pl.UInt64, strict=False)
    for ours, theirs in (("context_id", "context"), ("stream_id", "stream")):
        if theirs in columns:
            data[ours] = map_unique(columns[theirs], whole_number, pl.UInt64)
    for side in ("grid", "block"):
        if side in columns:
            data.update(_numbers_of(columns[side], dimensions, [f"{side}_{axis}" for axis in "xyz"]))
    if "nvtx" in columns:
        data["nvtx"] = map_unique(columns["nvtx"], lambda t: parse_ranges(t).ranges, _RANGES)
        data["nvtx_path"] = map_unique(columns["nvtx"], lambda t: parse_ranges(t).path, pl.String)
    constants: dict[str, Any] = {
        "source": reading.file.name,
        "source_sha256": reading.file.sha256,
        "result_kind": "kernel",
        "origin": "profiled",
        "ncu_version": reading.facts.ncu_version,
        **reading.facts.settings(),
    }
    frame = pl.DataFrame([v.alias(k) for k, v in data.items()])
    frame = frame.with_columns(pl.lit(v, dtype=pl.String).alias(k) for k, v in constants.items())
    if "nvtx" not in frame.columns:
        frame = frame.with_columns(pl.lit([], dtype=_RANGES).alias("nvtx"))
    return conform(frame.with_columns(pl.col("nvtx").fill_null([])), LAUNCHES)


def _names(columns: dict[str, pl.Series]) -> dict[str, pl.Series]:
    """The three names of each kernel, as far as they are known."""
    data: dict[str, pl.Series] = {}
    if "kernel" in columns:
        names = _blank_to_null(columns["kernel"])
        mangled = map_unique(names, is_mangled, pl.Boolean)
        both = pl.DataFrame({"n": names, "m": mangled}).select(
            pl.when(~pl.col("m")).then("n").alias("demangled"), pl.when("m").then("n").alias("mangled")
        )
        data["kernel_name"] = map_unique(names, function_name, pl.String)
        data["kernel_demangled"], data["kernel_mangled"] = both["demangled"], both["mangled"]
    for ours, theirs in (("kernel_mangled", "mangled"), ("kernel_name", "function")):
        if theirs in columns:
            data[ours] = _blank_to_null(columns[theirs])
    return data


def _device(columns: dict[str, pl.Series], gpu: pl.Series | None) -> dict[str, pl.Series]:
    """Device ordinal, name and compute capability, as far as they are known."""
    data: dict[str, pl.Series] = {}
    names = [given for given in (gpu, columns.get("gpu")) if given is not None]
    if "device" in columns:
        data["device_index"] = map_unique(columns["device"], _small, pl.UInt32)
        named = columns["device"].str.contains("[A-Za-z]{3}")
        names.append(pl.select(pl.when(named).then(columns["device"])).to_series())
    if names:
        data["gpu_name"] = pl.select(pl.coalesce(*(_blank_to_null(n) for n in names))).to_series()
    if "cc" in columns:
        data.update(_numbers_of(columns["cc"], _capability, ["cc_major", "cc_minor"]))
    return data


def _numbers_of(
    values: pl.Series, function: Callable[[str], list[int | None]], names: list[str]
) -> dict[str, pl.Series]:
    """Columns of the numbers that ``function`` finds in each text; those it does not give are null."""
    found = {text: function(text) for text in values.unique().to_list() if text is not None}

    def column(place: int) -> pl.Series:
        each = {text: numbers[place] if place < len(numbers) else None for text, numbers in found.items()}
        return map_unique(values, each.__getitem__, pl.UInt32)

    return {name: column(place) for place, name in enumerate(names)}


def map_unique(values: pl.Series, function: Callable[[str], Any], dtype: Any) -> pl.Series:  # noqa: ANN401
    """``function`` applied to each text of a series, called once per distinct text; null stays null."""
    if len(values) <= _FEW:
        # Plain Python is faster than a join as long as there are few.
        texts = values.to_list()
        found = {text: function(text) for text in set(texts) if text is not None}
        return pl.Series(values.name, [found.get(text) for text in texts], dtype=dtype)
    name = values.name
    distinct = values.drop_nulls().unique()
    table = pl.DataFrame(
        {"_text": distinct, "_value": pl.Series([function(v) for v in distinct.to_list()], dtype=dtype)},
        schema={"_text": pl.String, "_value": dtype},
    )
    joined = values.alias("_text").to_frame().join(table, on="_text", how="left", maintain_order="left")
    return joined["_value"].alias(name)


def dimensions(text: str) -> list[int | None]:
    """Three sizes out of ``(32, 8, 1)``, ``32 x 8 x 1`` or ``32``; None where there is none."""
    inner = text.strip().strip("()[]{}")
    parts = [p for p in re.split(r",\s+|[x×*;]|,(?=\d{1,2}\b(?!,?\d{3}))", inner) if p.strip()]
    if len(parts) == 1 and inner.count(",") == 2:
        parts = inner.split(",")
    sizes: list[int | None] = []
    for part in parts[:3]:
        digits = "".join(re.findall(_DIGITS, part))
        sizes.append(int(digits) if digits and int(digits) < _UINT32 else None)
    if not sizes:
        return [None, None, None]
    return sizes + [1] * (3 - len(sizes))


def whole_number(text: str) -> int | None:
    """The number a text such as ``7`` or ``1,024`` stands for; None if it is none."""
    digits = "".join(c for c in text if c.isdigit())
    if not digits or len(digits) > 19 or not all(c.isdigit() or c in " .,'_" for c in text.strip()):
        return None
    return int(digits)


def _small(text: str) -> int | None:
    number = whole_number(text)
    return number if number is not None and number < _UINT32 else None


def _capability(text: str) -> list[int | None]:
    digits = re.match(r"\s*(\d{1,2})[.,](\d{1,2})\s*$", text)
    return [int(digits[1]), int(digits[2])] if digits else [None, None]


def _blank_to_null(values: pl.Series) -> pl.Series:
    stripped = values.str.strip_chars()
    return pl.select(pl.when(stripped != "").then(stripped)).to_series()
