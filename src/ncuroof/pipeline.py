"""The main line, in three functions: :func:`load` inputs, :func:`analyze` them, :func:`ingest` them into Parquet.

::

    files ─► readers ─► launches + metrics ─► metrics.build_kernels ─► workloads.annotate ─► Dataset
    Dataset ─► roofs.attach ─► roofline.place ─► rules.run ─► Analysis ─► reporters
"""

from __future__ import annotations

import glob
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ncuroof import gpus, inputs, metrics, nsight, readers, roofline, roofs, rules, store, tables, workloads
from ncuroof.errors import InputError, NothingMeasuredError, UnrecognisedError, UsageError
from ncuroof.model import Analysis, Dataset, Note, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ncuroof.config import Config
    from ncuroof.model import Chunk, RawReport

REPORT_SUFFIXES = (".ncu-rep", ".ncu-repz", ".nsight-cuprof-report")
TEXT_SUFFIXES = (".csv", ".txt", ".log")
"""What is looked into when a folder is named: text files only as far as a reader recognises them."""


@dataclass(frozen=True)
class LoadOptions:
    """How inputs are read.

    Attributes:
        reader: name of the reader to use whatever the content looks like; None chooses by content.
        annotations: JSON-lines file with workload annotations, for launches that carry none.
        gpu: the GPU, for exports that do not name it.
    """

    reader: str | None = None
    annotations: Path | None = None
    gpu: str | None = None


@dataclass
class Loaded:
    """What could be read, and the errors of what could not. ``dataset`` is None where nothing could be read."""

    dataset: Dataset | None
    errors: list[InputError] = field(default_factory=list)


def load(paths: Sequence[str | Path], options: LoadOptions | None = None) -> Dataset:
    """Read any number of reports, folders, globs and stored data sets into one kernels table.

    Raises:
        InputError: for the first input that cannot be used, or when nothing was found to read.
    """
    loaded = load_all(paths, options)
    if loaded.errors:
        raise loaded.errors[0]
    assert loaded.dataset is not None  # noqa: S101  load_all gives a dataset or an error
    return loaded.dataset


def load_all(paths: Sequence[str | Path], options: LoadOptions | None = None) -> Loaded:
    """Like :func:`load`, but an input that cannot be used does not keep the others from being read."""
    options = options or LoadOptions()
    notes: list[Note] = []
    errors: list[InputError] = []
    reading = _Reading(options, notes)
    for item in _inputs(paths, notes, errors):
        try:
            reading.add(item, metrics.required_metrics())
        except UnrecognisedError as error:
            if item.explicit:
                errors.append(error)
            else:
                notes.append(Note("skipped-file", f"skipped: {error.found}", error.path))
        except InputError as error:
            errors.append(error)
    if not reading.sources:
        if not errors:
            errors.append(_nothing(paths))
        return Loaded(None, errors)
    return Loaded(reading.dataset(), errors)


def analyze(dataset: Dataset, config: Config) -> Analysis:
    """Place every kernel under its roof and run the selected rules."""
    kernels = roofs.attach(dataset.kernels, order=config.roof_order, roofs_file=config.roofs_file)
    dataset = replace(dataset, notes=(*dataset.notes, *roofs.notes(dataset.kernels)))
    placed = roofline.place(kernels.with_row_index("row"))
    outcome = rules.run(placed, config)
    found, alone = nsight.add(placed, outcome.findings, dataset.rules, config.nsight)
    return Analysis(placed, found, outcome.skips, dataset, outcome.judged, alone)


def ingest(paths: Sequence[str | Path], target: Path, options: LoadOptions | None = None) -> Dataset:
    """Write the kernels, metrics and rule results of reports as Parquet; see :mod:`ncuroof.store`.

    Nothing is written unless every input could be read.

    Returns:
        The data set that was written.

    Raises:
        InputError: when an input cannot be used.
        UsageError: when the target cannot be written.
    """
    options = options or LoadOptions()
    notes: list[Note] = []
    errors: list[InputError] = []
    items = list(_inputs(paths, notes, errors))
    if errors:
        raise errors[0]
    if any(item.stored for item in items):
        msg = "ingest reads reports; these are tables that were ingested before. Use `ncuroof analyze` on them."
        raise UsageError(msg)
    with store.Writer(target) as writer:
        reading = _Reading(options, notes, keep=lambda frame: writer.write("metrics", frame))
        for item in items:
            try:
                reading.add(item, None)
            except UnrecognisedError as error:
                if item.explicit:
                    raise
                notes.append(Note("skipped-file", f"skipped: {error.found}", error.path))
        if not reading.sources:
            raise _nothing(paths)
        dataset = reading.dataset()
        writer.write("kernels", dataset.kernels)
        writer.write("nsight_rules", dataset.rules)
        writer.provenance(dataset.sources, dataset.notes)
    return dataset


