"""Reads a file with any number of ncu's CSV tables in it, one after another, and anything else between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.errors import DamagedError
from ncuroof.readers._csv_header import find_headers
from ncuroof.readers._csv_long import LongTable
from ncuroof.readers._csv_records import Records
from ncuroof.readers._csv_wide import WideTable
from ncuroof.readers._errors_in_logs import explain
from ncuroof.readers._text_numbers import evidence_in
from ncuroof.readers._text_source import blocks, open_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.model import Chunk
    from ncuroof.readers._reading import Reading


def read_tables(reading: Reading) -> Iterator[Chunk]:
    """The chunks of all tables of a file.

    Raises:
        NothingMeasuredError: when it holds no kernel, with the reason that ncu gives.
        DamagedError: when it is cut before the first kernel.
    """
    data, start = open_text(reading.file.data)
    table: LongTable | WideTable | None = None
    records: Records | None = None
    cut = False
    broken = 0
    for block, last in blocks(data, start):
        place = 0
        parts = [*find_headers(block), (len(block), len(block), None)]
        for begin, end, header in parts:
            body = block[place:begin] if begin - place < len(block) else block
            place = end
            if table is None or records is None:
                reading.facts.feed(body)
                reading.noise += body.count(b"\n")
            else:
                whole = records.clean(body, last=last and header is None)
                closing = header is not None or last
                chunk = table.feed(whole, last=closing)
                if chunk is not None:
                    yield chunk
                if closing:
                    reading.noise += records.noise
                    cut = cut or records.cut
                    broken += records.broken
            if header is not None:
                records = Records(header, reading.facts.feed)
                kind = WideTable if header.kind == "wide" else LongTable
                table = kind(header, reading, lambda at=start: evidence_in(data, at))  # type: ignore[misc]
    _close(reading, found=table is not None, cut=cut, broken=broken)


def _close(reading: Reading, *, found: bool, cut: bool, broken: int) -> None:
    """Notes for the user, or the error for a file without kernels."""
    if not reading.next_index:
        found_rows = "titles without any row below them"
        if cut or broken:
            found_rows = "a table without a whole row"
        if cut or broken or (found and not reading.facts.causes and not reading.facts.errors):
            raise DamagedError(
                reading.file.name,
                f"{found_rows}; {reading.taken_for}",
                "The file was cut, or nothing was profiled: profile again.",
            )
        raise explain(reading.file.name, reading.facts, reading.taken_for)
    if cut:
        reading.note("cut-file", "the file ends in the middle of a row; that row was left out, whole rows were used.")
    if broken:
        reading.note("broken-rows", f"{broken} rows of the table are not whole and were left out.")
    reading.finish()
