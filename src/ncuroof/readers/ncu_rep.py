"""Reads Nsight Compute's binary reports: ``.ncu-rep``, ``.nsight-cuprof-report`` and compressed ``.ncu-repz``.

The container is walked first, so that a damaged or cut file is refused before anything is shown. Results are then
decoded in chunks of bounded size, with no object per metric but its undecoded bytes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from google.protobuf.message import DecodeError

from ncuroof.errors import DamagedError, NothingMeasuredError
from ncuroof.model import Chunk, Note, RawReport, Session, Source
from ncuroof.ncurep import container, messages, session
from ncuroof.ncurep.scalars import ABSENT, decode
from ncuroof.readers import _ncu_frames as frames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ncuroof.inputs import InputFile

NAME = "ncu-rep"
DESCRIPTION = "Nsight Compute report (.ncu-rep, .ncu-repz, .nsight-cuprof-report)"
RANK = 10

# A chunk ends at whichever comes first: bytes of results, or results.
CHUNK_BYTES = 8 << 20
CHUNK_RESULTS = 1024
_KIND_NAMES = {"range": "range", "cmdlist": "command-list", "graph": "graph", "unknown": "unknown"}


def recognises(head: bytes, name: str) -> str | None:  # noqa: ARG001
    """By the magic ``NVR\\0``; a report without its first bytes by the shape of its first block header."""
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
        raise DamagedError(
            file.name,
            "the inside of a Nsight Compute report without its first bytes (magic number, string table)",
            container.REMEDY,
        )
    layout = container.walk(file.data, file.name)
    facts = session.merge(layout)
    source = Source(file.name, file.sha256, file.size, NAME, recognised)
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
        text = f"the report says format version {layout.version}; version {container.KNOWN_VERSION} is the one that is known"
        notes.append(Note("format-version", text, file.name))
    if facts.origin != "profiled":
        cited = f": {facts.citation}" if facts.citation else ""
        notes.append(Note("reconstructed", f"{facts.origin} from published figures, not profiled{cited}", file.name))
    if messages.slow_protobuf():
        text = "protobuf runs without its C core, about 55 times slower: reinstall it from a wheel for this Python"
        notes.append(Note("slow-protobuf", text, file.name))
    return RawReport(source, known, notes, _chunks(file, layout, facts, known, notes, want))


def _chunks(
    file: InputFile,
    layout: container.Layout,
    facts: session.Facts,
    known: Session,
    notes: list[Note],
    want: frozenset[str] | None,
) -> Iterator[Chunk]:
    entries = [e for e in layout.entries if e.kind in container.RESULT_KINDS]
    undecoded = Counter(e.kind for e in layout.entries if e.kind == "unknown")
    table = frames.Names(layout.strings, want)
    builder = frames.Builder(file, facts, table)
    index = 0
    batch: list[tuple[container.Entry, Any]] = []
    metrics: list[bytes] = []
    counts: list[int] = []
    size = 0

    def flush() -> Chunk:
        nonlocal index, size
        try:
            scalars = decode(metrics, table.wanted)
        except DecodeError:
            fault = "a metric that cannot be decoded, in the results from here on"
            raise container.damaged(file.name, batch[0][0].offset, fault) from None
        if len(scalars.name_id) and int(scalars.name_id.max()) >= len(table.names):
            fault = f"a metric named by string {int(scalars.name_id.max())} of {len(table.names)}, in the results from here on"
            raise container.damaged(file.name, batch[0][0].offset, fault)
        owner = np.repeat(np.arange(len(batch), dtype=np.uint32), counts)
        chunk = builder.chunk(index, batch, scalars, owner[scalars.row])
        if known.driver_version is None:
            known.driver_version = builder.driver_version
        index += len(batch)
        size = 0
        batch.clear()
        metrics.clear()
        counts.clear()
        return chunk

    result_type = messages.message("Result")
    for entry in entries:
        try:
            result = result_type.FromString(file.data[entry.offset : entry.offset + entry.size])
        except DecodeError:
            if entry.kind != "kernel":
                undecoded[entry.kind] += 1
                continue
            raise container.damaged(file.name, entry.offset, "a result that cannot be decoded") from None
        own = result.metrics
        if entry.kind != "kernel" and not _like_a_kernel(own, table.names):
            undecoded[entry.kind] += 1
            continue
        before = len(metrics)
        metrics.extend(own)
        counts.append(len(metrics) - before)
        batch.append((entry, result))
        size += entry.size
        if size >= CHUNK_BYTES or len(batch) >= CHUNK_RESULTS:
            yield flush()
    if batch:
        yield flush()
    if undecoded:
        notes.append(Note("undecoded-results", _undecoded(undecoded), file.name))
    if not index:
        found = "a Nsight Compute report without any result that can be read"
        if undecoded:
            found += f" ({_undecoded(undecoded)})"
        raise NothingMeasuredError(
            file.name, found, "Check that the profiled program launched a kernel that was not filtered out."
        )


def _undecoded(kinds: Counter[str]) -> str:
    listed = ", ".join(f"{count} {_KIND_NAMES[kind]}" for kind, count in sorted(kinds.items()))
    total = sum(kinds.values())
    return f"{listed} result{'s' if total > 1 else ''} of a layout that is not known {'are' if total > 1 else 'is'} left out"


def _like_a_kernel(metrics: Any, names: list[str]) -> bool:  # noqa: ANN401
    """Whether a range, graph or command-list result has the layout of a kernel result: metrics with names of metrics."""
    try:
        found = decode(list(metrics))
    except DecodeError:
        return False
    ids: NDArray[np.int64] = found.name_id
    if not len(ids) or int(ids.max()) >= len(names):
        return False
    return sum("__" in names[i] for i in ids.tolist()) * 2 > len(ids) and bool((found.kind != ABSENT).any())
