"""Walks over the fields of a protobuf message whose layout is not declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

VARINT, LENGTH = 0, 2
_FIXED = {1: 8, 5: 4}


def fields(raw: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Field number, wire type (0, 1, 2, 5) and content of each field: an integer for a varint, else the bytes.

    Raises:
        DecodeError: for bytes that are no message.
    """
    position = 0
    while position < len(raw):
        tag, position = _varint(raw, position)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, position = _varint(raw, position)
            yield number, wire, value
            continue
        if wire == LENGTH:
            size, position = _varint(raw, position)
        elif wire in _FIXED:
            size = _FIXED[wire]
        else:
            msg = "wire type that does not exist"
            raise DecodeError(msg)
        if position + size > len(raw):
            msg = "field that is longer than its message"
            raise DecodeError(msg)
        yield number, wire, raw[position : position + size]
        position += size


def _varint(raw: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while shift < 70:
        if position >= len(raw):
            msg = "message that ends in the middle of a number"
            raise DecodeError(msg)
        octet = raw[position]
        position += 1
        result |= (octet & 0x7F) << shift
        if octet < 0x80:
            return result, position
        shift += 7
    msg = "number of more than ten bytes"
    raise DecodeError(msg)
