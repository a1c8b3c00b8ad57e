"""Where an operation stands under a roofline before anything is run: T ≥ max(W/F, Q/B)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.roofs.record import attainable, ridge
from ncuroof.verdict_words import COMPUTE, MEMORY

if TYPE_CHECKING:
    from ncuroof.roofs.record import Roof

NEAR_RIDGE = 1.25
"""Within this factor of the ridge point both sides matter: measured roofs scatter by 10 to 20 % among tools."""

LAUNCH_FLOOR_S = 4e-6
"""A bound below this is shorter than the kernel's fixed cost of a few microseconds."""


@dataclass(frozen=True)
class Bound:
    """An operation under its roof.

    Attributes:
        flop: W, FLOP (operations on integer paths).
        bytes: Q, byte.
        flat: the compute roof; None for an operation without work.
        slope: the bandwidth roof.
    """

    flop: float
    bytes: float
    flat: Roof | None
    slope: Roof

    @property
    def intensity(self) -> float | None:
        """I = W / Q in FLOP/byte; None where no byte moves."""
        return self.flop / self.bytes if self.bytes else None

    @property
    def ridge(self) -> float | None:
        """I* = F / B in FLOP/byte."""
        return ridge(self.flat.value, self.slope.value) if self.flat else None

    @property
    def compute_s(self) -> float:
        """W / F in seconds."""
        return self.flop / self.flat.value if self.flat else 0.0

    @property
    def memory_s(self) -> float:
        """Q / B in seconds."""
        return self.bytes / self.slope.value

    @property
    def time_s(self) -> float:
        """The least time the roofs allow."""
        return max(self.compute_s, self.memory_s)

    @property
    def attainable_flop_s(self) -> float | None:
        """min(F, I·B) in FLOP/s."""
        if self.flat is None or self.intensity is None:
            return self.flat.value if self.flat else None
        return attainable(self.intensity, self.flat.value, self.slope.value)

    @property
    def percent_of_peak(self) -> float | None:
        """Attainable throughput over F, in percent."""
        reached = self.attainable_flop_s
        return 100 * reached / self.flat.value if self.flat and reached is not None else None

    @property
    def verdict(self) -> str:
        """memory-bound or compute-bound: the larger of the two times."""
        return MEMORY if self.memory_s >= self.compute_s else COMPUTE

    @property
    def near_ridge(self) -> bool:
        """Whether a change of roof by the usual scatter would change the verdict."""
        if not self.compute_s or not self.memory_s:
            return False
        return max(self.compute_s, self.memory_s) / min(self.compute_s, self.memory_s) <= NEAR_RIDGE
