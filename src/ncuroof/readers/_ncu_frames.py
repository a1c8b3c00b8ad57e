"""Builds the tables of a chunk from decoded results of a binary report.

The same names, NVTX states and rule messages recur in result after result, so each is decoded once and the columns
are gathered from the distinct ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ncuroof.model import Chunk
from ncuroof.ncurep.fields import Distinct, members
from ncuroof.ncurep.nsight_rules import Item, read_rule
from ncuroof.ncurep.nvtx import read_state
from ncuroof.ncurep.scalars import INTEGER, NUMBER, TEXT
from ncuroof.ncurep.session import Device, Facts, text
from ncuroof.ncurep.units import unit_of
from ncuroof.tables import FOCUS_METRIC, LAUNCHES, METRICS, NSIGHT_RULES, NVTX_RANGE, conform, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ncuroof.inputs import InputFile
    from ncuroof.ncurep.results import Batch
    from ncuroof.ncurep.stored import Stored

# Metrics that the launches table itself needs, whatever the caller wants.
_SIZES = {f"{size}_{axis}": f"launch__{size}_dim_{axis}" for size in ("grid", "block") for axis in "xyz"}
_GRID_SIZE = "launch__grid_size"
_GPU = "device__attribute_display_name"
_DEVICE = {
    "cc_major": "device__attribute_compute_capability_major",
    "cc_minor": "device__attribute_compute_capability_minor",
    "device_index": "device__attribute_device_index",
}
_LAUNCH = frozenset({*_SIZES.values(), *_DEVICE.values(), _GPU, _GRID_SIZE})


class Names:
    """The string table as text, with the unit of each name and whether its values are needed.

    Attributes:
        names: all strings, by id.
        ids: text to its first id.
        canonical: by id, the first id with the same text.
        wanted: by id, whether its values are needed, and one more, true, for ids beyond the table; None for all.
        series: all strings, by id.
        units: by id, the unit that the name implies.
    """

    def __init__(self, strings: Sequence[bytes], want: frozenset[str] | None) -> None:
        self.names = [text(s) for s in strings]
        self.ids: dict[str, int] = {}
        self.canonical = np.array([self.ids.setdefault(n, i) for i, n in enumerate(self.names)], np.int64)
        self.wanted: NDArray[np.bool_] | None = None
        if want is not None:
            needed = want | _LAUNCH
            self.wanted = np.array([*(n in needed for n in self.names), True], bool)
        self.series = pl.Series(self.names, dtype=pl.String)
        self.units = pl.Series([unit_of(n) for n in self.names], dtype=pl.String)


class Builder:
    """Builds chunk after chunk of one report.

    Attributes:
        driver_version: of the session, or the last one that a result told.
    """

    def __init__(self, file: InputFile, facts: Facts, names: Names) -> None:
        self.driver_version = facts.driver_version
        self._file = file
        self._facts = facts
        self._names = names
        self._text = _remember(text)
        self._state = _remember(read_state)
        self._rule = _remember(read_rule)

    def chunk(self, first: int, batch: Batch) -> Chunk:
        """The tables of a batch of results.

        Args:
            first: index of the first of them in the report.
            batch: the results, at least one.

        Raises:
            google.protobuf.message.DecodeError: for an NVTX state or a rule result that cannot be decoded.
        """
        ids = self._names.canonical[batch.scalars.name_id]
        return Chunk(
            self._launches(first, batch, _Picked(self._names.ids, ids, batch)),
            self._metrics(first, ids, batch),
            self._rules(first, batch),
        )

    def _metrics(self, first: int, ids: NDArray[np.int64], batch: Batch) -> pl.DataFrame:
        scalars = batch.scalars
        if not len(ids):
            return empty(METRICS)
        columns = {
            "result_index": pl.Series((batch.owner + first).astype(np.uint32)),
            "metric": self._names.series.gather(ids),
            "value": pl.Series(scalars.number),
            "value_int": pl.Series(scalars.integer),
            "unit": self._names.units.gather(ids),
            "kind": pl.Series(scalars.kind),
        }
        frame = pl.DataFrame(columns)
        said = pl.Series("text", [None], dtype=pl.String).new_from_index(0, len(ids))
        if scalars.texts:
            said = said.scatter(list(scalars.texts), [self._text(raw) for raw in scalars.texts.values()])
        frame = frame.with_columns(said)
        keep = _last_of_each(ids, batch.owner, len(batch.kinds), len(self._names.names))
        if keep is not None:
            frame = frame.filter(pl.Series(keep))
        kind = pl.col("kind")
        return frame.select(
            pl.lit(self._file.sha256).alias("source_sha256"),
            "result_index",
            "metric",
            pl.when((kind == NUMBER) | (kind == INTEGER)).then("value").alias("value"),
            pl.when(kind == INTEGER).then("value_int").alias("value_int"),
            "text",
            "unit",
        )

    def _launches(self, first: int, batch: Batch, picked: _Picked) -> pl.DataFrame:
        facts, stored = self._facts, batch.stored
        count = len(batch.kinds)
        names = {name: self._names_of(stored.texts[name]) for name in ("function", "demangled", "mangled")}
        states = [self._state(raw) for raw in stored.texts["nvtx"].values]
        drivers = pl.Series([facts.driver_version], dtype=pl.String).new_from_index(0, count)
        if facts.driver_version is None and not np.isnan(stored.driver).all():
            told = [None if np.isnan(d) else _driver(d) for d in stored.driver.tolist()]
            self.driver_version = next((d for d in reversed(told) if d is not None), self.driver_version)
            drivers = pl.Series(told, dtype=pl.String)
        columns: dict[str, Any] = {
            "result_index": np.arange(first, first + count, dtype=np.uint32),
            "result_kind": batch.kinds,
            "kernel_name": pl.select(pl.coalesce(*names.values())).to_series(),
            "kernel_demangled": names["demangled"],
            "kernel_mangled": names["mangled"],
            "process_id": _where(*stored.numbers["pid"]),
            "context_id": _where(*stored.numbers["context"]),
            "stream_id": _where(*stored.numbers["stream"]),
            "nvtx_path": _gather(pl.Series([s.path for s in states], dtype=pl.String), stored.texts["nvtx"]),
            "nvtx": _gather(_lists([s.ranges for s in states], NVTX_RANGE), stored.texts["nvtx"]),
            "driver_version": drivers,
        }
        columns.update(_sizes(picked, stored, old=facts.ncu_version is None))
        columns.update(self._gpus(picked))
        same: dict[str, str | None] = {
            "source": self._file.name,
            "source_sha256": self._file.sha256,
            "ncu_version": facts.ncu_version,
            "cuda_version": facts.cuda_version,
            "origin": facts.origin,
        }
        for setting, (value, source) in facts.settings.items():
            same[setting], same[f"{setting}_source"] = value, source
        frame = pl.DataFrame({k: v if isinstance(v, pl.Series) else pl.Series(k, v) for k, v in columns.items()})
        frame = frame.with_columns(pl.lit(value, dtype=pl.String).alias(name) for name, value in same.items())
        return conform(frame, LAUNCHES)

    def _names_of(self, names: Distinct) -> pl.Series:
        """Names as text; null for empty ones."""
        return _gather(pl.Series([self._text(raw) or None for raw in names.values], dtype=pl.String), names)

    def _gpus(self, picked: _Picked) -> dict[str, Any]:
        """GPU name, compute capability and device ordinal of each result.

        A result that does not tell its GPU takes it from the session, where that has only one it could be.
        """
        names = Distinct.of(picked.texts(_GPU))
        # The last one stands for the results that tell no name; it is also what place -1 means to NumPy.
        told = [*(self._text(raw) for raw in names.values), None]
        devices = [_device(self._facts.devices, name) for name in told]
        known = [device.name if name is None and device else name for name, device in zip(told, devices, strict=True)]
        places = pl.Series((names.places % len(told)).astype(np.uint32))
        columns: dict[str, Any] = {"gpu_name": pl.Series(known, dtype=pl.String).gather(places)}
        for column, metric in _DEVICE.items():
            values = [device.attributes.get(metric) if device else None for device in devices]
            stored = np.array([float(v) if isinstance(v, (int, float)) else np.nan for v in values])
            if column == "device_index":
                indices = np.array([device.index if device else np.nan for device in devices])
                stored = np.where(np.isnan(stored), indices, stored)
            numbers = picked.numbers(metric)
            missing = np.isnan(numbers)
            numbers[missing] = stored[names.places[missing]]
            columns[column] = _integers(numbers)
        return columns

    def _rules(self, first: int, batch: Batch) -> pl.DataFrame:
        rules = batch.stored.rules
        if not len(rules.places):
            return empty(NSIGHT_RULES)
        distinct = [self._rule(raw) for raw in rules.values]
        picked = rules.places
        length = np.array([len(items) for items in distinct])
        # For each rule result the rows of all of its items, in order.
        rows = members(length, picked)
        owner = np.repeat((batch.stored.rule_owner + first).astype(np.uint32), length[picked])
        frame = _item_frame([item for items in distinct for item in items])[rows]
        return conform(
            frame.with_columns(
                pl.lit(self._file.sha256).alias("source_sha256"),
                pl.Series("result_index", owner),
            ),
            NSIGHT_RULES,
        )


class _Picked:
    """The few metrics that the launches table needs, one value per result; None where a result lacks one."""

    def __init__(self, numbers: dict[str, int], ids: NDArray[np.int64], batch: Batch) -> None:
        self._count = len(batch.kinds)
        self._scalars = batch.scalars
        self._owner = batch.owner
        needed = {numbers[name]: name for name in _LAUNCH if name in numbers}
        lookup = np.zeros(max(numbers.values(), default=0) + 1, bool)
        lookup[list(needed)] = True
        places = np.flatnonzero(lookup[ids])
        self._places = {name: places[ids[places] == number] for number, name in needed.items()}

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Numbers; NaN where a result has none."""
        values = np.full(self._count, np.nan)
        places = self._places.get(name)
        if places is not None:
            kind = self._scalars.kind[places]
            places = places[(kind == NUMBER) | (kind == INTEGER)]
            values[self._owner[places]] = self._scalars.number[places]
        return values

    def texts(self, name: str) -> list[bytes | None]:
        """Texts as bytes."""
        values: list[bytes | None] = [None] * self._count
        for place in self._places.get(name, np.empty(0, np.int64)).tolist():
            if self._scalars.kind[place] == TEXT:
                values[int(self._owner[place])] = self._scalars.texts[place]
        return values


