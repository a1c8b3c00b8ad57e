"""Element types: their size, and the compute paths that products and ordinary arithmetic on them use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dtype:
    """An element type.

    Attributes:
        name: canonical name.
        bits: bits per element as stored, without scale factors.
        matrix: paths of a matrix product on it, first that the GPU has wins.
        vector: path of ordinary arithmetic on it; types below 32 bit are computed in FP32, as frameworks do. Of ten
            public elementwise and reduction kernels on half types whose FLOPs were counted, nine did no packed half
            arithmetic at all. Where counters tell otherwise, they decide.
        scale_bits: bits of block scale factors per element (NVFP4: 8 bits for 16 elements; MX formats: 8 for 32).
    """

    name: str
    bits: int
    matrix: tuple[str, ...]
    vector: str
    scale_bits: float = 0.0

    @property
    def bytes(self) -> float:
        """Bytes per element, scale factors included."""
        return (self.bits + self.scale_bits) / 8

    def paths(self, arithmetic: str) -> tuple[str, ...]:
        """Compute paths of matrix products, of ordinary (``vector``) arithmetic, or of ``none``; best first."""
        return self.matrix if arithmetic == "matrix" else (self.vector,) if arithmetic == "vector" else ()


_ALL = (
    Dtype("fp64", 64, ("fp64_tensor", "fp64"), "fp64"),
    Dtype("fp32", 32, ("fp32",), "fp32"),
    Dtype("tf32", 32, ("tf32",), "fp32"),
    Dtype("fp16", 16, ("fp16",), "fp32"),
    Dtype("bf16", 16, ("bf16",), "fp32"),
    Dtype("fp8", 8, ("fp8",), "fp32"),
    Dtype("fp6", 6, ("fp6",), "fp32"),
    Dtype("fp4", 4, ("fp4",), "fp32"),
    Dtype("mxfp8", 8, ("fp8",), "fp32", 8 / 32),
    Dtype("mxfp6", 6, ("fp6",), "fp32", 8 / 32),
    Dtype("mxfp4", 4, ("fp4",), "fp32", 8 / 32),
    Dtype("nvfp4", 4, ("fp4",), "fp32", 8 / 16),
    Dtype("int32", 32, (), "fp32"),
    Dtype("int8", 8, ("int8",), "fp32"),
    Dtype("int4", 4, ("int4",), "fp32"),
    Dtype("int1", 1, ("int1",), "fp32"),
)

DTYPES: dict[str, Dtype] = {dtype.name: dtype for dtype in _ALL}
"""By canonical name."""

ALIASES: dict[str, str] = {
    "double": "fp64", "float64": "fp64", "f64": "fp64",
    "float": "fp32", "float32": "fp32", "single": "fp32", "f32": "fp32",
    "half": "fp16", "float16": "fp16", "f16": "fp16",
    "bfloat16": "bf16",
    "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "e4m3": "fp8", "e5m2": "fp8",
    "float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
    "fp6_e2m3": "fp6", "fp6_e3m2": "fp6", "fp4_e2m1": "fp4",
    "s8": "int8", "u8": "int8", "uint8": "int8", "s32": "int32", "i8": "int8", "i32": "int32",
}  # fmt: skip
"""Other spellings."""


def dtype(name: str) -> Dtype | None:
    """The element type of a name, in any spelling (``torch.float16``, ``FP16``); None if unknown."""
    key = name.strip().lower().removeprefix("torch.")
    return DTYPES.get(ALIASES.get(key, key))
