"""T009: busy schedulers, little floating-point work."""

from __future__ import annotations

from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE


def test_fires_without_a_time_at_stake():
    (found,) = run("T009", IDLE | {"issue_active": 0.85}).findings.to_dicts()
    assert found["time_at_stake_s"] is None
    assert "issue in 85 % of the cycles, but the kernel reaches 5.0 % of the fp32 roof" in found["message"]


def test_just_under_and_each_guard_stay_silent():
    assert hits("T009", IDLE | {"issue_active": 0.79}) == []
    assert hits("T009", IDLE | {"issue_active": 0.85, "flop_fp32": 3.6e9}) == []  # 60 % of the FP32 roof
    assert hits("T009", IDLE | {"issue_active": 0.85, "dram_bytes": 2.4e8}) == []  # 80 % of the bandwidth roof
    assert hits("T009", IDLE | {"issue_active": 0.85, "tensor_pct": 60.0}) == []


def test_without_the_issue_rate_it_cannot_judge():
    assert run("T009", IDLE).skips[0].missing == {"issue_active": 1}
