"""Reads inputs into one data set: open, choose a reader, turn metrics into kernels in batches."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ncuroof import gpus, inputs, metrics, program_time, readers, store, tables, workloads
from ncuroof.errors import NothingMeasuredError
from ncuroof.model import Dataset, Note
from ncuroof.readers import _numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ncuroof.expand import Input
    from ncuroof.model import Chunk, RawReport, Source
    from ncuroof.program_time import ProgramTime


@dataclass(frozen=True)
class LoadOptions:
    """How inputs are read.

    Attributes:
        reader: name of the reader to use whatever the content looks like; None chooses by content.
        annotations: JSON-lines file with workload annotations, for launches that carry none.
        gpu: the GPU, for exports that do not name it.
        number_format: how numbers are written in text inputs, where that is ambiguous; None decides from the file.
    """

    reader: str | None = None
    annotations: Path | None = None
    gpu: str | None = None
    number_format: str | None = None


BATCH_ROWS = 300_000
"""Metric rows turned into kernels at once: enough to make many small reports cheap, few enough to bound memory."""


class Reading:
    """Gathers inputs into one data set; an input that fails half-way leaves nothing behind.

    Args:
        options: how to read.
        notes: where to put what readers have to say.
        keep: called with the metrics of every report as they are read, in order.
    """

    def __init__(
        self, options: LoadOptions, notes: list[Note], keep: Callable[[pl.DataFrame], None] | None = None
    ) -> None:
        self._options = options
        self._notes = notes
        self._keep = keep
        self._waiting: list[Chunk] = []
        self._rows = 0
        self._parts: list[tuple[bool, pl.DataFrame]] = []  # (workload is known already, kernels)
        self._rules: list[pl.DataFrame] = []
        self._programs: dict[str, ProgramTime] = {}
        self.sources: list[Source] = []

    def add(self, item: Input, want: frozenset[str] | None) -> None:
        """Read one input to its end. Raises :class:`InputError` and then has added nothing."""
        if item.stored:
            path = Path(item.path)
            kernels, rule_rows, sources, notes = store.read(path, inputs.display_name(path))
            if not self._is_twin(sources):
                self._flush()
                known = self._options.annotations is None
                if not known:
                    kernels = kernels.drop(c.name for c in tables.WORKLOAD)
                self._parts.append((known, kernels))
                self._rules.append(rule_rows)
                self.sources += sources
                self._notes += notes
            return
        report, chunks = open_report(item, self._options, want)
        if self._is_twin([report.source]):
            return
        waiting: list[Chunk] = []
        built: list[pl.DataFrame] = []
        rule_rows_read: list[pl.DataFrame] = []
        rows = 0
        for chunk in chunks:
            if self._keep is not None:
                self._keep(chunk.metrics)
            waiting.append(chunk)
            rule_rows_read.append(chunk.rules)
            rows += chunk.metrics.height
            if rows >= BATCH_ROWS:
                built.append(_build(waiting))
                waiting, rows = [], 0
        if built:
            self._flush()
            self._parts += [(False, frame) for frame in built]
        self._waiting += waiting
        self._rows += rows
        if self._rows >= BATCH_ROWS:
            self._flush()
        self._rules += rule_rows_read
        self.sources.append(report.source)
        self._notes += report.notes
        measured = program_time.read(Path(item.path))
        if measured is not None:
            self._programs[report.source.sha256] = measured

    def dataset(self) -> Dataset:
        """Everything that was added, as one data set."""
        self._flush()
        fresh = [frame for known, frame in self._parts if not known]
        frames = [frame for _, frame in self._parts]
        if fresh:
            table, more = workloads.annotate_with_notes(pl.concat(fresh), self._options.annotations)
            self._notes += more
            table = _with_programs(table, self._programs)
            table = tables.conform(table, store.stored_columns())
            frames, start = [], 0
            for known, frame in self._parts:
                frames.append(frame if known else table.slice(start, frame.height))
                start += 0 if known else frame.height
        kernels = pl.concat(frames)
        if self._options.gpu is not None:
            self._notes += [Note("stated-gpu", text) for text in gpus.remarks(kernels, self._options.gpu)]
            kernels = gpus.state(kernels, self._options.gpu)
        return Dataset(kernels, pl.concat(self._rules), tuple(self.sources), tuple(self._notes))

    def _flush(self) -> None:
        if self._waiting:
            self._parts.append((False, _build(self._waiting)))
            self._waiting, self._rows = [], 0

    def _is_twin(self, sources: Sequence[Source]) -> bool:
        """Whether the content was read before, under another name; says so."""
        seen = {s.sha256: s.name for s in self.sources}
        for source in sources:
            if source.sha256 in seen:
                message = f"skipped: the same content as {seen[source.sha256]}"
                self._notes.append(Note("same-content", message, source.name))
                return True
        return False


def _with_programs(kernels: pl.DataFrame, by_digest: Mapping[str, ProgramTime]) -> pl.DataFrame:
    """Add the columns :data:`ncuroof.tables.PROGRAM`, by the digest of the kernels' source."""
    rows = [(digest, *astuple(time)) for digest, time in by_digest.items()]
    schema = {"source_sha256": pl.String(), **tables.schema(tables.PROGRAM)}
    known = pl.DataFrame(rows, schema=schema, orient="row")
    return kernels.join(known, on="source_sha256", how="left", maintain_order="left")


def _build(chunks: Sequence[Chunk]) -> pl.DataFrame:
    return metrics.kernels_from(chunks)


def open_report(item: Input, options: LoadOptions, want: frozenset[str] | None) -> tuple[RawReport, Iterator[Chunk]]:
    """The report and its chunks; the chunks raise where the file holds no result."""
    _numbers.force(options.number_format)
    file = inputs.open_input(item.path)
    reader, recognised = readers.choose(file, options.reader)
    report = reader.read(file, recognised, want)

    def chunks() -> Iterator[Chunk]:
        count = 0
        for chunk in report.chunks:
            if not chunk.launches.is_empty():
                count += chunk.launches.height
                yield chunk
        if not count:
            raise NothingMeasuredError(
                report.source.name,
                f"{report.source.recognised}, without a single profiled kernel",
                "Check that the launch filters matched a kernel and that the program launched any.",
            )

    return report, chunks()
