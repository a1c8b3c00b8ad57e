"""Work from executed instructions: turns counts per opcode into counts per kind of work, named like metrics.

Reports with source counters hold, for every mnemonic with its modifiers, how often warps and how often threads executed
it. That gives the work of every path without any FLOP counter, in reports of every version since 2020. Against the FLOP
counters of the same runs it is exact: on an RTX 5090, 2,162,688 HMMA.16816.F32.BF16 × 4096 is the tensor counter's
8,858,370,048; on an A100, 13,824 IMMA.16832.S8.S8 × 8192 are the 2·384³ of the product.

The names made here are used in the counter tables like any metric:

* ``opcode:ffma`` and its kin: thread instructions of CUDA cores;
* ``opcode:op_hmma_src_bf16_dst_fp32``: operations of a tensor opcode family, as the parts of ``tensor.toml``.

A result that holds counts per opcode and none of a kind has a known zero of that kind.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ncuroof.metrics import tensor
from ncuroof.metrics.catalogue import MADE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WARPS = "sass__inst_executed_per_opcode_with_modifier_all"
THREADS = "sass__thread_inst_executed_true_per_opcode_with_modifier_all"

VECTOR: dict[str, tuple[str, float]] = {
    "FADD": ("fadd", 1), "FADD32I": ("fadd", 1), "FADD2": ("fadd", 2),
    "FMUL": ("fmul", 1), "FMUL32I": ("fmul", 1), "FMUL2": ("fmul", 2),
    "FFMA": ("ffma", 1), "FFMA32I": ("ffma", 1), "FFMA2": ("ffma", 2),
    "DADD": ("dadd", 1), "DMUL": ("dmul", 1), "DFMA": ("dfma", 1),
    "HADD2": ("hadd", 1), "HADD2_32I": ("hadd", 1), "HMUL2": ("hmul", 1), "HMUL2_32I": ("hmul", 1),
    "HFMA2": ("hfma", 1), "HFMA2_32I": ("hfma", 1),
}  # fmt: skip
"""Opcode of CUDA cores to its kind and how many of it one thread instruction does (Blackwell packs two FP32)."""

CONVERSION = "HADD2.F32"
"""Half to float conversion, written as an addition; no work, though the counters count it."""

SHAPES: dict[str, tuple[int, int, int]] = {
    "884": (8, 8, 4), "1684": (16, 8, 4), "1688": (16, 8, 8), "16816": (16, 8, 16), "16832": (16, 8, 32),
    "16864": (16, 8, 64), "8816": (8, 8, 16), "8832": (8, 8, 32), "88128": (8, 8, 128), "168128": (16, 8, 128),
    "168256": (16, 8, 256),
}  # fmt: skip
"""M, N, K of a warp's matrix instruction by the digits in its mnemonic."""

VOLTA_STEPS = {True: 4, False: 2}
"""Volta's HMMA.884 does a 8×8×4 product for each of four quads in so many steps: by FP32 accumulation."""

UNSIZED = re.compile(r"^UTC[HIOQ]MMA")
"""tcgen05 instructions: their shape stands in a descriptor, so they cannot be priced."""

_TYPES = (
    ("E2M1", "fp4"), ("E3M2", "fp6"), ("E2M3", "fp6"), ("E4M3", "fp8"), ("E5M2", "fp8"),
    ("BF16", "bf16"), ("TF32", "tf32"), ("S4", "int4"), ("U4", "int4"), ("S8", "int8"), ("U8", "int8"),
)  # fmt: skip
_DEFAULT_TYPE = {"H": "fp16", "Q": "fp8", "O": "fp4", "I": "int8", "D": "fp64", "B": "int1"}


@lru_cache(maxsize=4096)
def kind_of_threads(mnemonic: str) -> tuple[str, float] | None:
    """Kind of work of a CUDA core instruction, such as ``ffma``, and its factor; None for any other."""
    if mnemonic == CONVERSION or mnemonic.startswith(f"{CONVERSION}."):
        return None
    return VECTOR.get(mnemonic.split(".", maxsplit=1)[0])