def _remember(function: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """``function`` with a memory that forgets everything when it has grown large, so that it stays bounded."""
    known: dict[bytes, Any] = {}

    def remembering(raw: bytes) -> Any:  # noqa: ANN401
        found = known.get(raw)
        if found is None:
            if len(known) > 4096:
                known.clear()
            found = known[raw] = function(raw)
        return found

    return remembering


def _where(values: NDArray[Any], there: NDArray[np.bool_]) -> pl.Series:
    """A column of values that are not there everywhere."""
    series = pl.Series(values)
    return series if there.all() else pl.select(pl.when(pl.Series(there)).then(series)).to_series()


def _gather(values: pl.Series, strings: Distinct) -> pl.Series:
    """A column from what was made of each distinct string; null where there was none."""
    there = strings.places >= 0
    if not there.any():
        return pl.Series([None], dtype=values.dtype).new_from_index(0, len(there))
    return values.gather(_where(strings.places.clip(0).astype(np.uint32), there))


def _integers(numbers: NDArray[np.float64]) -> pl.Series:
    """Numbers that fit 32 bits unsigned, as such; null for all others, since a damaged report may hold anything."""
    fitting = (numbers >= 0) & (numbers < 1 << 32)
    whole = np.where(fitting, numbers, 0).astype(np.uint32)
    return _where(whole, fitting)


def _sizes(picked: _Picked, held: Stored, *, old: bool) -> dict[str, pl.Series]:
    """Grid and block along each axis; null where not known.

    The metrics are right wherever they are. Where they are missing, the result's own fields stand in; but there reports
    of 2019 (``old``: those that tell no version), and one version of 2020, store the grid in threads, not in blocks.
    """
    sizes = {column: picked.numbers(metric) for column, metric in _SIZES.items()}
    missing = np.flatnonzero(np.any([np.isnan(values) for values in sizes.values()], axis=0))
    grid_size = picked.numbers(_GRID_SIZE)
    for place in missing.tolist():
        head = held.head(place)
        stored = {s: [getattr(getattr(head, s), axis) for axis in "xyz"] for s in ("grid", "block")}
        grid = _grid(stored["grid"], stored["block"], grid_size[place], old=old)
        for column, value in zip(_SIZES, (*grid, *stored["block"]), strict=True):
            if np.isnan(sizes[column][place]):
                sizes[column][place] = value or np.nan
    return {column: _integers(values) for column, values in sizes.items()}


def _grid(stored: list[int], block: list[int], size: float, *, old: bool) -> list[int]:
    """The grid in blocks, from the stored one, the block, and the number of blocks if known; zeros where not known."""
    whole = all(block) and not any(s % b for s, b in zip(stored, block, strict=True))
    divided = [s // b for s, b in zip(stored, block, strict=True)] if whole else [0, 0, 0]
    if np.isnan(size):
        return divided if old else stored
    return next((g for g in (stored, divided) if math.prod(g) == size), [0, 0, 0])


def _driver(version: float) -> str:
    """A driver version as it is written, 576.40 or 580.126, from the float that results store."""
    return f"{version:.3f}".removesuffix("0")


def _device(devices: Sequence[Device], name: str | None) -> Device | None:
    """The session's device of that name, or its only one; None where that is not clear."""
    same = [d for d in devices if name in (None, d.name, d.attributes.get(_GPU))]
    return same[0] if len(same) == 1 else None


def _item_frame(items: Sequence[Item]) -> pl.DataFrame:
    """One row per rule message."""
    focus = _lists([item.focus for item in items], FOCUS_METRIC).alias("focus")
    own = [c for c in NSIGHT_RULES if c.name not in ("source_sha256", "result_index", "focus")]
    columns = [pl.Series(c.name, [getattr(item, c.name) for item in items], dtype=c.dtype) for c in own]
    return pl.DataFrame([*columns, focus])


def _lists(rows: Sequence[Sequence[dict[str, Any]]], kind: pl.Struct) -> pl.Series:
    """A list column from rows of dictionaries, built flat: a series per row would cost 50 µs each."""
    flat = [one for row in rows for one in row]
    content = pl.DataFrame(flat, schema=dict(kind), orient="row").to_struct("item")
    owner = np.repeat(np.arange(len(rows), dtype=np.uint32), [len(row) for row in rows])
    grouped = pl.DataFrame([pl.Series("owner", owner), content]).group_by("owner", maintain_order=True).agg("item")
    whole = pl.DataFrame({"owner": np.arange(len(rows), dtype=np.uint32)})
    joined = whole.join(grouped, on="owner", how="left", maintain_order="left")
    return joined.select(pl.col("item").fill_null(pl.lit([], dtype=pl.List(kind)))).to_series()


def _last_of_each(
    ids: NDArray[np.int64], owner: NDArray[np.int64], results: int, names: int
) -> NDArray[np.bool_] | None:
    """Which scalars to keep where a result has a metric twice (the last one counts); None where none has."""
    used = np.zeros(names, bool)
    used[ids] = True
    width = int(used.sum())
    key = owner * width + (np.cumsum(used) - 1)[ids]
    taken = np.zeros(results * width, bool)
    taken[key] = True
    if np.count_nonzero(taken) == len(ids):
        return None
    place = np.arange(len(ids))
    last = np.full(results * width, -1, np.int64)
    last[key] = place
    keep: NDArray[np.bool_] = last[key] == place
    return keep
