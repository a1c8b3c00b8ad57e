"""What a kernel's name says about the tensor path it takes. Names give hints, never shapes or counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Hint:
    """What a name says.

    Attributes:
        path: tensor path, one of :data:`ncuroof.paths.PATH_NAMES`; None where the name names no element type.
        matrix: whether the name is that of a matrix kernel on tensor cores.
        legacy: whether it uses mma.sync (True) or wgmma or tcgen05 (False); None where the name does not tell.
        fp16_accumulate: whether the name says that it accumulates in FP16.
    """

    path: str | None
    matrix: bool
    legacy: bool | None
    fp16_accumulate: bool


_MATRIX = re.compile(
    r"tensorop|(?<![a-z])(?:[shid]\d{3,5}(?:gemm|fprop|dgrad|wgrad|conv)|(?:wg|hg|qg|[ghidwu]|utc[hioq])?mma)|xmma|nvjet"
    r"|tcgen05|flash_(?:fwd|bwd|attn)|flashattn|fmha|mmamultistage|mmapipelined|warpspecialized"
)
_NEW = re.compile(
    r"sm(?:90|100|101|103|110)|(?<![a-z])(?:hg|wg|g|u|utc[hioq])mma|nvjet|tcgen05|warpspecialized|flash_fwd_sm90"
)
_LEGACY = re.compile(
    r"cutlass_(?:7\d|8\d)|sm(?:7\d|8\d)|(?:volta|turing|ampere)_|16816|1688|m16n8k|884|wmma|mma_sync|flash_(?:fwd|bwd)_(?:kernel|split)"
    r"|mmamultistage|mmapipelined"
)
_FP16_ACCUMULATE = re.compile(r"(?<![a-z])h(?:16816|1688|884)(?:gemm|fprop|conv)|hgemm|nvjet_hhh|f16f16_f16f16_f16")

# Most specific first: a mixed kernel is named after its narrow operand.
_PATHS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("fp4", re.compile(r"nvfp4|mxfp4|e2m1|fp4")),
    ("fp6", re.compile(r"e3m2|e2m3|mxfp6|fp6")),
    ("fp8", re.compile(r"e4m3|e5m2|fp8|mxf8|qgmma|nvjet_q|(?<![a-z0-9])f8")),
    ("int1", re.compile(r"(?<![a-z])bmma|(?<![a-z0-9])b1_|uint1b|i88128")),
    ("int4", re.compile(r"int4b|(?<![a-z])s4_|u4_|integer_subbyte<\(int\)4|i8832|i16864")),
    ("int8", re.compile(r"int8|igemm|(?<![a-z])imma|i8816|i16816|i16832|signed char|(?<![a-z])s8_")),
    ("fp64_tensor", re.compile(r"d884|(?<![a-z])dmma|dgemm|f64f64|(?<![a-z])d16816")),
    ("tf32", re.compile(r"tf32|tfloat32|nvjet_s|f32f32_f32f32")),
    ("bf16", re.compile(r"bf16|bfloat16|nvjet_t|nvjet_sm\d+_t")),
    ("fp16", re.compile(r"fp16|f16|half|[sh]884|s1688gemm|h1688|h16816|hgemm|nvjet_h")),
)


@lru_cache(maxsize=4096)
def hint(name: str) -> Hint:
    """What a kernel's name (function and demangled name together) says about its tensor path."""
    text = name.lower()
    path = next((p for p, pattern in _PATHS if pattern.search(text)), None)
    legacy = False if _NEW.search(text) else True if _LEGACY.search(text) else None
    return Hint(path, bool(_MATRIX.search(text)), legacy, bool(_FP16_ACCUMULATE.search(text)))