def explain(paths: Sequence[str | Path], kernel: str, options: LoadOptions | None = None) -> str:
    """How each quantity of one kernel was obtained, as text.

    Args:
        paths: reports; the first launch that fits is explained.
        kernel: index of the result in its report, or a part of the kernel's name.

    Raises:
        UsageError: when no launch fits, or the input is a stored table (which has no candidates any more).
        InputError: when an input cannot be used.
    """
    errors: list[InputError] = []
    names: list[str] = []
    for item in _inputs(paths, [], errors):
        if item.stored:
            msg = "--explain needs the report itself; tables that were ingested hold the outcome only"
            raise UsageError(msg)
        try:
            found, seen = _find(item, kernel, options or LoadOptions())
        except UnrecognisedError:
            if item.explicit:
                raise
            continue
        if found:
            return found
        names += seen
    if errors:
        raise errors[0]
    some = ", ".join(list(dict.fromkeys(names))[:10])
    msg = f"no kernel fits {kernel!r}; there are {some}"
    raise UsageError(msg)


def _find(item: _Input, kernel: str, options: LoadOptions) -> tuple[str, list[str]]:
    """The explanation of the first launch of an input that fits (empty if none does), and the names it holds."""
    names: list[str] = []
    _, chunks = _open_report(item, options, metrics.required_metrics())
    for chunk in chunks:
        named = pl.col("kernel_name").str.contains(kernel, literal=True) | pl.col("kernel_demangled").str.contains(
            kernel, literal=True
        )
        fits = pl.col("result_index") == int(kernel) if kernel.isdecimal() else named
        found = chunk.launches.filter(fits.fill_null(value=False)).head(1)
        if not found.is_empty():
            return _explained(found, chunk), []
        names += chunk.launches["kernel_name"].drop_nulls().unique(maintain_order=True).to_list()
    return "", names


def _explained(launch: pl.DataFrame, chunk: Chunk) -> str:
    index, source, name = launch.select("result_index", "source", "kernel_name").row(0)
    own = chunk.metrics.filter(pl.col("result_index") == index)
    return f"{source}, result {index}: {name}\n\n" + metrics.render(metrics.explain(launch, own, chunk.instances))


def _nothing(paths: Sequence[str | Path]) -> NothingMeasuredError:
    names = ", ".join(inputs.display_name(str(p)) for p in paths)
    return NothingMeasuredError(names, "no ncu result in it", "Name reports, or a folder that holds some.")


@dataclass(frozen=True)
class _Input:
    """One thing to read. ``explicit``: the user named it, so it must be readable; else it was found in a folder."""

    path: str | Path
    explicit: bool
    stored: bool


def _inputs(paths: Sequence[str | Path], notes: list[Note], errors: list[InputError]) -> Iterator[_Input]:
    """Files behind the paths: as they are, from folders and from globs; each once."""
    seen: set[Path] = set()
    for given in paths:
        if str(given) == inputs.STDIN:
            yield _Input(given, explicit=True, stored=False)
            continue
        for item in _expand(given, errors):
            resolved = Path(item.path).resolve()
            if resolved in seen:
                notes.append(Note("named-twice", "named twice, read once", inputs.display_name(item.path)))
                continue
            seen.add(resolved)
            yield item


def _expand(given: str | Path, errors: list[InputError]) -> Iterator[_Input]:
    path = Path(given)
    if path.is_dir():
        if store.is_dataset(path):
            yield _Input(path, explicit=True, stored=True)
            return
        suffixes = (*REPORT_SUFFIXES, *TEXT_SUFFIXES)
        found = sorted(p for p in path.rglob("*") if p.suffix in suffixes and p.is_file())
        if not found:
            what = f"a folder without any {', '.join(suffixes)} file"
            errors.append(NothingMeasuredError(inputs.display_name(path), what, "Name a folder that holds reports."))
        for file in found:
            yield _Input(file, explicit=file.suffix in REPORT_SUFFIXES, stored=False)
    elif not path.exists() and glob.has_magic(str(given)):
        matches = sorted(glob.glob(str(given), recursive=True))  # noqa: PTH207  Path.glob takes no absolute pattern
        files = [Path(m) for m in matches if Path(m).is_file()]
        if not files:
            errors.append(InputError(str(given), "a pattern that matches no file", "Check the pattern."))
        for file in files:
            yield _Input(file, explicit=True, stored=_is_parquet(file))
    else:
        yield _Input(path, explicit=True, stored=_is_parquet(path))


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(store.MAGIC)) == store.MAGIC
    except OSError:
        return False


BATCH_ROWS = 300_000
"""Metric rows turned into kernels at once: enough to make many small reports cheap, few enough to bound memory."""


class _Reading:
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
        self.sources: list[Source] = []

    def add(self, item: _Input, want: frozenset[str] | None) -> None:
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
        report, chunks = _open_report(item, self._options, want)
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

    def dataset(self) -> Dataset:
        """Everything that was added, as one data set."""
        self._flush()
        fresh = [frame for known, frame in self._parts if not known]
        frames = [frame for _, frame in self._parts]
        if fresh:
            table, more = workloads.annotate_with_notes(pl.concat(fresh), self._options.annotations)
            self._notes += more
            table = tables.conform(table, store.stored_columns())
            frames, start = [], 0
            for known, frame in self._parts:
                frames.append(frame if known else table.slice(start, frame.height))
                start += 0 if known else frame.height
        kernels = pl.concat(frames)
        if self._options.gpu is not None:
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


def _build(chunks: Sequence[Chunk]) -> pl.DataFrame:
    return metrics.kernels_from(chunks)


def _open_report(item: _Input, options: LoadOptions, want: frozenset[str] | None) -> tuple[RawReport, Iterator[Chunk]]:
    """The report and its chunks; the chunks raise where the file holds no result."""
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
