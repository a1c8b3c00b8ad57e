"""Parses clean CSV records with Polars, one column type at a time."""

from __future__ import annotations

import contextlib
import csv
import io
from codecs import BOM_UTF8
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from ncuroof.readers._csv_header import split_record
from ncuroof.readers._text_source import line_starts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncuroof.readers._csv_header import Header


def parse(
    records: bytes,
    header: Header,
    columns: Iterable[int],
    types: Mapping[int, pl.DataType] | None = None,
    *,
    row_index: str | None = None,
    nulls: Sequence[str] = (),
) -> pl.DataFrame:
    """Columns of whole records, named ``c<number>``; more than were asked for where that is faster.

    Args:
        records: one record per line, no titles.
        header: the titles.
        columns: numbers of the columns to read; fields that a record lacks are null.
        types: types of the columns that are no text.
        nulls: texts that become null in every column; each one costs time at every field.
        row_index: name of a column with each record's number, if wanted.

    Raises:
        polars.exceptions.PolarsError: for a field that does not fit its type.
    """
    types = types or {}
    picked = sorted(set(columns))
    text = pl.String()
    schema = {f"c{i}": types.get(i, text) for i in range(header.width)}
    read = partial(
        pl.read_csv,
        separator=header.delimiter,
        # A projection costs more than it saves unless it leaves out most columns.
        columns=picked if 2 * len(picked) < header.width else None,
        null_values=list(nulls) or None,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
        row_index_name=row_index,
    )
    if not records.startswith(BOM_UTF8):
        with contextlib.suppress(pl.exceptions.SchemaError, pl.exceptions.NoDataError):
            return read(records, has_header=False, schema=schema)
    # The first record has another number of fields: a title row of our own says how many there are, for a copy.
    titles = header.delimiter.join(schema).encode() + b"\n"
    return read(titles + records, schema_overrides=schema, infer_schema_length=0)


def parse_lines(
    records: bytes,
    header: Header,
    columns: Iterable[int],
    types: Mapping[int, pl.DataType] | None = None,
    *,
    row_index: str | None = None,
    nulls: Sequence[str] = (),
) -> tuple[bytes, pl.DataFrame]:
    """As :func:`parse`, for records that may be malformed: rows are lines, also where quotes are misplaced.

    Returns:
        The records that were parsed, one per line, and the frame.

    Raises:
        polars.exceptions.PolarsError: only where ``types`` is given, for a field that does not fit its type.
    """
    columns = list(columns)
    lines = len(line_starts(records))
    try:
        frame = parse(records, header, columns, types, row_index=row_index, nulls=nulls)
    except pl.exceptions.PolarsError:
        if types:
            raise
    else:
        if frame.height == lines:
            return records, frame
    records = _rewritten(records, header)
    return records, parse(records, header, columns, types, row_index=row_index, nulls=nulls)


def _rewritten(records: bytes, header: Header) -> bytes:
    """The lines that Python's csv module takes for records, written again with every field in quotes."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=header.delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for line in records.decode("utf-8", "replace").replace("\r", "").replace("\0", "").split("\n"):
        if line:
            # What is no record stays as an empty one, so that the number of lines does not change.
            fields = split_record(line, header.delimiter) or [""]
            writer.writerow([f.replace("\n", " ") for f in fields[: header.width]])
    return out.getvalue().encode()
