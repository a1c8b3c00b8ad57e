"""S003: more work takes less time."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import gemm


def squares(*pairs, **more):
    return [gemm(n, n, n, 1e-6 * t, **more) for n, t in pairs]


def test_published_vector():
    # B300 FP16 squares against BF16: a kernel choice, not the launch.
    assert hits("S003", *squares((256, 23.4), (512, 28.3), (1024, 18.0), (2048, 14.4))) == [0, 1, 2]
    assert hits("S003", *squares((256, 5.0), (512, 5.0), (1024, 6.2), (2048, 14.4), dtype="bf16")) == []


def test_fires_with_the_difference():
    (found,) = run("S003", *squares((256, 20.0), (512, 10.0))).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(10e-6)
    assert "256 x 256 x 256 takes 20 µs, the larger 512 x 512 x 512 only 10 µs: 2 x slower" in found["message"]


def test_just_under_stays_silent():
    assert hits("S003", *squares((256, 11.4), (512, 10.0))) == []
    assert hits("S003", *squares((256, 11.6), (512, 10.0))) == [0]


def test_a_larger_m_alone_is_left_to_s001():
    assert hits("S003", gemm(4, 512, 512, 20e-6), gemm(8, 512, 512, 10e-6)) == []


def test_shapes_that_are_not_larger_in_every_size_do_not_count():
    assert hits("S003", gemm(64, 512, 512, 20e-6), gemm(32, 1024, 512, 10e-6)) == []


def test_outside_a_named_sweep_it_is_not_asked():
    outcome = run("S003", *squares((256, 20.0), (512, 10.0), sweep=None))
    assert outcome.judged["S003"] == 0


def test_without_a_duration_it_cannot_judge():
    assert run("S003", gemm(4, 8, 8, 1e-6) | {"duration_s": None}).skips[0].missing == {"duration_s": 1}
