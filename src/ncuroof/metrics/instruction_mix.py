"""What a kernel spends its instructions on: counts per opcode, summed to groups and named like metrics.

``opcode:moves`` and its kin are warp instructions of a launch. As with the work that :mod:`ncuroof.metrics.opcodes`
makes of the same counts, a result that holds counts per opcode and none of a group has a known zero of that group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ncuroof.metrics.catalogue import MADE
from ncuroof.metrics.opcodes import CONVERSION, WARPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALL = f"{MADE}warps"

GROUPS: dict[str, frozenset[str]] = {
    "moves": frozenset({"MOV", "MOV32I"}),
    "conversions": frozenset(
        {"F2F", "F2FP", "F2I", "F2IP", "I2F", "I2FP", "I2I", "I2IP", "FRND", "UI2F", "UF2F", "UF2I", "UI2FP", "UF2FP"}
    ),
    "special": frozenset({"MUFU"}),
    "generic": frozenset({"LD", "ST"}),
    "global": frozenset({"LDG", "STG", "ATOMG", "RED", "REDG"}),
    "global_loads": frozenset({"LDG"}),
    "shared_stores": frozenset({"STS"}),
    "shared_loads": frozenset({"LDS", "LDSM"}),
    "async_copies": frozenset({"LDGSTS", "UBLKCP", "UTMALDG"}),
}
"""Group to its opcodes, without modifiers (CUDA Binary Utilities, instruction set reference). ``IMAD.MOV`` is no move
here: optimizing compilers write it to balance pipes."""


def names() -> frozenset[str]:
    """Every name that :func:`counts` can give."""
    return frozenset((ALL, *(f"{MADE}{group}" for group in GROUPS)))


def counts(launches: pl.DataFrame, instances: pl.DataFrame | None) -> dict[str, Floats]:
    """Warp instructions per group over the launches, NaN for results without counts per opcode.

    Args:
        launches: one row per result, with ``source_sha256`` and ``result_index``.
        instances: as :class:`ncuroof.model.Chunk` has them; None for none.
    """
    if instances is None or instances.is_empty():
        return {}
    keys = ["source_sha256", "result_index"]
    index = launches.select(keys).with_row_index("_row")
    opcode = pl.col("instance").str.split(".").list.first()
    conversion = opcode.is_in(sorted(GROUPS["conversions"])) | pl.col("instance").str.starts_with(CONVERSION)
    sums = [
        pl.col("value").filter(conversion if group == "conversions" else opcode.is_in(sorted(codes))).sum().alias(group)
        for group, codes in GROUPS.items()
    ]
    own = instances.filter(pl.col("metric") == WARPS).join(index, on=keys, how="inner")
    totals = own.group_by("_row").agg(pl.col("value").sum().alias("warps"), *sums)
    rows = totals["_row"].to_numpy()
    found: dict[str, Floats] = {}
    for name in ("warps", *GROUPS):
        values = np.full(launches.height, np.nan)
        values[rows] = totals[name].to_numpy()
        found[f"{MADE}{name}"] = values
    return found
