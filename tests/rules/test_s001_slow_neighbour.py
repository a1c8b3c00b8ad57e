"""S001: a smaller M takes longer."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import gemm


def sweep(*pairs, **more):
    return [gemm(m, 8192, 8192, 1e-6 * t, **more) for m, t in pairs]


def test_published_vectors():
    # H100 FP16: M = 2 and 4 are slower than 8; B300 FP16 likewise, by more than twice; H100 FP32 M = 2 than 4.
    h100 = sweep((1, 46.696), (2, 58.690), (4, 60.218), (8, 49.866), (16, 49.104), (32, 47.704))
    assert hits("S001", *h100) == [1, 2]
    b300 = sweep((1, 28.607), (2, 63.516), (4, 63.605), (8, 28.256), (16, 27.932), (32, 26.802))
    assert hits("S001", *b300) == [1, 2]
    assert hits("S001", *sweep((2, 249.6), (4, 145.6), dtype="fp32")) == [0]


def test_fires_with_the_difference_and_the_least_padding():
    # 8 is within 10 % of the fastest (32), so padding to 8 will do.
    found = run("S001", *sweep((4, 60.0), (8, 50.0), (32, 48.0))).findings.to_dicts()
    assert len(found) == 1
    assert found[0]["time_at_stake_s"] == pytest.approx(10e-6)
    assert "M = 4 takes 60 µs, M = 8 with the same N and K only 50 µs" in found[0]["message"]
    assert found[0]["advice"].startswith("Pad M to 8")


def test_just_under_stays_silent():
    assert hits("S001", *sweep((4, 57.4), (8, 50.0))) == []
    assert hits("S001", *sweep((4, 57.6), (8, 50.0))) == [0]
    assert hits("S001", *sweep((4, 40.0), (8, 50.0))) == []  # the usual order


def test_scatter_between_repetitions_counts():
    slow = sweep((4, 58.0), (4, 60.0), (4, 61.0))
    assert hits("S001", *slow, *sweep((8, 50.0), (8, 51.0))) == [0, 1, 2]
    assert hits("S001", *slow, *sweep((8, 49.0), (8, 50.0), (8, 59.0))) == []  # the ranges overlap


def test_other_sizes_types_and_reports_are_no_neighbours():
    other = gemm(8, 4096, 8192, 20e-6)
    assert hits("S001", *sweep((4, 60.0)), other) == []
    assert hits("S001", *sweep((4, 60.0)), *sweep((8, 20.0), dtype="bf16")) == []
    assert hits("S001", *sweep((4, 60.0)), *sweep((8, 20.0), source_sha256="1" * 64)) == []


def test_outside_a_named_sweep_it_is_a_note():
    found = run("S001", *sweep((4, 60.0), (8, 20.0), sweep=None)).findings
    assert found["severity"].to_list() == ["note"]


def test_without_a_duration_it_cannot_judge():
    assert run("S001", gemm(4, 8, 8, 1e-6) | {"duration_s": None}).skips[0].missing == {"duration_s": 1}
