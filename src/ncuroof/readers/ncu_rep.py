"""Reads Nsight Compute's binary reports: ``.ncu-rep``, ``.nsight-cuprof-report`` and compressed ``.ncu-repz``.

The container is walked first, so that a damaged or cut file is refused before anything is shown. Results are then
decoded in chunks of bounded size, with no object per metric but its undecoded bytes.
"""

from __future__ import annotations

import mmap
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from ncuroof.errors import DamagedError, NothingMeasuredError
from ncuroof.model import Chunk, Note, RawReport, Session, Source
from ncuroof.ncurep import container, info, opcodes, session
from ncuroof.ncurep.results import read_batch
from ncuroof.readers._ncu_frames import Builder, Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.inputs import InputFile

NAME = "ncu-rep"
DESCRIPTION = "Nsight Compute report (.ncu-rep, .ncu-repz, .nsight-cuprof-report)"
RANK = 10

# A chunk ends at whichever comes first: bytes of results, or results.
CHUNK_BYTES = 16 << 20
CHUNK_RESULTS = 1024
# Where only some metrics are wanted the tables stay small, and larger chunks are faster.
CHUNK_GROWTH = 4
NO_RESULT_REMEDY = "Check that the program launched a kernel, and that ncu's filters let it through."
_KIND_NAMES = {"range": "range", "cmdlist": "command-list", "graph": "graph", "unknown": "unknown"}


def recognises(head: bytes, name: str) -> str | None:
    """By the magic number; a report without its first bytes by the shape of its first block header."""
    if head.startswith(container.MAGIC):
        return "begins with the magic number of Nsight Compute reports"
    if container.headless(head):
        return "begins like the inside of a Nsight Compute report"
    return None


def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
    """Read a report; see :mod:`ncuroof.readers`.

    Raises:
        DamagedError: for a broken or cut file, here or while the chunks are consumed.
        NothingMeasuredError: for a report without results.
    """
    if file.data[:4] != container.MAGIC:
        inside = container.headless(file.head)
        found = (
            "the inside of a Nsight Compute report without its first bytes" if inside else "no Nsight Compute report"
        )
        raise DamagedError(file.name, found, container.REMEDY)
    _release(file.data, len(file.data))  # read for its digest
    layout = container.walk(file.data, file.name)
    facts = session.merge(layout)
    known, notes = facts_of(file, layout, facts)
    source = Source(file.name, file.sha256, file.size, NAME, recognised)
    report = RawReport(source, known, notes, iter(()))
    report.chunks = _chunks(file, layout, facts, report, want)
    return report


def facts_of(file: InputFile, layout: container.Layout, facts: session.Facts) -> tuple[Session, list[Note]]:
    """What a report says about its session, and what its reader should know."""
    known = Session(
        ncu_version=facts.ncu_version,
        cuda_version=facts.cuda_version,
        driver_version=facts.driver_version,
        created_unix_s=facts.created,
        set_name=facts.set_name,
        command_line=facts.command_line,
        host=facts.host,
        executable=facts.executable,
    )
    notes: list[Note] = []
    if layout.version not in (None, container.KNOWN_VERSION):
        text = f"format version {layout.version} is not the one that is known ({container.KNOWN_VERSION})"
        notes.append(Note("format-version", text, file.name))
    if facts.origin != "profiled":
        cited = f": {facts.citation}" if facts.citation else ""
        notes.append(Note("reconstructed", f"{facts.origin} from published figures, not profiled{cited}", file.name))
    if info.protobuf_backend() == "python":
        text = "protobuf runs without its C core, about 55 times slower: reinstall it from a wheel for this Python"
        notes.append(Note("slow-protobuf", text, file.name))
    return known, notes


def _chunks(
    file: InputFile, layout: container.Layout, facts: session.Facts, report: RawReport, want: frozenset[str] | None
) -> Iterator[Chunk]:
    """Decode the results of a report, a chunk at a time; completes the report's session and notes."""
    names = Names(layout.strings, want)
    builder = Builder(file, facts, names)
    opcode_ids = opcodes.wanted(names.names, want)
    assumed: Counter[str] = Counter()
    undecoded = Counter(e.kind for e in layout.entries if e.kind == "unknown")
    index = 0
    growth = 1 if want is None else CHUNK_GROWTH
    for entries in _batches([e for e in layout.entries if e.kind in container.RESULT_KINDS], growth):
        batch = read_batch(file.data, file.name, entries, names.names, names.wanted)
        undecoded.update(e.kind for e in batch.refused)
        assumed.update(kind for kind in batch.kinds if kind != "kernel")
        if not batch.kinds:
            continue
        try:
            chunk = builder.chunk(index, batch)
            if opcode_ids:
                chunk = replace(chunk, instances=opcodes.rows(batch, opcode_ids, file.sha256, index))
        except DecodeError:
            found = "a result from here on has NVTX ranges, rule messages or opcodes that cannot be decoded"
            raise container.damaged(file.name, entries[0].offset, found) from None
        report.session.driver_version = builder.driver_version
        index += len(batch.kinds)
        yield chunk
        _release(file.data, entries[-1].offset)
    if assumed:
        text = f"{_listed(assumed)} read as if laid out like a kernel's; nobody has documented how they are"
        report.notes.append(Note("assumed-layout", text, file.name))
    if undecoded:
        report.notes.append(Note("undecoded-results", _undecoded(undecoded), file.name))
    if not index:
        found = "a Nsight Compute report without any result that can be read"
        if undecoded:
            found += f" ({_undecoded(undecoded)})"
        raise NothingMeasuredError(file.name, found, NO_RESULT_REMEDY)


def _release(data: bytes | mmap.mmap, upto: int) -> None:
    """Let the system take back the pages of a memory map that have been read; they would count as our memory."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        whole = upto // mmap.PAGESIZE * mmap.PAGESIZE
        if whole:
            data.madvise(mmap.MADV_DONTNEED, 0, whole)


def _batches(entries: list[container.Entry], growth: int) -> Iterator[list[container.Entry]]:
    """Runs of entries that are small enough to be decoded together."""
    batch: list[container.Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += entry.size
        if size >= CHUNK_BYTES * growth or len(batch) >= CHUNK_RESULTS * growth:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _listed(kinds: Counter[str]) -> str:
    listed = ", ".join(f"{count} {_KIND_NAMES[kind]}" for kind, count in sorted(kinds.items()))
    return f"{listed} result{'' if sum(kinds.values()) == 1 else 's'}"


def _undecoded(kinds: Counter[str]) -> str:
    return f"{_listed(kinds)} of a layout that is not known left out"
