"""P002 to P004: findings about a whole report."""

from __future__ import annotations

import pytest
from tests.rules.frames import run


def launches(name, *micros, **more):
    return [{"kernel_name": name, "duration_s": 1e-6 * t, "grid_x": 8, "block_x": 256} | more for t in micros]


def test_few_kernels_that_own_the_time_are_named():
    # a takes 85 of 100 µs: one of five kernels.
    rows = [*launches("a", 45, 40), *launches("b", 5), *launches("c", 4), *launches("d", 3), *launches("e", 3)]
    (found,) = run("P002", *rows).findings.to_dicts()
    assert found["severity"] == "note"
    assert found["row"] is None
    assert found["message"] == "1 of 5 kernels takes 85 % of the GPU time: a (85 %)"


def test_time_spread_over_kernels_is_no_finding():
    rows = [r for name in "abcdefgh" for r in launches(name, 10)]
    assert run("P002", *rows).findings.is_empty()
    # Two of five kernels are not few.
    rows = [*launches("a", 41), *launches("b", 41), *launches("c", 8), *launches("d", 5), *launches("e", 5)]
    assert run("P002", *rows).findings.is_empty()
    # Of four kernels one always owns much.
    assert run(
        "P002", *[*launches("a", 97), *launches("b", 1), *launches("c", 1), *launches("d", 1)]
    ).findings.is_empty()


def test_points_of_a_sweep_are_no_program():
    rows = [*launches("a", 90, op_sweep="n"), *[r for name in "bcde" for r in launches(name, 2, op_sweep="n")]]
    assert run("P002", *rows).judged["P002"] == 0


def test_a_slow_first_launch_is_a_warm_up():
    (found,) = run("P003", *launches("k", 30, 10, 10.5, 10)).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(20e-6)
    assert "the first launch of k takes 30 µs, the 3 others 10 µs: 3 x" in found["message"]
    assert run("P003", *launches("k", 14.9, 10, 10, 10)).findings.is_empty()
    assert run("P003", *launches("k", 30, 10, 10)).findings.is_empty()  # two repetitions have no spread to speak of
    assert run("P003", *launches("k", 30, 10, 12, 10)).findings.is_empty()  # the others do not agree


def configured(threads, registers, **more):
    return launches("tuned", 10, block_threads=threads, registers_per_thread=registers, launch_threads=1e6, **more)


def test_configurations_one_after_the_other_are_autotuning():
    tries = [(128.0, 64.0), (256.0, 64.0), (128.0, 128.0), (512.0, 32.0)]
    rows = [r for t in tries for r in configured(*t) * 3]
    (found,) = run("P003", *rows).findings.to_dicts()
    assert "4 configurations one after the other (12 launches, 120 µs)" in found["message"]
    assert run("P003", *[r for t in tries[:3] for r in configured(*t) * 3]).findings.is_empty()


def test_configurations_that_come_back_are_a_program():
    tries = [(128.0, 64.0), (256.0, 64.0), (128.0, 128.0), (512.0, 32.0)] * 2
    assert run("P003", *[r for t in tries for r in configured(*t)]).findings.is_empty()


def test_many_tiny_launches_of_one_kernel():
    # 20 x 5 µs of 500 µs are 20 %; 19 floors of 3.5 µs could be saved.
    rows = [*launches("tiny", *[5.0] * 20), *launches("large", 400)]
    (found,) = run("P004", *rows).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(19 * 3.5e-6)
    assert "tiny is launched 20 times for 5 µs each" in found["message"]


def test_few_long_or_unimportant_launches_are_not():
    assert run("P004", *[*launches("tiny", *[5.0] * 19), *launches("large", 400)]).findings.is_empty()
    assert run("P004", *[*launches("long", *[10.6] * 20), *launches("large", 400)]).findings.is_empty()  # 3 x 3.5 µs
    assert run("P004", *[*launches("tiny", *[5.0] * 20), *launches("large", 901)]).findings.is_empty()  # 9.99 %


@pytest.mark.parametrize("code", ["P002", "P003", "P004"])
def test_without_durations_they_cannot_judge(code):
    assert run(code, {"kernel_name": "k"}).skips[0].missing == {"duration_s": 1}
