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


def test_a_busy_l1_is_as_much_the_limit():
    # A convolution through shared memory: issue 81 %, L1 at 85 % (M003, M008).
    assert hits("T009", IDLE | {"issue_active": 0.81, "memory_pct": 84.6}) == []
    assert hits("T009", IDLE | {"issue_active": 0.81, "memory_pct": 80.0}) == []
    assert hits("T009", IDLE | {"issue_active": 0.81, "memory_pct": 79.9}) == [0]


def test_work_that_is_none_and_work_that_was_not_counted_are_told_apart():
    busy = IDLE | {"issue_active": 0.85}
    (message,) = run("T009", busy | {"flop_fp32": None}).findings["message"]
    assert message.endswith("; its FLOPs were not collected, so how much of that is arithmetic is not known")
    none = {"flop_fp32": 0.0, "flop_complete": True}
    (message,) = run("T009", busy | none).findings["message"]
    assert message.endswith("of the cycles, but the kernel does no floating-point work")
    (message,) = run("T009", busy | {"roof_flop_s_fp32": None}).findings["message"]
    assert message.endswith("how near that is to a roof is not known")


def test_without_the_issue_rate_it_cannot_judge():
    assert run("T009", IDLE).skips[0].missing == {"issue_active": 1}
