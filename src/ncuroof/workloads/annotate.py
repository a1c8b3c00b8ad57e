"""Adds the workload columns to the kernels table, from NVTX ranges or from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof import tables
from ncuroof.model import Note
from ncuroof.workloads import annotation
from ncuroof.workloads.annotation import Annotation, AnnotationError
from ncuroof.workloads.formulas import operations
from ncuroof.workloads.sharing import shared_ranges

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FROM_NVTX = "annotation"
FROM_FILE = "file"

MOST_NOTES = 5
"""Notes on single annotations of one report, before they are only counted."""

_NAMES = [column.name for column in tables.WORKLOAD]
_SCHEMA = tables.schema(tables.WORKLOAD)


def annotate(kernels: pl.DataFrame, annotation_file: Path | None = None) -> pl.DataFrame:
    """Add the columns :data:`ncuroof.tables.WORKLOAD`; see :func:`annotate_with_notes`."""
    return annotate_with_notes(kernels, annotation_file)[0]


def annotate_with_notes(kernels: pl.DataFrame, annotation_file: Path | None = None) -> tuple[pl.DataFrame, list[Note]]:
    """Add what follows from each launch's annotation.

    Args:
        kernels: the kernels table; ``nvtx`` and ``nvtx_path`` are used where present.
        annotation_file: JSON lines that say which launches did what (see :mod:`ncuroof.workloads.annotation_file`);
            it goes before NVTX.

    Returns:
        The table with the workload columns (replaced where they were there), and notes on annotations that could not
        be used.

    Where several launches share one instance of a range (split-K and its reduction), the shape describes all of them
    together: ``op`` and the sizes stand on each, ``useful_flop`` and ``compulsory_bytes`` only on the longest one, and
    on none where the operation is a composite (attention, a whole step). Sums over launches therefore count every
    shape once. :func:`ncuroof.workloads.sharing.shared_ranges` tells which launches belong together.

    Raises:
        InputError: for an ``annotation_file`` that cannot be used.
    """
    notes: list[Note] = []
    rows, ranges = _from_ranges(kernels, notes)
    work = rows.with_columns(pl.when(pl.col("op").is_not_null()).then(pl.lit(FROM_NVTX)).alias("workload_source"))
    base = kernels.drop(_NAMES, strict=False).hstack(work.select(_NAMES))
    base = _count_once(base, shared_ranges(base, ranges))
    if annotation_file is not None:
        from ncuroof.workloads import annotation_file as files  # noqa: PLC0415  only where the user has one

        found, more = files.assign(base, annotation_file)
        notes += more
        stated = _table([a.row() if a else None for a in found]).with_columns(workload_source=pl.lit(FROM_FILE))
        given = pl.Series("given", [a is not None for a in found], dtype=pl.Boolean)
        base = base.with_columns(
            pl.when(given).then(stated[name]).otherwise(pl.col(name)).alias(name) for name in _NAMES
        )
    return base, notes


def _table(rows: list[dict[str, Any] | None]) -> pl.DataFrame:
    empty: dict[str, Any] = dict.fromkeys(_NAMES)
    return pl.DataFrame([empty | (row or {}) for row in rows], schema=_SCHEMA, orient="row")


def _from_ranges(kernels: pl.DataFrame, notes: list[Note]) -> tuple[pl.DataFrame, pl.Series]:
    """Workload columns for each launch, and the text of the range instance they come from (null: none)."""
    parsed: list[Annotation | AnnotationError] = []
    columns: list[tuple[pl.Series, list[int | None]]] = []
    if kernels.schema.get("nvtx") == pl.List(tables.NVTX_RANGE):
        columns.append(_by_structure(kernels["nvtx"], parsed))
    if kernels.schema.get("nvtx_path") == pl.String:
        columns.append(_by_path(kernels["nvtx_path"], parsed))
    height = kernels.height
    number = pl.Series("number", [None] * height, dtype=pl.UInt32)
    text = pl.Series("range", [None] * height, dtype=pl.String)
    for label, indices in columns:
        candidate = pl.Series("number", indices, dtype=pl.UInt32)
        text = text.zip_with(number.is_not_null(), label)
        number = number.zip_with(number.is_not_null(), candidate)
    source = kernels["source"][0] if "source" in kernels.columns and kernels.height else ""
    notes += _remarks(parsed, source or "")
    table = _table([None, *(a.row() if isinstance(a, Annotation) else None for a in parsed)])
    rows = table[(number + 1).fill_null(0)]
    return rows, text


def _remarks(parsed: list[Annotation | AnnotationError], source: str) -> list[Note]:
    """Notes on annotations that give no work; a report full of them gives a few and a count."""
    faults = [
        Note("bad-annotation", f"An NVTX annotation cannot be used: {item}.", source)
        if isinstance(item, AnnotationError)
        else Note("annotation-without-formula", f"An annotation gives no work: {item.remark}.", source)
        for item in parsed
        if isinstance(item, AnnotationError) or item.remark
    ]
    distinct = list(dict.fromkeys(faults))
    if len(distinct) > MOST_NOTES:
        more = f"{len(distinct) - MOST_NOTES} more NVTX annotations cannot be used or give no work."
        return [*distinct[:MOST_NOTES], Note("bad-annotation", more, source)]
    return distinct


def _parse_all(
    distinct: pl.DataFrame,
    parse: Callable[..., Annotation | None],
    parsed: list[Annotation | AnnotationError],
) -> list[int | None]:
    """Parse each row of ``distinct``; results go to ``parsed``, their positions are returned."""
    positions: list[int | None] = []
    for values in distinct.iter_rows():
        try:
            item: Annotation | AnnotationError | None = parse(*values)
        except AnnotationError as error:
            item = error
        positions.append(None if item is None else len(parsed))
        if item is not None:
            parsed.append(item)
    return positions


def _by_structure(nvtx: pl.Series, parsed: list[Annotation | AnnotationError]) -> tuple[pl.Series, list[int | None]]:
    """For each launch the innermost range that is an annotation, usable or not: an outer one would be a guess."""
    keys = ["domain", "name", "payload"]
    ranges = (
        pl.DataFrame({"nvtx": nvtx})
        .with_row_index("row")
        .explode("nvtx")
        .select("row", *(pl.col("nvtx").struct.field(key).fill_null("").alias(key) for key in keys))
        .with_row_index("order")
        .filter(
            pl.col("name").str.contains(annotation.PREFIX, literal=True)
            | pl.col("payload").str.contains(annotation.PREFIX, literal=True)
            | pl.col("name").str.contains("=", literal=True)
            | (pl.col("domain") == annotation.DOMAIN)
        )
    )
    distinct = ranges.select(keys).unique(maintain_order=True)
    positions = _parse_all(distinct, annotation.parse, parsed)
    known = distinct.with_columns(pl.Series("position", positions, dtype=pl.UInt32)).drop_nulls("position")
    innermost = (
        ranges.join(known, on=keys)
        .sort("order")
        .unique("row", keep="last", maintain_order=True)
        .select("row", "position", pl.concat_str(keys, separator="\x1f").alias("text"))
    )
    every = pl.DataFrame({"row": pl.int_range(len(nvtx), dtype=pl.UInt32, eager=True)})
    joined = every.join(innermost.cast({"row": pl.UInt32}), on="row", how="left").sort("row")
    return joined["text"].alias("range"), joined["position"].to_list()


def _by_path(paths: pl.Series, parsed: list[Annotation | AnnotationError]) -> tuple[pl.Series, list[int | None]]:
    """The same from the text of the path, for inputs that keep no structure."""
    name = pl.col("path")
    candidates = (
        pl.DataFrame({"path": paths})
        .unique(maintain_order=True)
        .filter(name.str.contains(annotation.PREFIX, literal=True) | name.str.contains("=", literal=True))
    )
    positions = _parse_all(candidates, annotation.parse_path, parsed)
    found = dict(zip(candidates["path"].to_list(), positions, strict=True))
    indices = [found.get(path) if path is not None else None for path in paths.to_list()]
    return paths.alias("range"), indices


def _count_once(frame: pl.DataFrame, shared: pl.DataFrame) -> pl.DataFrame:
    """Leave the work of a shared range on its longest launch, of a composite on none."""
    if not frame.height:
        return frame
    composite = [name for name, module in operations().items() if getattr(module, "COMPOSITE", False)]
    duration = frame["duration_s"] if "duration_s" in frame.columns else pl.Series([0.0] * frame.height)
    work = shared.with_columns(duration=duration.fill_null(0.0).fill_nan(0.0), op=frame["op"])
    # The first of the longest: arg_max gives the first position of the maximum.
    main = pl.col("duration").arg_max().over("range_instance") == pl.int_range(pl.len()).over("range_instance")
    counts = work.select(
        (pl.col("range_launches").fill_null(1) == 1) | (main & ~pl.col("op").is_in(composite))
    ).to_series()
    return frame.with_columns(
        pl.when(counts.fill_null(value=True)).then(pl.col(name)).alias(name)
        for name in ("useful_flop", "compulsory_bytes", "compulsory_write_bytes")
    )
