"""D013 annotation-contradicted: an annotation asks for more than was executed or than the GPU can do.

What it does
    Finds launches whose annotated shape cannot be true.

Why it matters
    A mistyped size makes every figure that rests on it wrong: useful work, padding, intensity, residency in L2. Such an
    annotation is left out: the launch is placed by its counters alone, and no other rule uses what it says.

How it decides
    One of these holds:
    the useful work of a product or of attention exceeds the executed work by 5 % where all of it was counted, by a
    factor of two where some of it was derived or not every unit was counted;
    the useful work would keep the fastest unit that can do it busy for more than twice the time (2:4 sparsity doubles a
    dense peak);
    the compulsory bytes in the time are more than 1.5 times what L2 delivers, or more than ten times what DRAM does
    where the bandwidth of L2 is not known.

What to do
    Check the sizes, the element type, and which launch the annotation belongs to: a range around several kernels, or a
    line of a file that is off by one, gives a small kernel the work of a large one.

When it is wrong
    An algorithm that saves multiplications (Strassen) executes less than its shape asks for. Convolutions, where that
    is common, are held against the peak only. Causal attention annotated as full asks for twice what it executes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, si
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.rules import Limit

CODE = "D013"
NAME = "annotation-contradicted"
SEVERITY = "note"
NEEDS: tuple[str | tuple[str, ...], ...] = ("duration_s",)
TIER = "annotation"
LIMITS: dict[str, Limit] = {}

ADVICE = (
    "Check the annotated sizes, the element type and which launch they belong to; until then this launch is placed by "
    "its counters alone."
)


def applies() -> pl.Expr:
    """Launches whose annotation says how much work they are."""
    return pl.col("_told_flop").is_not_null() | pl.col("_told_bytes").is_not_null()


def check(kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """Launches with an impossible annotation; see the module's documentation and :mod:`ncuroof.annotation_doubt`."""
    return findings(
        kernels.filter(pl.col("annotation_doubt").is_not_null()),
        message=_message,
        advice=ADVICE,
        evidence=[
            Evidence("_told_flop", "FLOP", "flop", "shape of the annotation; limit: executed work"),
            Evidence("_told_bytes", "byte", None, "shape of the annotation"),
            Evidence("annotation_excess", "x"),
        ],
    )


def _message(k: Row) -> str:
    times = digits(k["annotation_excess"])
    if k["annotation_doubt"] == "bandwidth":
        what = f"{si(k['_told_bytes'], 'byte')} in {si(k['duration_s'], 's')}"
        limit = "what the caches of this GPU can deliver"
    else:
        what = f"{si(k['_told_flop'], 'FLOP')} in {si(k['duration_s'], 's')}"
        limit = "what this GPU can do"
        if k["annotation_doubt"] == "executed":
            limit = f"the {si(k['flop'], 'FLOP')} that were executed"
    name = k["kernel_name"] or "a kernel"
    return f"the annotation of {name} asks for {what}, {times} x {limit}: it cannot be true and is left out"
