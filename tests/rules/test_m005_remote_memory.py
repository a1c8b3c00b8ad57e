"""M005: host memory and peers."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE


def test_fires_with_the_time_of_the_fastest_link():
    # 3.2 MB of host memory over 64 GB/s: 50 of 100 µs; 3.2 of 33.2 MB are 9.6 %.
    (found,) = run("M005", IDLE | {"sysmem_bytes": 3.2e6}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(50e-6)
    assert "3.2 MB of host memory, 9.6 % of all that leaves L2" in found["message"]


def test_a_grace_board_reaches_the_host_over_c2c():
    # 3.2 MB over 900 GB/s: 3.6 µs, under a tenth of the time.
    assert hits("M005", IDLE | {"sysmem_bytes": 3.2e6, "gpu_name": "NVIDIA GH200 480GB"}) == []
    assert hits("M005", IDLE | {"peer_bytes": 9e6}) == [0]  # 10 µs over NVLink


def test_just_under_stays_silent():
    assert hits("M005", IDLE | {"sysmem_bytes": 6.3e5}) == []  # 9.8 µs
    assert hits("M005", IDLE | {"sysmem_bytes": 1.5e6, "dram_bytes": 2.9e7}) == []  # 4.9 %
    assert hits("M005", IDLE | {"sysmem_bytes": 1.6e6, "dram_bytes": 2.9e7}) == [0]  # 5.2 %
    assert hits("M005", IDLE | {"sysmem_bytes": 64.0}) == []  # what a launch writes


def test_without_remote_counters_it_cannot_judge():
    assert run("M005", IDLE).skips[0].missing == {"sysmem_bytes or peer_bytes": 1}
