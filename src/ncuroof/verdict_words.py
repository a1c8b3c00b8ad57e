"""The verdicts on a kernel: the word for each, and the mark, colour and shape that stand for it everywhere."""

from __future__ import annotations

from dataclasses import dataclass

MEMORY = "memory-bound"
COMPUTE = "compute-bound"
LATENCY = "latency-bound"
OVERHEAD = "overhead-bound"
CANNOT_SAY = "cannot-say"


@dataclass(frozen=True)
class Verdict:
    """How a verdict looks.

    Attributes:
        word: as it stands in the column ``verdict``.
        mark: the character for it in tables.
        color: of mark and point.
        shape: of its points, as Vega names it; it looks like the mark.
    """

    word: str
    mark: str
    color: str
    shape: str


# Okabe and Ito's palette, which people with any colour vision tell apart; the shapes say the same thing again.
VERDICTS: tuple[Verdict, ...] = (
    Verdict(MEMORY, "●", "#0072B2", "circle"),
    Verdict(COMPUTE, "■", "#D55E00", "square"),
    Verdict(LATENCY, "▲", "#009E73", "triangle-up"),
    Verdict(OVERHEAD, "◆", "#CC79A7", "diamond"),
    Verdict(CANNOT_SAY, "✚", "#7A7A7A", "cross"),
)
"""In the order of legends."""

WORDS: tuple[str, ...] = tuple(v.word for v in VERDICTS)
BY_WORD: dict[str, Verdict] = {v.word: v for v in VERDICTS}


def verdict(word: object) -> Verdict:
    """The verdict of this word; an unknown or missing one counts as ``cannot-say``."""
    return BY_WORD.get(str(word), BY_WORD[CANNOT_SAY])
