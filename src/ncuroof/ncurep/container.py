"""The container of a report: magic, file header, then blocks of a header and a payload of entries.

Nothing is decoded here but the small headers, and no size of the file is trusted: every one is held against the bytes
that are left before it is used, so that a damaged size can neither allocate nor loop.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from google.protobuf.message import DecodeError

from ncuroof.errors import DamagedError
from ncuroof.ncurep.messages import message

if TYPE_CHECKING:
    import mmap

MAGIC = b"NVR\0"
KNOWN_VERSION = 7
REMEDY = "Copy or download the file again; if it is broken at its origin, profile again."

# Order of the entries in a payload: that of the counts in the block header.
KINDS = (
    ("source", "source_count"),
    ("kernel", "kernel_count"),
    ("range", "range_count"),
    ("cmdlist", "cmdlist_count"),
    ("graph", "graph_count"),
    ("topology", "topology_count"),
)
RESULT_KINDS = ("kernel", "range", "cmdlist", "graph")


class Entry(NamedTuple):
    """One message of a payload.

    Attributes:
        kind: source, kernel, range, cmdlist, graph, topology, or unknown (counted by no field that we know).
        offset: of the message in the file, in bytes.
        size: of the message, in bytes.
    """

    kind: str
    offset: int
    size: int


@dataclass
class Layout:
    """What a walk over a report's container finds.

    Attributes:
        version: format version of the file header; None where it says none.
        blocks: number of blocks.
        strings: the string table of the whole file.
        sessions: the decoded session fragments in file order.
        processes: the decoded process messages in file order, repeats left out.
        entries: all entries in file order.
    """

    version: int | None = None
    blocks: int = 0
    strings: list[bytes] = field(default_factory=list)
    sessions: list[Any] = field(default_factory=list)
    processes: list[Any] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    def count(self, kind: str) -> int:
        """Number of entries of a kind."""
        return sum(1 for entry in self.entries if entry.kind == kind)


def walk(data: bytes | mmap.mmap, name: str) -> Layout:
    """Walk over all blocks of a report.

    Args:
        data: the whole report, decompressed.
        name: how to call it in errors.

    Raises:
        DamagedError: naming the offset and what is wrong there.
    """
    layout = Layout()
    size = len(data)
    if data[:4] != MAGIC:
        raise damaged(name, 0, f"no report begins with {bytes(data[:4])!r}")
    header = _message(data, name, 4, size, "file header", message("FileHeader"))
    layout.version = header[0].version if header[0].HasField("version") else None
    position = header[1]
    block_header = message("BlockHeader")
    last_process = None
    alike: re.Pattern[bytes] | None = None
    while position < size:
        start = position
        if alike and (entry := _only_kernel(alike, data, position)):
            layout.blocks += 1
            layout.entries.append(entry)
            position = entry.offset + entry.size
            continue
        head, position = _message(data, name, position, size, "block header", block_header)
        end = position + head.payload_size
        if end > size:
            found = f"a block with {head.payload_size} bytes of payload, of which {size - position} are there"
            raise damaged(name, start, found)
        layout.blocks += 1
        if head.HasField("strings"):
            # Every table is appended to those before it; ids count through the whole file.
            layout.strings.extend(head.strings.strings)
        if head.HasField("session"):
            layout.sessions.append(head.session)
        if head.HasField("process") and head.process != last_process:
            last_process = head.process
            layout.processes.append(last_process)
        if head.payload_size or head.kernel_count:
            _entries(data, name, position, end, head, layout.entries)
            alike = _blocks_like(data[start + 4 : position], head)
        position = end
    return layout


def _blocks_like(header: bytes, head: Any) -> re.Pattern[bytes] | None:  # noqa: ANN401
    """What matches the start of blocks whose header differs from this one in nothing but the size of their payload.

    Nearly all blocks of a report hold one kernel's result and have such a header, which need not be decoded again:
    nothing in it is news. None for headers of other blocks.

    Groups: size of the header, size of the payload, size of the first entry.
    """
    others = any(getattr(head, attribute) for kind, attribute in KINDS if kind != "kernel")
    if others or head.kernel_count != 1 or head.HasField("session") or head.strings.strings:
        return None
    field = type(head)(payload_size=head.payload_size).SerializeToString()
    before, found, after = header.partition(field)
    try:
        rest = [type(head).FromString(part) for part in (before, after)]
    except DecodeError:
        return None
    if not found or any(part.HasField("payload_size") for part in rest):
        return None
    varint = rb"([\x80-\xff]{0,3}[\x00-\x7f])"
    tag = re.escape(field[:1])
    return re.compile(b"(.{4})%b%b%b%b(.{4})" % (re.escape(before), tag, varint, re.escape(after)), re.DOTALL)


def _only_kernel(alike: re.Pattern[bytes], data: bytes | mmap.mmap, position: int) -> Entry | None:
    """The entry of a block that holds one kernel's result under a header like another; None for any other block."""
    match = alike.match(data, position)
    if not match:
        return None
    header, payload, end = match[1], match[2], match.end()
    length = int.from_bytes(match[3], "little")
    size = 0
    for octet in reversed(payload):
        size = size << 7 | octet & 0x7F
    whole = int.from_bytes(header, "little") == end - position - 8 and size == length + 4 and end + length <= len(data)
    return Entry("kernel", end, length) if whole else None


