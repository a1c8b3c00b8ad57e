"""Ridge points, attainable throughput, crossings and verdicts: the figures of the three articles."""

from __future__ import annotations

import pytest

from ncuroof import gpus
from ncuroof.roofs import Roof, attainable, known, ridge
from ncuroof.roofs.bound import Bound
from ncuroof.roofs.comparison import Roofline, crossing
from ncuroof.workloads import cost


def roofs_of(name):
    return known.of(gpus.find(name).gpu)


def test_datasheet_ridge_of_the_h100_sxm():
    """989e12 / 3.35e12 = 295.2."""
    own = roofs_of("H100-SXM")
    flat = known.best(own, path="fp16", source="datasheet")
    slope = known.slope_of(own, flat)
    assert slope.source == "datasheet"
    assert round(ridge(flat.value, slope.value), 1) == 295.2


@pytest.mark.parametrize(("intensity", "tflop_s", "percent"), [(5, 16.75, 1.69), (10, 33.5, 3.39), (1000, 989, 100)])
def test_attainable_on_the_datasheet_h100(intensity, tflop_s, percent):
    """min(989, I × 3.35) TFLOP/s."""
    value = attainable(intensity, 989e12, 3.35e12)
    assert value / 1e12 == pytest.approx(tflop_s)
    assert round(100 * value / 989e12, 2) == percent


def machine(flop_s: float, bytes_s: float) -> tuple[Roof, Roof]:
    return (
        Roof(flop_s, "fp32", None, True, "given", "user", "given"),
        Roof(bytes_s, None, "dram", True, "given", "user", "given"),
    )


def test_triad_on_the_illustrative_machine():
    """60 TFLOP/s, 3.35 TB/s: ridge 17.91, triad 2 / 12 = 0.167 FLOP/byte, roof 0.558 TFLOP/s, below 1 % of 60."""
    flat, slope = machine(60e12, 3.35e12)
    triad = cost("triad", {"n": 10**8, "dtype": "fp32"})
    bound = Bound(triad.flop, triad.bytes, flat, slope)
    assert round(bound.intensity, 3) == 0.167
    assert round(bound.ridge, 1) == 17.9
    assert round(bound.ridge, 2) == 17.91
    assert round(bound.attainable_flop_s / 1e12, 3) == 0.558
    assert bound.percent_of_peak < 1
    assert bound.verdict == "memory-bound"
    halved = Bound(triad.flop, triad.bytes / 2, flat, slope)
    assert round(halved.attainable_flop_s / 1e12, 2) == 1.12
    doubled = Bound(triad.flop, triad.bytes, machine(120e12, 1.0)[0], slope)
    assert doubled.attainable_flop_s == bound.attainable_flop_s


def test_decode_bound_of_qwen():
    """14.14 GB of weights / 3084.85 GB/s = 4.58 ms on H100; 3.29 on H200, 21.4 on RTX 4080 (table 7)."""
    weights = cost("decode", {"model": "qwen2.5-7b"}).ledger[0]
    assert round(weights.bytes / 1e9, 2) == 14.14
    for name, milliseconds in (("H100", 4.58), ("H200", 3.29), ("RTX 4080", 21.4)):
        slope = known.best(roofs_of(name))
        digits = len(str(milliseconds).partition(".")[2])
        assert round(weights.bytes / slope.value * 1e3, digits) == milliseconds


def test_decode_uses_less_than_a_percent_of_the_h100():
    """W / F = 14.1 GFLOP / 802.4 TFLOP/s = 0.018 ms, less than 1/250 of the bandwidth bound."""
    own = roofs_of("H100")
    step = cost("decode", {"model": "qwen2.5-7b", "batch": 1})
    bound = Bound(step.flop, step.bytes, known.best(own, path="bf16"), known.best(own))
    assert round(bound.compute_s * 1e3, 3) == 0.018
    assert bound.memory_s / bound.compute_s > 250
    assert bound.percent_of_peak < 1


def test_h200_and_h100_cross_at_245():
    """755.645e12 / 3084.85e9 = 244.95 FLOP/byte."""
    lines = []
    for name in ("H100", "H200"):
        own = roofs_of(name)
        flat = known.best(own, path="fp16")
        lines.append(Roofline(name, flat.value, known.slope_of(own, flat).value))
    assert round(crossing(*lines)) == 245
    assert crossing(*lines) == crossing(*reversed(lines))


def test_rooflines_that_do_not_cross():
    assert crossing(Roofline("a", 2e12, 2e12), Roofline("b", 1e12, 1e12)) is None
    assert crossing(Roofline("a", 1e12, 2e12), Roofline("b", 1e12, 1e12)) is None


def test_a_crossing_is_where_both_attain_the_same():
    one, other = Roofline("a", 100e12, 4e12), Roofline("b", 300e12, 2e12)
    at = crossing(one, other)
    assert at == 50.0
    assert attainable(at, one.flop_s, one.bytes_s) == attainable(at, other.flop_s, other.bytes_s)


def test_the_example_kernel_at_50():
    """I = 50: memory-bound on FP16 tensor cores (255), compute-bound on FP32 (19.9)."""
    own = roofs_of("H100")
    for path, verdict in (("fp16", "memory-bound"), ("fp32", "compute-bound")):
        assert Bound(50.0, 1.0, known.best(own, path=path), known.best(own)).verdict == verdict


def test_copy_has_a_bandwidth_bound_only():
    own = roofs_of("T4")
    bound = Bound(0.0, 320e9, None, known.best(own))
    assert bound.time_s == pytest.approx(1.0)
    assert bound.verdict == "memory-bound"
    assert bound.attainable_flop_s is None
    assert bound.percent_of_peak is None


def test_sparse_roofs_are_listed_and_never_used():
    for gpu in gpus.variants():
        own = known.of(gpu)
        for roof in own:
            if not roof.dense:
                best = known.best(own, path=roof.path)
                assert best is not None
                assert best.dense
                assert best.value <= 0.75 * roof.value  # FP4 of the GB300: 15 of 20 PFLOP/s


def test_every_roof_cites_something():
    for gpu in gpus.variants():
        for roof in known.of(gpu):
            assert roof.citation.strip(" ;"), (gpu.id, roof)
            assert roof.value > 0
            assert (roof.path is None) != (roof.level is None)
