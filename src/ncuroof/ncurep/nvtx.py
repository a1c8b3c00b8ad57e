"""NVTX ranges around a launch, from the state that a result stores."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from ncuroof.ncurep.messages import message
from ncuroof.ncurep.session import text
from ncuroof.ncurep.wire import fields

DEFAULT_DOMAIN = "<default domain>"
_SIGNED = {2: 64, 5: 32}
_PAYLOAD_FLOATS = {3: "<d", 6: "<f"}


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
    paths: list[str] = []
    for thread in state.threads:
        for stack in thread.domains:
            domain = domains.get(stack.domain, str(stack.domain))
            names = []
            for one in stack.ranges:
                attributes = one.attributes
                name = text(one.name) or text(attributes.message.text)
                names.append(name)
                color = attributes.color
                ranges.append(
                    {
                        "domain": domain,
                        "name": name,
                        "payload": payload(attributes.payload) if attributes.HasField("payload") else None,
                        "category": attributes.category & 0xFFFFFFFF if attributes.category else None,
                        "color": f"#{color.argb & 0xFFFFFFFF:08X}" if color.type else None,
                        "thread": thread.id,
                    }
                )
            if names:
                paths.append(("" if domain == DEFAULT_DOMAIN else f"{domain}:") + "/".join(names))
    return State(paths[-1] if paths else None, ranges)


def payload(raw: bytes) -> str | None:
    """A range's payload as text; None where it has none.

    A payload is a type (NVTX: 1 uint64, 2 int64, 3 double, 4 uint32, 5 int32, 6 float; 0 none) and a value. The value is
    taken from whatever field holds it, since reports with a payload are rare and its field number may depend on the type.
    """
    kind = 0
    shown = None
    for number, wire, value in fields(raw):
        if number == 1 and wire == 0:
            kind = int(value)
        elif wire == 0:
            bits = _SIGNED.get(kind)
            if bits is None:
                shown = str(value)
            else:
                narrow = int(value) & ((1 << bits) - 1)
                shown = str(narrow - (1 << bits) if narrow >> (bits - 1) else narrow)
        elif wire in (1, 5):
            whole = {1: "<Q", 5: "<I"}[wire]
            real = {1: "<d", 5: "<f"}[wire]
            form = whole if kind in (1, 4) else whole.lower() if kind in (2, 5) else real
            number_ = struct.unpack(form, value)[0]
            shown = f"{number_:.9g}" if form == "<f" else repr(number_)
        else:
            shown = text(value)
    return shown if kind or shown not in (None, "0") else None