def _message(  # noqa: PLR0917
    data: bytes | mmap.mmap,
    name: str,
    position: int,
    size: int,
    what: str,
    kind: Any,  # noqa: ANN401
) -> tuple[Any, int]:
    """The length-prefixed message at ``position``, decoded, and the offset after it."""
    if position + 4 > size:
        raise damaged(name, position, f"the file ends in the middle of a {what}")
    (length,) = struct.unpack_from("<I", data, position)
    end = position + 4 + length
    if end > size:
        raise damaged(name, position, f"a {what} of {length} bytes, of which {size - position - 4} are there")
    try:
        return kind.FromString(data[position + 4 : end]), end
    except DecodeError:
        raise damaged(name, position, f"a {what} that cannot be decoded") from None


def _entries(  # noqa: PLR0917
    data: bytes | mmap.mmap,
    name: str,
    position: int,
    end: int,
    head: Any,  # noqa: ANN401
    into: list[Entry],
) -> None:
    """Add the entries of the payload from ``position`` to ``end``."""
    counts = [(kind, count) for kind, attribute in KINDS if (count := getattr(head, attribute))]
    expected = sum([count for _, count in counts])
    if expected * 4 > end - position:
        found = f"a block that counts {expected} entries in {end - position} bytes of payload"
        raise damaged(name, position, found)
    kinds = [kind for kind, count in counts for _ in range(count)]
    done = 0
    while position < end:
        if position + 4 > end:
            raise damaged(name, position, "a payload that ends in the middle of an entry")
        length = int.from_bytes(data[position : position + 4], "little")
        start = position + 4
        position = start + length
        if position > end:
            found = f"an entry of {length} bytes in a payload that has {end - start} left"
            raise damaged(name, start - 4, found)
        into.append(Entry(kinds[done] if done < expected else "unknown", start, length))
        done += 1
    if done < expected:
        raise damaged(name, end, f"a payload that ends before the {kinds[done]} entry that its header counts")


def headless(head: bytes) -> bool:
    """Whether bytes look like a report without its first bytes: a block header with a process or a session."""
    if len(head) < 8:
        return False
    (length,) = struct.unpack_from("<I", head)
    if not 0 < length <= len(head) - 4:
        return False
    try:
        block = message("BlockHeader").FromString(head[4 : 4 + length])
    except DecodeError:
        return False
    needed = ("source_count", "kernel_count", "payload_size")
    return all(block.HasField(n) for n in needed) and (block.HasField("process") or block.HasField("session"))


def damaged(name: str, offset: int, found: str) -> DamagedError:
    """The error for a fault at a byte offset."""
    return DamagedError(name, f"a damaged Nsight Compute report: at byte {offset}, {found}", REMEDY)
