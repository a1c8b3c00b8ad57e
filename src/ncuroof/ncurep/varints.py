"""Decodes many protobuf varints at once, each from the 8 bytes that begin with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

LOW = np.array([(1 << (8 * n)) - 1 if n < 8 else (1 << 64) - 1 for n in range(9)], dtype=np.uint64)
"""Element n keeps the first n bytes of a little-endian word."""
_TOP = np.uint64(0x8080808080808080)


def length_of(raw: Words) -> NDArray[np.int64]:
    """Octets of each varint: up to the first one without a continuation bit; 0 where that is not among the eight."""
    ends = ~raw & _TOP
    lowest = ends & (~ends + np.uint64(1))  # only the lowest bit that is set
    # 2^7, 2^15, … are 0.5 × 2^8, 0.5 × 2^16, …, exact in floating point.
    return np.frexp(lowest.astype(np.float64))[1].astype(np.int64) // 8


def value_of(raw: Words, length: NDArray[np.int64]) -> Words:
    """The number in each varint of ``length`` octets, at most eight."""
    return join_sevens(raw & LOW[length])


def join_sevens(raw: Words) -> Words:
    """The number in a little-endian varint of up to 8 bytes: drops every eighth bit, by halves."""
    u = np.uint64
    raw = raw & u(0x7F7F7F7F7F7F7F7F)
    raw = (raw & u(0x007F007F007F007F)) | ((raw & u(0x7F007F007F007F00)) >> u(1))
    raw = (raw & u(0x00003FFF00003FFF)) | ((raw & u(0x3FFF00003FFF0000)) >> u(2))
    joined: Words = (raw & u(0x000000000FFFFFFF)) | ((raw & u(0x0FFFFFFF00000000)) >> u(4))
    return joined
