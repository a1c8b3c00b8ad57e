"""Builds the tables of a chunk from decoded results of a binary report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from google.protobuf.message import DecodeError

from ncuroof.model import Chunk
from ncuroof.ncurep import container, nsight_rules, nvtx
from ncuroof.ncurep.scalars import INTEGER, NUMBER, TEXT, Scalars
from ncuroof.ncurep.session import Device, Facts, text
from ncuroof.ncurep.units import unit_of
from ncuroof.tables import LAUNCHES, METRICS, NSIGHT_RULES, conform, schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ncuroof.inputs import InputFile

    Batch = Sequence[tuple[container.Entry, Any]]

# Metrics that the launches table itself needs, whatever the caller wants.
_GRID = tuple(f"launch__grid_dim_{axis}" for axis in "xyz")
_BLOCK = tuple(f"launch__block_dim_{axis}" for axis in "xyz")
_GPU = "device__attribute_display_name"
_CC = ("device__attribute_compute_capability_major", "device__attribute_compute_capability_minor")
_LAUNCH = frozenset({*_GRID, *_BLOCK, *_CC, _GPU})


class Names:
    """The string table as text, with the unit of each name and whether its values are needed.

    Attributes:
        names: all strings, by id.
        wanted: by id; None where everything is.
        canonical: by id, the first id with the same text.
    """

    def __init__(self, strings: list[bytes], want: frozenset[str] | None) -> None:
        self.names = [text(s) for s in strings]
        first: dict[str, int] = {}
        self.canonical = np.array([first.setdefault(n, i) for i, n in enumerate(self.names)], np.int64)
        self.ids = first
        self.wanted: NDArray[np.bool_] | None = None
        if want is not None:
            needed = want | _LAUNCH
            self.wanted = np.array([n in needed for n in self.names], bool)
        self.series = pl.Series(self.names, dtype=pl.String)
        self.units = pl.Series([unit_of(n) for n in self.names], dtype=pl.String)


class Builder:
    """Builds chunk after chunk of one report."""

    def __init__(self, file: InputFile, facts: Facts, table: Names) -> None:
        self.file = file
        self.facts = facts
        self.table = table
        self.driver_version: str | None = facts.driver_version
        self._texts: dict[bytes, str] = {}
        self._states: dict[bytes, nvtx.State] = {}
        self._rules: dict[bytes, list[nsight_rules.Item]] = {}

    def chunk(self, first: int, batch: Batch, scalars: Scalars, owner: NDArray[np.uint32]) -> Chunk:
        """The tables of these results.

        Args:
            first: index of the first of them in the report.
            batch: entry and decoded message of each.
            scalars: all their scalars.
            owner: for each scalar the position of its result in ``batch``.
        """
        ids = self.table.canonical[scalars.name_id] if len(scalars.name_id) else scalars.name_id
        keep = _last_of_each(ids, owner, len(batch), len(self.table.names))
        texts = (
            pl.Series([None], dtype=pl.String).new_from_index(0, len(ids))
            if len(ids)
            else pl.Series([], dtype=pl.String)
        )
        if scalars.texts:
            places = list(scalars.texts)
            texts = texts.scatter(places, [self._text(raw) for raw in scalars.texts.values()])
        frame = (
            pl.DataFrame(
                {
                    "result_index": owner + np.uint32(first),
                    "metric": self.table.series.gather(ids),
                    "value": scalars.number,
                    "value_int": scalars.integer,
                    "text": texts,
                    "unit": self.table.units.gather(ids),
                    "kind": scalars.kind,
                    "keep": keep if keep is not None else True,
                }
            )
            if len(ids)
            else pl.DataFrame()
        )
        if len(ids):
            if keep is not None:
                frame = frame.filter("keep")
            kind = pl.col("kind")
            metrics = frame.select(
                pl.lit(self.file.sha256).alias("source_sha256"),
                "result_index",
                "metric",
                pl.when(kind.is_in([NUMBER, INTEGER])).then("value").alias("value"),
                pl.when(kind == INTEGER).then("value_int").alias("value_int"),
                "text",
                "unit",
            )
        else:
            metrics = pl.DataFrame(schema=schema(METRICS))
        special = self._special(ids, scalars, owner, len(batch))
        try:
            return Chunk(self._launches(first, batch, special), metrics, self._rule_rows(first, batch))
        except DecodeError:
            fault = "NVTX ranges or rule results that cannot be decoded, in the results from here on"
            raise container.damaged(self.file.name, batch[0][0].offset, fault) from None

    def _text(self, raw: bytes) -> str:
        found = self._texts.get(raw)
        if found is None:
            found = self._texts[raw] = text(raw)
        return found

    def _special(
        self, ids: NDArray[np.int64], scalars: Scalars, owner: NDArray[np.uint32], count: int
    ) -> dict[str, list[Any]]:
        """The metrics that the launches table needs: name to one value per result, None where absent."""
        found: dict[str, list[Any]] = {}
        for name in _LAUNCH:
            values: list[Any] = [None] * count
            number = self.table.ids.get(name)
            if number is not None:
                for place in np.flatnonzero(ids == number).tolist():
                    kind = scalars.kind[place]
                    if kind == TEXT:
                        value: Any = self._text(scalars.texts[place])
                    elif kind == INTEGER:
                        value = int(scalars.integer[place])
                    elif kind == NUMBER and np.isfinite(scalars.number[place]):
                        value = int(scalars.number[place])
                    else:
                        value = None
                    values[int(owner[place])] = value
            found[name] = values
        return found

    def _launches(self, first: int, batch: Batch, special: dict[str, list[Any]]) -> pl.DataFrame:
        facts = self.facts
        rows: dict[str, list[Any]] = {c.name: [] for c in LAUNCHES}
        for place, (entry, result) in enumerate(batch):
            function, demangled, mangled = (
                text(raw) or None for raw in (result.function, result.demangled, result.mangled)
            )
            state = self._state(result.nvtx) if result.HasField("nvtx") else None
            gpu, cc, device = self._gpu(place, special)
            driver = facts.driver_version
            if driver is None and result.HasField("driver_version"):
                driver = f"{result.driver_version:.2f}"
                self.driver_version = driver
            row: dict[str, Any] = {
                "source": self.file.name,
                "source_sha256": self.file.sha256,
                "result_index": first + place,
                "result_kind": entry.kind,
                "kernel_name": function or demangled or mangled,
                "kernel_demangled": demangled,
                "kernel_mangled": mangled,
                "process_id": result.pid if result.HasField("pid") else None,
                "context_id": result.context if result.HasField("context") else None,
                "stream_id": result.stream if result.HasField("stream") else None,
                "device_index": device,
                "gpu_name": gpu,
                "cc_major": cc[0],
                "cc_minor": cc[1],
                "nvtx_path": state.path if state else None,
                "nvtx": state.ranges if state else [],
                "ncu_version": facts.ncu_version,
                "cuda_version": facts.cuda_version,
                "driver_version": driver,
                "origin": facts.origin,
            }
            for setting, (value, source) in facts.settings.items():
                row[setting] = value
                row[f"{setting}_source"] = source
            for names, size, prefix in ((_GRID, "grid", "grid"), (_BLOCK, "block", "block")):
                stored = getattr(result, size) if result.HasField(size) else None
                for axis, name in zip("xyz", names, strict=True):
                    value = special[name][place]
                    if value is None and stored is not None:
                        value = getattr(stored, axis)
                    row[f"{prefix}_{axis}"] = value if value is not None and 0 <= value < 1 << 32 else None
            for column, values in rows.items():
                values.append(row.get(column))
        return pl.DataFrame(rows, schema=schema(LAUNCHES))

    def _gpu(self, place: int, special: dict[str, list[Any]]) -> tuple[str | None, tuple[Any, Any], int | None]:
        """GPU name, compute capability and device ordinal of a result."""
        name = special[_GPU][place]
        cc = (special[_CC[0]][place], special[_CC[1]][place])
        devices = self.facts.devices
        same = [d for d in devices if name is None or d.name == name or _attribute(d, _GPU) == name]
        device = same[0] if len(same) == 1 else devices[0] if len(devices) == 1 else None
        if device is not None:
            name = name if name is not None else device.name
            cc = tuple(have if have is not None else _attribute(device, key) for have, key in zip(cc, _CC, strict=True))
        return name, cc, device.index if device is not None else None

    def _state(self, raw: bytes) -> nvtx.State:
        state = self._states.get(raw)
        if state is None:
            state = self._states[raw] = nvtx.read_state(raw)
        return state

    def _rule_rows(self, first: int, batch: Batch) -> pl.DataFrame:
        rows: dict[str, list[Any]] = {c.name: [] for c in NSIGHT_RULES}
        for place, (_, result) in enumerate(batch):
            for raw in result.rules:
                items = self._rules.get(raw)
                if items is None:
                    items = self._rules[raw] = nsight_rules.read_rule(raw)
                for item in items:
                    rows["source_sha256"].append(self.file.sha256)
                    rows["result_index"].append(first + place)
                    for name, values in rows.items():
                        if name not in ("source_sha256", "result_index"):
                            values.append(getattr(item, name))
        return pl.DataFrame(rows, schema=schema(NSIGHT_RULES))


def _attribute(device: Device, metric: str) -> Any:  # noqa: ANN401
    """A device attribute by the name it has as a metric."""
    return device.attributes.get(metric, device.attributes.get(metric.removeprefix("device__attribute_")))


def _last_of_each(
    ids: NDArray[np.int64], owner: NDArray[np.uint32], results: int, names: int
) -> NDArray[np.bool_] | None:
    """Which scalars to keep where a result has a metric twice (the last one counts); None where none has."""
    if not len(ids):
        return None
    used = np.zeros(names, bool)
    used[ids] = True
    compact = np.cumsum(used) - 1
    key = owner.astype(np.int64) * int(used.sum()) + compact[ids]
    last = np.full(results * int(used.sum()), -1, np.int64)
    place = np.arange(len(ids))
    last[key] = place
    keep: NDArray[np.bool_] = last[key] == place
    return None if keep.all() else keep
