"""T003 wave-tail: the last wave of blocks is only partly filled.

What it does
    Finds grids that need a last round of blocks which occupies only part of the SMs.

Why it matters
    With blocks of equal length the kernel takes as many rounds as there are waves, rounded up: 1.1 waves take as long
    as 2.

How it decides
    With w waves (blocks over the blocks that fit at once), at least one of them full, the loss is 1 - w / ceil(w). It
    counts only as far as the busiest roof or unit leaves room: a kernel at 90 % of a roof cannot lose 40 % to its tail.
    Where the SMs' active cycles were counted, their idle share caps it too: (max - mean) / cycles, with high
    confidence, or, without the busiest SM, 1 - mean / cycles, which also holds launch and drain.

What to do
    Choose tile and block size so that the waves are a whole number or many, make blocks shorter, or use a persistent
    kernel (stream-K) that deals the work out evenly.

When it is wrong
    Blocks of uneven length fill the tail, and a few blocks left alone on an SM run faster than a full wave: without
    measured SM activity the loss is an upper bound. An SM with one block left counts as active. Persistent kernels
    launch one whole wave and are silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, percent
from ncuroof.rules import Limit
from ncuroof.rules._context import by_side, gain
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T003"
NAME = "wave-tail"
SEVERITY = "info"
NEEDS = ("waves", "duration_s")
TIER = "roofline"
LIMITS = {
    "loss": Limit(
        0.10,
        "1",
        "a tenth of the time; Nsight warns where the loss can reach 20 %, whatever it is",
        "10 % of public kernels; Nsight rule LaunchConfiguration",
    ),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose last wave costs time; see the module's documentation."""
    hit = (
        kernels.with_columns(_loss=gain(pl.col("_tail_loss")))
        .filter(pl.col("_matters") & (pl.col("_loss") >= limits["loss"]))
        .with_columns(_stake=pl.col("duration_s") * pl.col("_loss"))
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence=_confidence,
        evidence=[
            Evidence("waves", "1", None, "launch"),
            Evidence("_wave_loss", "1", limits["loss"], "1 - waves / ceil(waves)"),
            Evidence("_sm_idle", "1", limits["loss"], "(max or all - mean) of the SMs' active cycles / cycles"),
            Evidence("_used_pct", "%", None, "busiest roof or unit"),
        ],
    )


def _confidence(k: Row) -> str:
    if k["_sm_idle"] is None:
        return "medium" if k["_used_pct"] is not None else "low"
    return "high" if k["sm_cycles_active_max"] is not None else "medium"


def _message(k: Row) -> str:
    measured = f"; the SMs idle for {percent(100 * k['_sm_idle'])}" if k["_sm_idle"] is not None else ""
    return (
        f"{digits(k['waves'])} waves: the last one is partly filled, which costs up to "
        f"{percent(100 * k['_wave_loss'])} of the time{measured}"
    )


def _advice(k: Row) -> str:
    return by_side(
        k,
        left="Make blocks smaller, so that many short waves keep memory busy to the end, or launch whole waves.",
        right="Choose the tile so that the waves are a whole number, or deal tiles out with stream-K.",
        near="Choose tile and grid so that the waves are a whole number, or use a persistent kernel.",
        unknown="Choose tile and grid so that the waves are a whole number, or use a persistent kernel.",
    )
