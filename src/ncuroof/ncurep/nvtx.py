"""NVTX ranges around a launch, from the state that a result stores."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from ncuroof.ncurep.messages import message
from ncuroof.ncurep.session import text
from ncuroof.ncurep.wire import LENGTH, fields

DEFAULT_DOMAIN = "<default domain>"
_SIGNED = {2: 64, 5: 32}
_INTEGERS = (1, 2, 4, 5)


@dataclass(frozen=True)
class State:
    """NVTX state of one result.

    Attributes:
        path: ``domain:range/range`` of the thread that has ranges open, outermost first; the domain is left out where
            it is the default one. None where no range is open.
        ranges: one dictionary per range with the fields of :data:`ncuroof.tables.NVTX_RANGE`.
    """

    path: str | None
    ranges: list[dict[str, Any]]


def read_state(raw: bytes) -> State:
    """Decode an NVTX state (field 21 of a result).

    Raises:
        google.protobuf.message.DecodeError: for bytes that are no NVTX state.
    """
    state = message("NvtxState").FromString(raw)
    domains = {domain.id: text(domain.name) for domain in state.domains}
    ranges: list[dict[str, Any]] = []
    path = None
    stacks = [(s.domain, s.ranges, thread.id) for thread in state.threads for s in thread.domains]
    started = [(*_started(process), None) for process in state.processes]
    for number, own, thread in [*started, *stacks]:
        domain = domains.get(number, str(number))
        found = [_range(one, domain, thread) for one in own]
        ranges += found
        if found:
            prefix = "" if domain == DEFAULT_DOMAIN else f"{domain}:"
            path = prefix + "/".join(one["name"] for one in found)
    return State(path, ranges)


def _started(raw: bytes) -> tuple[int, list[Any]]:
    """Domain and start/end ranges of a process.

    Every state has one such message for each domain, but no public report has a range in it: whatever field of it holds
    something with the layout of a range and a name is taken for one.
    """
    domain = 0
    ranges = []
    for number, wire, value in fields(raw):
        if number == 1 and isinstance(value, int):
            domain = value
        elif wire == LENGTH:
            try:
                one = message("NvtxRange").FromString(value)
            except DecodeError:
                continue
            if one.name:
                ranges.append(one)
    return domain, ranges


def _range(one: Any, domain: str, thread: int | None) -> dict[str, Any]:  # noqa: ANN401
    """The fields of :data:`ncuroof.tables.NVTX_RANGE` of a range message."""
    attributes = one.attributes
    color = attributes.color
    return {
        "domain": domain,
        "name": text(one.name) or text(attributes.message.text),
        "payload": payload(attributes.payload) if attributes.HasField("payload") else None,
        "category": attributes.category & 0xFFFFFFFF if attributes.category else None,
        "color": f"#{color.argb & 0xFFFFFFFF:08X}" if color.type else None,
        "thread": thread,
    }


def payload(raw: bytes) -> str | None:
    """A range's payload as text; None where it has none.

    A payload is a type (NVTX: 1 uint64, 2 int64, 3 double, 4 uint32, 5 int32, 6 float; 0 none) and a value. The value
    is taken from whatever field holds it: its field number may depend on the type, and no public report has one.
    """
    kind = 0
    shown = None
    for number, wire, value in fields(raw):
        if isinstance(value, bytes):
            shown = text(value) if wire == LENGTH else _fixed(kind, value)
        elif number == 1:
            kind = value
        else:
            shown = str(_signed(value, _SIGNED[kind]) if kind in _SIGNED else value)
    return shown if kind or shown not in (None, "0") else None


def _fixed(kind: int, raw: bytes) -> str:
    """A number of 4 or 8 bytes as text: an integer if the type says so, else a float."""
    wide = len(raw) == 8
    if kind in _INTEGERS:
        return str(int.from_bytes(raw, "little", signed=kind in _SIGNED))
    number = struct.unpack("<d" if wide else "<f", raw)[0]
    return repr(number) if wide else f"{number:.9g}"


def _signed(value: int, bits: int) -> int:
    """The signed number of so many bits that a varint stands for."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
