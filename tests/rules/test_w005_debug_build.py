"""W005: a debug build, told by its instructions."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, placed, run
from tests.rules.kernels import IDLE

from ncuroof import rules
from ncuroof.config import Config

# A vector addition as nvcc -G makes it: 48 of 99 instructions are MOV, 3 access memory, all through generic addresses.
DEBUG = IDLE | {
    "inst_warps": 99e6,
    "inst_moves": 48e6,
    "inst_generic": 3e6,
    "inst_global": 0.0,
    "warp_latency": 10.0,
    "stall_wait": 5.0,
    "stall_long_scoreboard": 3.0,
    "issue_active": 0.2,
}


def test_fires_and_claims_no_time():
    (found,) = run("W005", DEBUG).findings.to_dicts()
    assert found["severity"] == "warning"
    assert "48 % of its instructions only move registers" in found["message"]
    assert "50 % of the time waits for the fixed latency" in found["message"]
    assert found["time_at_stake_s"] is None


def test_just_under_and_optimized_code_stay_silent():
    assert hits("W005", DEBUG | {"inst_moves": 24e6}) == []  # 24.2 %
    assert hits("W005", DEBUG | {"inst_moves": 25e6}) == [0]  # 25.3 %
    # A kernel that loads by LDG was optimized, whatever it moves; one with no memory access is too small to tell.
    assert hits("W005", DEBUG | {"inst_global": 5e6}) == []
    assert hits("W005", DEBUG | {"inst_generic": 0.0}) == []


@pytest.mark.parametrize("lacking", ["inst_warps", "inst_moves", "inst_generic", "inst_global"])
def test_without_the_instructions_it_cannot_judge(lacking):
    assert run("W005", DEBUG | {lacking: None}).skips[0].missing == {lacking: 1}


def test_explains_what_other_rules_would_say_of_the_code():
    others = Config(select=("T007", "T008", "T009", "M004"))
    spilling = {"local_sectors": 5e5, "l1_sectors": 1e6}
    busy = DEBUG | {"issue_active": 0.9, "stall_wait": 0.0}
    kernels = [DEBUG | spilling, DEBUG | {"stall_wait": 1.0, "warp_latency": 20.0}, busy]
    built = placed(*kernels)
    optimized = placed(*(k | {"inst_moves": 9e6} for k in kernels))
    assert rules.run(built, others).findings.is_empty()
    assert set(rules.run(optimized, others).findings["code"]) == {"T007", "T008", "T009", "M004"}
