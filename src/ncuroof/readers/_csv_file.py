"""Reads a file with any number of ncu's CSV tables in it, one after another, and anything else between them."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from ncuroof.errors import DamagedError
from ncuroof.readers._csv_header import find_headers
from ncuroof.readers._csv_long import LongTable
from ncuroof.readers._csv_records import Records
from ncuroof.readers._csv_wide import WideTable
from ncuroof.readers._errors_in_logs import explain
from ncuroof.readers._text_numbers import evidence_in
from ncuroof.readers._text_source import blocks, line_starts, open_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.model import Chunk, RawReport
    from ncuroof.readers._reading import Reading

_BLOCKS_AHEAD = 3
"""Enough to have work while the digest of the file, which every table holds, is on its way."""


def begin(reading: Reading) -> RawReport:
    """The report of a file with CSV tables. The first are read here and now, while the file is still being hashed.

    Raises:
        NothingMeasuredError: when it holds no kernel, with the reason that ncu gives.
        DamagedError: when it is cut before the first kernel.
    """
    chunks = read_tables(reading)
    return reading.report(chain((next(chunks),), chunks))


def read_tables(reading: Reading) -> Iterator[Chunk]:
    """The chunks of all tables of a file.

    Raises:
        NothingMeasuredError: when it holds no kernel, with the reason that ncu gives.
        DamagedError: when it is cut before the first kernel.
    """
    data, start = open_text(reading.file.data)
    table: LongTable | WideTable | None = None
    records: Records | None = None
    damage = _Damage()
    with _Ahead() as ahead:
        for block, last in blocks(data, start):
            place = 0
            starts = line_starts(block)
            parts = [*find_headers(block, starts), (len(block), len(block), None)]
            for begin, end, header in parts:
                body = block[place:begin] if begin - place < len(block) else block
                place = end
                if table is None or records is None:
                    reading.facts.feed(body)
                    reading.noise += body.count(b"\n")
                else:
                    closing = header is not None or last
                    whole = records.clean(body, last=last and header is None, starts=starts if body is block else None)
                    yield from ahead.next(table, table.begin(whole), last=closing)
                    if closing:
                        yield from ahead.rest()
                        damage.add(records)
                        reading.noise += records.noise
                if header is not None:
                    records = Records(header, reading.facts.feed)
                    kind = WideTable if header.kind == "wide" else LongTable
                    table = kind(header, reading, lambda at=start: evidence_in(data, at))  # type: ignore[misc]
    _close(reading, damage, found=table is not None)


@dataclass
class _Damage:
    """Rows that are not whole: how many, and whether the file ends in one."""

    broken: int = 0
    cut: bool = False

    def add(self, records: Records) -> None:
        self.broken += records.broken
        self.cut = self.cut or records.cut


class _Ahead:
    """Parses blocks in a thread while those before them are turned into tables: Polars and NumPy let threads run."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._waiting: deque[tuple[LongTable | WideTable, Future[Any]]] = deque()

    def __enter__(self) -> _Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def next(self, table: LongTable | WideTable, records: bytes, *, last: bool) -> Iterator[Chunk]:
        """Begin with some records, and give the kernels of older ones where enough are on their way."""
        self._waiting.append((table, self._pool.submit(table.prepare, records, last=last)))
        if len(self._waiting) > _BLOCKS_AHEAD:
            yield from self._finished()

    def rest(self) -> Iterator[Chunk]:
        """The kernels of all records that were begun."""
        while self._waiting:
            yield from self._finished()

    def _finished(self) -> Iterator[Chunk]:
        table, parsed = self._waiting.popleft()
        prepared = parsed.result()
        if prepared is not None:
            yield table.finish(prepared)


def _close(reading: Reading, damage: _Damage, *, found: bool) -> None:
    """Notes for the user, or the error for a file without kernels."""
    if not reading.next_index:
        found_rows = "titles without any row below them"
        if damage.cut or damage.broken:
            found_rows = "a table without a whole row"
        if damage.cut or damage.broken or (found and not reading.facts.causes and not reading.facts.errors):
            raise DamagedError(
                reading.file.name,
                f"{found_rows}; {reading.taken_for}",
                "The file was cut, or nothing was profiled: profile again.",
            )
        raise explain(reading.file.name, reading.facts, reading.taken_for)
    if damage.cut:
        reading.note("cut-file", "the file ends in the middle of a row; that row was left out, whole rows were used.")
    if damage.broken:
        reading.note("broken-rows", f"{damage.broken} rows of the table are not whole and were left out.")
    reading.finish()
