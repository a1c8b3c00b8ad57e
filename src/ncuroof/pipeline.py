"""The main line, in three functions: :func:`load` inputs, :func:`analyze` them, :func:`ingest` them into Parquet.

::

    files ─► readers ─► launches + metrics ─► metrics.build_kernels ─► workloads.annotate ─► Dataset
    Dataset ─► roofs.attach ─► roofline.place ─► rules.run ─► Analysis ─► reporters
"""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ncuroof import inputs, metrics, readers, roofline, roofs, rules, store, tables, workloads
from ncuroof.errors import InputError, NothingMeasuredError, UnrecognisedError, UsageError
from ncuroof.model import Analysis, Dataset, Note, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """

    reader: str | None = None
    annotations: Path | None = None


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
    kernels, nsight = [], []
    sources: list[Source] = []
    notes: list[Note] = []
    errors: list[InputError] = []
    for item in _inputs(paths, notes, errors):
        try:
            part = (_load_stored if item.stored else _load_report)(item, options)
        except UnrecognisedError as error:
            if item.explicit:
                errors.append(error)
            else:
                notes.append(Note("skipped-file", f"skipped: {error.found}", error.path))
            continue
        except InputError as error:
            errors.append(error)
            continue
        seen = {s.sha256: s.name for s in sources}
        twin = next((s for s in part.sources if s.sha256 in seen), None)
        if twin is not None:
            notes.append(Note("same-content", f"skipped: the same content as {seen[twin.sha256]}", twin.name))
            continue
        kernels.append(part.kernels)
        nsight.append(part.rules)
        sources.extend(part.sources)
        notes.extend(part.notes)
    if not kernels:
        if not errors:
            names = ", ".join(inputs.display_name(str(p)) for p in paths)
            errors.append(
                NothingMeasuredError(names, "no ncu result in it", "Name reports, or a folder that holds some.")
            )
        return Loaded(None, errors)
    return Loaded(Dataset(pl.concat(kernels), pl.concat(nsight), tuple(sources), tuple(notes)), errors)


def analyze(dataset: Dataset, config: Config) -> Analysis:
    """Place every kernel under its roof and run the selected rules."""
    kernels = roofs.attach(dataset.kernels, order=config.roof_order, roofs_file=config.roofs_file)
    placed = roofline.place(kernels.with_row_index("row"))
    outcome = rules.run(placed, config)
    return Analysis(placed, outcome.findings, outcome.skips, dataset, outcome.judged)


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
    if any(item.stored for item in items):
        msg = "ingest reads reports; these are tables that were ingested before. Use `ncuroof analyze` on them."
        raise UsageError(msg)
    kernels, nsight = [], []
    sources: list[Source] = []
    with store.Writer(target) as writer:
        for item in items:
            try:
                report, chunks = _open_report(item, options, None)
            except UnrecognisedError as error:
                if item.explicit:
                    raise
                notes.append(Note("skipped-file", f"skipped: {error.found}", error.path))
                continue
            if report.source.sha256 in {s.sha256 for s in sources}:
                notes.append(Note("same-content", "skipped: the same content as an earlier input", report.source.name))
                continue
            for chunk in chunks:
                kernels.append(metrics.build_kernels(chunk.launches, chunk.metrics))
                nsight.append(chunk.rules)
                writer.write("metrics", chunk.metrics)
            sources.append(report.source)
            notes.extend(report.notes)
        if errors:
            raise errors[0]
        if not kernels:
            names = ", ".join(inputs.display_name(str(p)) for p in paths)
            raise NothingMeasuredError(names, "no ncu result in it", "Name reports, or a folder that holds some.")
        table = tables.conform(workloads.annotate(pl.concat(kernels), options.annotations), store.stored_columns())
        rule_rows = pl.concat(nsight)
        writer.write("kernels", table)
        writer.write("nsight_rules", rule_rows)
        writer.provenance(sources, notes)
    return Dataset(table, rule_rows, tuple(sources), tuple(notes))


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


def _load_stored(item: _Input, options: LoadOptions) -> Dataset:
    path = Path(item.path)
    kernels, rule_rows, sources, notes = store.read(path, inputs.display_name(path))
    if options.annotations is not None:
        kernels = workloads.annotate(kernels.drop(c.name for c in tables.WORKLOAD), options.annotations)
    return Dataset(kernels, rule_rows, tuple(sources), tuple(notes))


def _load_report(item: _Input, options: LoadOptions) -> Dataset:
    report, chunks = _open_report(item, options, metrics.required_metrics())
    kernels, rule_rows = [], []
    for chunk in chunks:
        kernels.append(metrics.build_kernels(chunk.launches, chunk.metrics))
        rule_rows.append(chunk.rules)
    table = tables.conform(workloads.annotate(pl.concat(kernels), options.annotations), store.stored_columns())
    return Dataset(table, pl.concat(rule_rows), (report.source,), tuple(report.notes))


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
