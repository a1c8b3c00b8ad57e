"""What a roof is: a value that never travels without its path, its level, its GPU, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from ncuroof.paths import BY_NAME

SOURCES: tuple[str, ...] = ("report", "measured", "device", "datasheet")
"""Where a roof may come from, in the order used unless the user chooses; ``user`` (``--roofs FILE``) goes first."""

LEVELS: tuple[str, ...] = ("dram", "l2", "l1")
"""Memory levels that have a bandwidth roof."""


@dataclass(frozen=True)
class Roof:
    """One roof.

    Attributes:
        value: FLOP/s (operations per second on integer paths) for a compute roof, byte/s for a bandwidth roof.
        path: compute path of :data:`ncuroof.paths.PATH_NAMES`; None for a bandwidth roof.
        level: memory level of :data:`LEVELS`; None for a compute roof.
        dense: False for a peak with 2:4 structured sparsity, which is never the roof of a dense kernel.
        gpu: id or name of the variant it holds for.
        source: report, measured, device, datasheet or user.
        citation: where exactly the number comes from.
        kind: how a measured peak was measured, a key of :data:`ncuroof.gpus.measured.KINDS`; else empty.
    """

    value: float
    path: str | None
    level: str | None
    dense: bool
    gpu: str
    source: str
    citation: str
    kind: str = ""

    @property
    def unit(self) -> str:
        """FLOP/s, op/s or byte/s."""
        if self.path is None:
            return "byte/s"
        return BY_NAME[self.path].rate


def ridge(flop_s: float, bytes_s: float) -> float:
    """The intensity in FLOP/byte at which a flat part meets a slope: I* = F / B (Williams et al., 2009)."""
    return flop_s / bytes_s


def attainable(intensity: float, flop_s: float, bytes_s: float) -> float:
    """The highest throughput in FLOP/s at an intensity in FLOP/byte: min(F, I·B)."""
    return min(flop_s, intensity * bytes_s)
