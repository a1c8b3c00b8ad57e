"""The compute paths: what each is, and the columns that hold its work, its peak and its roof.

A path is a kind of arithmetic with a peak of its own. Its work is counted in FLOP, on integer paths in operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class Path:
    """One compute path.

    Attributes:
        name: as it stands in the column ``path``.
        unit: what its work is counted in: FLOP, or op on integer paths.
        tensor: whether it runs on tensor cores; else on CUDA cores.
        narrow: whether its operands are of 8 bits and less: units that products of wider types cannot use.
        sparse: whether the hardware has a rate for 2:4 sparse operands.
    """

    name: str
    unit: str = "FLOP"
    tensor: bool = True
    narrow: bool = False
    sparse: bool = True

    @property
    def integer(self) -> bool:
        """Whether it does integer operations."""
        return self.unit == "op"

    @property
    def rate(self) -> str:
        """The unit of its roof: FLOP/s or op/s."""
        return f"{self.unit}/s"

    @property
    def work(self) -> str:
        """Column of the executed work: ``flop_fp16``, ``op_int8``."""
        return f"{self.unit.lower()}_{self.name}"

    @property
    def peak(self) -> str:
        """Column of the dense peak that the report itself holds: ``peak_flop_s_fp16``, ``peak_op_s_int8``."""
        return f"peak_{self.unit.lower()}_s_{self.name}"

    @property
    def roof(self) -> str:
        """Column of the flat roof at the clock of the run, in FLOP/s or op/s."""
        return f"roof_flop_s_{self.name}"

    @property
    def boost(self) -> str:
        """Column of the same roof at the highest clock."""
        return f"roof_boost_flop_s_{self.name}"


PATHS: tuple[Path, ...] = (
    Path("fp64", tensor=False, sparse=False),
    Path("fp64_tensor", sparse=False),
    Path("fp32", tensor=False, sparse=False),
    Path("tf32"),
    Path("fp16_vector", tensor=False, sparse=False),
    Path("fp16"),
    Path("bf16"),
    Path("fp8", narrow=True),
    Path("fp6", narrow=True),
    Path("fp4", narrow=True),
    Path("int8", unit="op", narrow=True),
    Path("int4", unit="op", narrow=True),
    Path("int1", unit="op", narrow=True, sparse=False),
)
"""Every path, in the order in which they are listed and in which the first of equals is chosen."""

BY_NAME: dict[str, Path] = {path.name: path for path in PATHS}
PATH_NAMES: tuple[str, ...] = tuple(BY_NAME)
TENSOR: tuple[Path, ...] = tuple(path for path in PATHS if path.tensor)
INTEGER: tuple[Path, ...] = tuple(path for path in PATHS if path.integer)


def pick(column: Callable[[Path], str], path: pl.Expr | None = None) -> pl.Expr:
    """The column of the path that a row names: ``pick(lambda p: p.roof)`` is the roof of the kernel's own path.

    Args:
        column: gives the column of a path.
        path: holds the name of the path; by default the column ``path``. Null where it names none.
    """
    named = pl.col("path") if path is None else path
    return pl.coalesce(pl.when(named == p.name).then(pl.col(column(p))) for p in PATHS)


def first(holds: Callable[[Path], pl.Expr], among: Iterable[Path] = PATHS) -> pl.Expr:
    """The name of the first path for which a condition holds; null where it holds for none."""
    return pl.coalesce(pl.when(holds(p)).then(pl.lit(p.name)) for p in among)
