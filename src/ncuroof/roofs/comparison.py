"""Two rooflines against each other: ridge points, and where they cross."""

from __future__ import annotations

from dataclasses import dataclass

from ncuroof.roofs.record import ridge


@dataclass(frozen=True)
class Roofline:
    """One roofline: P(I) = min(F, I·B).

    Attributes:
        name: what it is called.
        flop_s: F, FLOP/s.
        bytes_s: B, byte/s.
    """

    name: str
    flop_s: float
    bytes_s: float

    @property
    def ridge(self) -> float:
        """I* = F / B in FLOP/byte."""
        return ridge(self.flop_s, self.bytes_s)


def crossing(one: Roofline, other: Roofline) -> float | None:
    """The intensity in FLOP/byte at which two rooflines cross; None where one is nowhere above the other.

    They cross where one has the higher slope and the other the higher flat part: the flat part of the first meets the
    slope of the second, at F_first / B_second. H200 and H100 in FP16: 755.6 TFLOP/s / 3.085 TB/s = 245 FLOP/byte.
    """
    if (one.bytes_s - other.bytes_s) * (one.flop_s - other.flop_s) >= 0:
        return None
    faster, slower = (one, other) if one.bytes_s > other.bytes_s else (other, one)
    return faster.flop_s / slower.bytes_s