@lru_cache(maxsize=4096)
def kind_of_warps(mnemonic: str) -> tuple[str, float] | None:
    """Part of ``tensor.toml`` that a matrix instruction belongs to, and its operations; None for any other.

    ``HMMA.16816.F32.BF16`` is (``op_hmma_src_bf16_dst_fp32``, 4096): 2·16·8·16. A wgmma instruction counts a quarter of
    its 64×N×K product, because all four warps of its warpgroup execute it.
    """
    opcode, *modifiers = mnemonic.split(".")
    match = re.fullmatch(r"([HIDBQO])(G?)MMA", opcode)
    if match is None:
        return None
    letter, group = match.groups()
    shape = next((m for m in modifiers if m in SHAPES or re.fullmatch(r"64x\d+x\d+", m)), None)
    if shape is None:
        return None
    m, n, k = SHAPES[shape] if shape in SHAPES else tuple(int(part) for part in shape.split("x"))
    single = "F32" in modifiers
    operations = 2.0 * m * n * k / (4 if group else 1)
    if letter == "H" and shape == "884":
        operations = 2.0 * m * n * k * 4 / VOLTA_STEPS[single]
    source = next((name for text, name in _TYPES if text in modifiers), _DEFAULT_TYPE[letter])
    if letter == "Q" and source == "fp4":
        source = "fp6"  # the f8f6f4 kind of instruction runs FP4 at the rate of FP6
    family = f"{letter}{group}MMA".lower()
    part = _part(family, source, "fp32" if single or source in {"bf16", "tf32"} else "fp16")
    return None if part is None else (part, operations)


def _part(family: str, source: str, accumulator: str) -> str | None:
    """The part of the tensor table with these letters, with or without its accumulator."""
    source = "fp4_fp6" if source == "fp6" else source
    known = tensor.parts()
    return next(
        (p for p in (f"op_{family}_src_{source}_dst_{accumulator}", f"op_{family}_src_{source}") if p in known), None
    )


def names() -> frozenset[str]:
    """Every name that :func:`counts` can give."""
    return frozenset(f"{MADE}{kind}" for kind in (*(kind for kind, _ in VECTOR.values()), *tensor.parts()))


def counts(launches: pl.DataFrame, instances: pl.DataFrame | None) -> dict[str, Floats]:
    """Counts per kind of work over the launches, NaN for results without counts per opcode.

    Args:
        launches: one row per result, with ``source_sha256`` and ``result_index``.
        instances: as :class:`ncuroof.model.Chunk` has them; None for none.

    Returns:
        Name (:func:`names`) to values. Empty where no result has counts per opcode.
    """
    if instances is None or instances.is_empty():
        return {}
    keys = ["source_sha256", "result_index"]
    index = launches.select(keys).with_row_index("_row")
    rows = instances.join(index, on=keys, how="inner")
    found: dict[str, Floats] = {}
    vector = {kind for kind, _ in VECTOR.values()}
    for metric, kinds, classify in ((THREADS, vector, kind_of_threads), (WARPS, set(tensor.parts()), kind_of_warps)):
        own = rows.filter(pl.col("metric") == metric)
        if own.is_empty():
            continue
        mnemonics = own["instance"].unique().to_list()
        held = np.full(launches.height, np.nan)
        held[own["_row"].to_numpy()] = 0.0
        if metric == WARPS:
            unsized = [text for text in mnemonics if UNSIZED.match(text)]
            held[own.filter(pl.col("instance").is_in(unsized))["_row"].to_numpy()] = np.nan
        arrays = {kind: held.copy() for kind in kinds}
        said = [(text, *kind) for text in mnemonics if (kind := classify(text)) is not None]
        table = pl.DataFrame(said, schema={"instance": pl.String, "kind": pl.String, "each": pl.Float64}, orient="row")
        totals = own.join(table, on="instance").group_by("kind", "_row").agg(pl.col("value").dot("each"))
        for (kind,), part in totals.partition_by("kind", as_dict=True).items():
            arrays[kind][part["_row"].to_numpy()] += part["value"].to_numpy()
        found |= {f"{MADE}{kind}": values for kind, values in arrays.items()}
    return found
