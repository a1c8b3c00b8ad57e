"""How a kernel was compiled, as far as its instructions show: what W005 finds, and other rules leave to it."""

from __future__ import annotations

import polars as pl

MOVES = 0.25
"""Share of register moves. Kernels compiled with -G for CC 7.5 to 12.0 hold 38 to 60 %, with -O3 at most 13 %; public
reports of optimized code reach 18 %."""


def moves() -> pl.Expr:
    """Share of the executed instructions that only move a register or a constant, 0 to 1."""
    return pl.col("inst_moves") / pl.when(pl.col("inst_warps") > 0).then(pl.col("inst_warps"))


def debug(share: float | pl.Expr = MOVES) -> pl.Expr:
    """Whether a kernel is a debug build: every value is moved about, and no address was told to be global."""
    generic = (pl.col("inst_generic") > 0) & (pl.col("inst_generic") > pl.col("inst_global"))
    return ((moves() >= share) & generic).fill_null(value=False)
