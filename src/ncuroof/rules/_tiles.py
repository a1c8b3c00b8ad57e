"""Tile sizes of matrix-product kernels, read off their names.

Forms met: ``cutlass_80_tensorop_s16816gemm_relu_bf16_64x64_32x10_tn``, ``sm90_xmma_gemm_..._tilesize64x64x64_...``,
``nvjet_tst_64x8_64x16_4x1_v_bz_TNT``, ``ampere_sgemm_128x64_nn``, ``volta_h884gemm_256x128_ldg8_nn``.
"""

from __future__ import annotations

import re

_TILESIZE = re.compile(r"tilesize(\d+)x(\d+)", re.IGNORECASE)
_PAIR = re.compile(r"_(\d{1,3})x(\d{1,3})(?=_|$)")
_MATRIX = re.compile(r"gemm|nvjet|cutlass|xmma|matmul|_mma_|wgrad|dgrad|fprop", re.IGNORECASE)
_HELPER = re.compile(r"reduc|split_?k_?reduce|im2col|gemmsn_|quantize", re.IGNORECASE)

_LIBRARY = re.compile(r"nvjet|cutlass|xmma|tensorop|device_kernel|fmha|flash_?attn|flash_?fwd|wgmma", re.IGNORECASE)

LARGEST = 512
"""No tile of a thread block is larger than this in either direction."""


def is_matrix_kernel(name: str | None) -> bool:
    """Whether a name is that of a matrix product or a convolution."""
    return name is not None and bool(_MATRIX.search(name)) and not _HELPER.search(name)


def may_use_tensor_cores(name: str) -> bool:
    """Whether a kernel of this name is likely to: library products, attention, CUTLASS 3's nameless device_kernel."""
    return bool(_LIBRARY.search(name)) and not _HELPER.search(name)


def tile(name: str | None) -> tuple[int, int] | None:
    """The tile a thread block computes, (rows, columns) as the name has them; None where it has none.

    cuBLAS works on column-major matrices: which of the two lies along M is not known from the name.
    """
    if not is_matrix_kernel(name):
        return None
    assert name is not None  # noqa: S101  is_matrix_kernel is false for None
    found = _TILESIZE.search(name) or _PAIR.search(name)
    if found is None:
        return None
    rows, columns = int(found[1]), int(found[2])
    return (rows, columns) if 4 <= rows <= LARGEST and 4 <= columns <= LARGEST else None
