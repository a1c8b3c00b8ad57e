"""Analyses that several tests of reporters print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.builders import analysis, finding, kernel
from tests.reporters.hostile import NAMES, SURROGATE

from ncuroof.model import Note, Skip

if TYPE_CHECKING:
    from ncuroof.model import Analysis

GEMM = "void cutlass::Kernel<cutlass_90_tensorop_s16816gemm_f16_64x64_64x3_tn_align8>(cutlass::Params)"


def typical() -> Analysis:
    """A product, a copy launched three times, a softmax with both Qs, and one kernel of which nothing is known."""
    copy = {
        "flop": None,
        "flop_source": None,
        "path": None,
        "roof_flop_s": None,
        "traffic_bytes_source": "percent×peak",
    }
    kernels = [
        kernel(
            kernel_name="Kernel",
            kernel_demangled=GEMM,
            duration_s=4e-4,
            flop=2.0 * 2048 * 8192 * 8192,
            traffic_bytes=2e8,
            path="fp16",
            roof_flop_s=788e12,
            op="gemm",
            op_dtype="fp16",
            op_m=2048,
            op_n=8192,
            op_k=8192,
        ),
        *(kernel(kernel_name="copy", duration_s=1e-4, **copy) for _ in range(3)),
        kernel(kernel_name="softmax", duration_s=1e-4, flop=9e8, traffic_bytes=1e8, compulsory_bytes=2e8),
        kernel(
            kernel_name="index_put", duration_s=2e-5, **copy | {"traffic_bytes": None, "traffic_bytes_source": None}
        ),
    ]
    findings = [
        finding(4, time_at_stake_s=6e-5, voice="both"),
        finding(0, code="W001", name="padding-waste", severity="info", time_at_stake_s=1e-5, advice="Pad M to 64."),
        finding(None, code="D006", name="cold-caches", severity="note", time_at_stake_s=None, message="caches flushed"),
        *(
            finding(i, code="T001", name="launch-overhead", time_at_stake_s=1e-6, message="takes 100 µs", evidence=[])
            for i in (1, 2, 3)
        ),
    ]
    skips = (Skip("R001", 4, {"compulsory_bytes": 4}), Skip("W001", 1, {"useful_flop": 1}))
    return analysis(kernels, findings, skips=skips, notes=(Note("cut-file", "the file ends early", "run.ncu-rep"),))


def hostile() -> Analysis:
    """Every hostile name as kernel name, in a message, as advice and as a file name."""
    kernels, findings = [], []
    for number, name in enumerate(NAMES.values()):
        source = f"{name}.ncu-rep"
        kernels.append(kernel(kernel_name=name, source=source, gpu_name=name, op_label=name, path=name, grid_x=number))
        message = f"found {name}"
        findings.append(finding(number, message=message, advice=name, name=name, code="R001", confidence=name))
    notes = tuple(Note("hostile", f"note {name}", SURROGATE) for name in NAMES.values())
    return analysis(kernels, findings, notes=notes)


def empty() -> Analysis:
    """No kernel at all."""
    return analysis([])
