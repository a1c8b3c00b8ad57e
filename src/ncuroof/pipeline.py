"""The main line, in three functions: :func:`load` inputs, :func:`analyze` them, :func:`ingest` them into Parquet.

::

    files ─► expand ─► readers ─► launches + metrics ─► metrics.build_kernels ─► workloads.annotate ─► Dataset
    Dataset ─► roofs.attach ─► roofline.place ─► rules.run (and Nsight's own results) ─► Analysis ─► reporters
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ncuroof import inputs, metrics, nsight, roofline, roofs, rules, store
from ncuroof.errors import InputError, NothingMeasuredError, UnrecognisedError, UsageError
from ncuroof.expand import inputs_behind
from ncuroof.model import Analysis, Dataset, Note
from ncuroof.reading import LoadOptions, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncuroof.config import Config
    from ncuroof.expand import Input

__all__ = ["LoadOptions", "Loaded", "analyze", "ingest", "load", "load_all"]


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
    reading = Reading(options, notes)
    for item in inputs_behind(paths, notes, errors):
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
            errors.append(nothing_in(paths))
        return Loaded(None, errors)
    return Loaded(reading.dataset(), errors)


def analyze(dataset: Dataset, config: Config) -> Analysis:
    """Place every kernel under its roof and run the selected rules."""
    known = roofs.devices_of(dataset.kernels, config.roofs_file)
    kernels = roofs.attach(dataset.kernels, known, order=config.roof_order)
    dataset = replace(dataset, notes=(*dataset.notes, *roofs.notes(known)))
    placed = roofline.place(kernels.with_row_index("row"))
    outcome = rules.run(placed, config)
    found, alone = nsight.add(placed, outcome.findings, dataset.rules, config.nsight)
    return Analysis(placed, found, outcome.skips, dataset, outcome.judged, alone)


def ingest(
    paths: Sequence[str | Path],
    target: Path,
    options: LoadOptions | None = None,
    *,
    unusable: list[InputError] | None = None,
) -> Dataset:
    """Write the kernels, metrics and rule results of reports as Parquet; see :mod:`ncuroof.store`.

    Nothing is written unless every input could be read.

    Args:
        paths: reports, folders, globs.
        target: a folder, or a ``.parquet`` file for the kernels.
        options: how to read.
        unusable: where given, inputs that cannot be used are left out and their errors put there.

    Returns:
        The data set that was written.

    Raises:
        InputError: when an input cannot be used.
        UsageError: when the target cannot be written.
    """
    options = options or LoadOptions()
    notes: list[Note] = []
    errors: list[InputError] = []
    items = list(inputs_behind(paths, notes, errors))
    if unusable is None and errors:
        raise errors[0]
    if any(item.stored for item in items):
        msg = "ingest reads reports; these are tables that were ingested before. Use `ncuroof analyze` on them."
        raise UsageError(msg)
    if unusable is not None:
        # Metrics are written as they are read, so what is damaged must be known before anything is.
        items = [item for item in items if _readable(item, options, errors)]
        unusable += errors
    with store.Writer(target) as writer:
        reading = Reading(options, notes, keep=lambda frame: writer.write("metrics", frame))
        for item in items:
            try:
                reading.add(item, None)
            except UnrecognisedError as error:
                if item.explicit:
                    raise
                notes.append(Note("skipped-file", f"skipped: {error.found}", error.path))
        if not reading.sources:
            raise nothing_in(paths)
        dataset = reading.dataset()
        writer.write("kernels", dataset.kernels)
        writer.write("nsight_rules", dataset.rules)
        writer.provenance(dataset.sources, dataset.notes)
    return dataset


def _readable(item: Input, options: LoadOptions, errors: list[InputError]) -> bool:
    """Whether an input can be read to its end; puts the error where it should have been."""
    try:
        Reading(options, []).add(item, frozenset())
    except UnrecognisedError as error:
        if item.explicit:
            errors.append(error)
            return False
    except InputError as error:
        errors.append(error)
        return False
    return True


def nothing_in(paths: Sequence[str | Path]) -> NothingMeasuredError:
    names = ", ".join(inputs.display_name(str(p)) for p in paths)
    return NothingMeasuredError(names, "no ncu result in it", "Name reports, or a folder that holds some.")
