"""D013: annotations that counters or the GPU contradict, and that no other rule uses."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, placed, run
from tests.rules.kernels import gemm

from ncuroof import rules
from ncuroof.config import Config

ROOFS = {"roof_bytes_s": 3e12, "roof_flop_s_fp16": 9e14, "l2_size_bytes": 50e6}
# 2 x 4096^3 = 1.374e11 FLOP in 250 µs: 61 % of the FP16 roof.
RUN = ROOFS | {"flop_fp16": 1.374e11, "dram_bytes": 1e8, "flop_complete": True}
TRUE = gemm(4096, 4096, 4096, 250e-6, **RUN)
MISTYPED = gemm(99999999, 51299999, 4096, 250e-6, **RUN)


def test_fires_with_how_far_off_it_is():
    (found,) = run("D013", TRUE, MISTYPED).findings.to_dicts()
    assert found["row"] == 1
    assert found["severity"] == "note"
    assert found["time_at_stake_s"] is None
    # 2 x 99999999 x 51299999 x 4096 = 4.202e19 FLOP, over 1.374e11.
    assert found["message"].startswith("the annotation of k asks for 42025 PFLOP in 250 µs, 3.06e+08 x the")
    assert found["message"].endswith("the 137 GFLOP that were executed: it cannot be true and is left out")
    evidence = {e["metric"]: e["value"] for e in found["evidence"]}
    assert evidence["told_flop"] == pytest.approx(4.202e19, rel=1e-3)


def test_without_counters_the_gpu_contradicts():
    bare = gemm(99999999, 51299999, 4096, 250e-6, **ROOFS)
    (found,) = run("D013", bare).findings.to_dicts()
    assert "x what this GPU can do: " in found["message"]
    wide = bare | {"useful_flop": None, "compulsory_bytes": 1e10}  # 40 TB/s
    (found,) = run("D013", wide).findings.to_dicts()
    assert "asks for 10 GB in 250 µs, 13.3 x what the caches of this GPU can deliver" in found["message"]


def test_what_is_possible_stays_silent():
    assert hits("D013", TRUE, gemm(4096, 4096, 4096, 250e-6, **ROOFS), ROOFS | {"duration_s": 1e-4}) == []


def test_no_other_rule_uses_it():
    # Not even its type: FP16 work on the FP32 path would be off the tensor cores (R002).
    wrong = MISTYPED | {"flop_fp16": None, "flop_fp32": 1.2e10, "tensor_pct": 0.0, "roof_flop_s_fp32": 6e13}
    assert hits("R002", wrong | {"useful_flop": 1.2e10, "compulsory_bytes": 1e8}) == [0]
    assert hits("R002", wrong) == []
    findings = rules.run(placed(MISTYPED), Config()).findings
    codes = set(findings["code"])
    assert "D013" in codes
    assert not codes & {"R001", "R005", "W001", "W002", "S001", "S002", "S003", "M007"}
    assert findings["time_at_stake_s"].fill_null(0).max() <= 250e-6
