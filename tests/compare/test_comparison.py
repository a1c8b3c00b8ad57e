"""The verdicts, what cannot be compared and why, totals; over built kernels and the corpus of public reports."""

from __future__ import annotations

import pytest
from tests.builders import analysis, kernel

from ncuroof import pipeline
from ncuroof.compare import IMPROVED, INDISTINGUISHABLE, NOT_COMPARABLE, REGRESSED, compare
from ncuroof.config import Config
from ncuroof.errors import UsageError

CLOCKS = {"sm_hz": 1.5e9, "dram_hz": 2.6e9, "passes": 4.0, "sm_count": 132.0}


def only(base, head, accept=()):
    """The one pair of two lists of kernels."""
    comparison = compare(analysis(base), analysis(head), accept)
    assert comparison.pairs.height == 1
    return comparison.pairs.row(0, named=True)


def timed(*durations, **fields):
    return [kernel(duration_s=d, quantities=CLOCKS, **fields) for d in durations]


@pytest.mark.parametrize(
    ("base", "head", "state"),
    [
        ([1e-3], [1.2e-3], REGRESSED),
        ([1e-3], [0.8e-3], IMPROVED),
        ([1e-3], [1.09e-3], INDISTINGUISHABLE),  # one launch each: 10 %
        ([1e-3], [1e-3], INDISTINGUISHABLE),
        ([1e-3] * 30, [1.03e-3] * 30, REGRESSED),  # thirty quiet ones: 2 %
        ([1e-3] * 30, [1.01e-3] * 30, INDISTINGUISHABLE),
        ([1e-3, 1.3e-3, 1.1e-3], [1.2e-3, 1.5e-3, 1.3e-3], INDISTINGUISHABLE),
    ],
)
def test_states(base, head, state):
    row = only(timed(*base), timed(*head))
    assert row["state"] == state
    assert row["reason"] is None


def test_figures_of_a_pair():
    row = only(timed(1e-3, 1e-3), timed(2e-3, 2e-3))
    assert row["change_pct"] == pytest.approx(100.0)
    # Two launches of 2 ms where base would have taken 1 ms each.
    assert row["delta_s"] == pytest.approx(2e-3)
    # 268.4 MB at 3085 GB/s are 87.0 us: 8.70 % of 1 ms, 4.35 % of 2 ms.
    assert row["base_roof_pct"] == pytest.approx(8.70, abs=0.01)
    assert row["head_roof_pct"] == pytest.approx(4.35, abs=0.01)
    assert row["base_traffic_bytes"] == row["head_traffic_bytes"] == 268_435_456
    assert row["head_flop"] == 67_108_864
    assert row["head_verdict"] == "latency-bound"


@pytest.mark.parametrize(
    ("changed", "condition", "words"),
    [
        ({"gpu_name": "NVIDIA A100"}, "gpu", "GPU NVIDIA H100 80GB HBM3 → NVIDIA A100"),
        ({"clock_control": "none"}, "clock-mode", "clock control base → none"),
        ({"cache_control": "none"}, "cache-mode", "cache control all → none"),
        ({"replay_mode": "application"}, "replay-mode", "replay mode kernel → application"),
        ({"ncu_version": "2025.2.0.0"}, "ncu-version", "ncu release 2025.1 → 2025.2"),
        ({"traffic_bytes_source": "cycles_active%"}, "counters", "counter, counter, counter → counter, cycles_active%"),
        ({"quantities": CLOCKS | {"passes": 9.0}}, "counters", "number of passes 4 → 9"),
        ({"quantities": CLOCKS | {"sm_hz": 1.3e9}}, "clock", "measured SM clock 1500 → 1300 MHz"),
        ({"quantities": CLOCKS | {"dram_hz": 2.0e9}}, "memory-clock", "measured memory clock 2600 → 2000 MHz"),
        ({"quantities": CLOCKS | {"sm_count": 114.0}}, "gpu", "number of SMs 132 → 114"),
    ],
)
def test_what_cannot_be_compared_is_said(changed, condition, words):
    base, head = kernel(quantities=CLOCKS), kernel(**({"quantities": CLOCKS} | changed))
    row = only([base], [head])
    assert row["state"] == NOT_COMPARABLE
    assert words in row["reason"]
    accepted = only([base], [head], [condition])
    assert accepted["state"] == INDISTINGUISHABLE
    assert accepted["reason"] is None


def test_small_differences_of_measured_clocks_and_builds_do_not_matter():
    other = CLOCKS | {"sm_hz": 1.44e9, "dram_hz": 2.45e9}  # 4 % and 6 %
    head = kernel(quantities=other, ncu_version="2025.1.1.0", driver_version="570")
    assert only([kernel(quantities=CLOCKS)], [head])["state"] == INDISTINGUISHABLE


def test_clocks_of_very_short_kernels_are_not_believed():
    far = CLOCKS | {"sm_hz": 1.0e9}
    short = {"duration_s": 3e-6}
    assert only([kernel(quantities=CLOCKS, **short)], [kernel(quantities=far, **short)])["state"] == INDISTINGUISHABLE


def test_unknown_conditions_are_taken_to_be_the_same_and_said():
    row = only([kernel(clock_control=None)], [kernel()])
    assert row["state"] == INDISTINGUISHABLE
    assert row["unknown"] == "clock control"


def test_without_a_duration_nothing_is_concluded():
    row = only([kernel()], [kernel(duration_s=None)])
    assert row["state"] == NOT_COMPARABLE
    assert row["reason"] == "no duration in head"
    with pytest.raises(UsageError, match="--accept time"):
        compare(analysis([kernel()]), analysis([kernel()]), ["time"])


def test_a_reshaped_launch_needs_evidence_of_the_same_work():
    base, wide = kernel(duration_s=1e-3, grid_x=64), kernel(duration_s=0.5e-3, grid_x=128)
    assert only([base], [wide])["state"] == IMPROVED  # the counters count the same FLOPs
    twice = kernel(duration_s=0.5e-3, grid_x=128, flop=2 * 67_108_864.0)
    row = only([base], [twice])
    assert row["state"] == NOT_COMPARABLE
    assert "launch shape differs" in row["reason"]
    gemm = {"op": "gemm", "op_shape": "{}"}
    annotated = only(
        [kernel(duration_s=1e-3, grid_x=64, flop=None, **gemm)], [kernel(duration_s=5e-4, flop=None, **gemm)]
    )
    assert annotated["state"] == IMPROVED


def test_new_gone_and_totals():
    base = [*timed(1e-3, kernel_name="a"), *timed(2e-3, kernel_name="b"), *timed(3e-3, kernel_name="c", gpu_name="X")]
    head = [*timed(1.5e-3, kernel_name="a"), *timed(4e-3, kernel_name="d"), *timed(3e-3, kernel_name="c")]
    comparison = compare(analysis(base), analysis(head))
    assert comparison.gone["name"].to_list() == ["b"]
    assert comparison.new["name"].to_list() == ["d"]
    t = comparison.totals
    assert t.by_state == {REGRESSED: 1, IMPROVED: 0, INDISTINGUISHABLE: 0, NOT_COMPARABLE: 1}
    assert (t.new, t.gone) == (1, 1)
    assert (t.base_s, t.head_s) == (pytest.approx(6e-3), pytest.approx(8.5e-3))
    assert (t.compared_base_s, t.compared_head_s) == (pytest.approx(1e-3), pytest.approx(1.5e-3))
    assert (t.new_s, t.gone_s) == (pytest.approx(4e-3), pytest.approx(2e-3))


def test_nothing_in_common():
    comparison = compare(analysis([kernel(kernel_name="a")]), analysis([kernel(kernel_name="b")]))
    assert comparison.pairs.is_empty()
    assert sum(comparison.totals.by_state.values()) == 0


def test_most_time_first():
    base = [*timed(1e-3, kernel_name="small"), *timed(1e-1, kernel_name="large")]
    head = [*timed(2e-3, kernel_name="small"), *timed(1.2e-1, kernel_name="large")]
    assert compare(analysis(base), analysis(head)).pairs["head_name"].to_list() == ["large", "small"]


def corpus_analysis(corpus, name):
    return pipeline.analyze(pipeline.load([corpus / "reports" / name]), Config())


def test_every_public_report_is_indistinguishable_from_itself(corpus):
    everything = pipeline.analyze(pipeline.load_all([corpus / "reports"]).dataset, Config())
    comparison = compare(everything, everything)
    t = comparison.totals
    assert (t.new, t.gone, t.by_state[REGRESSED], t.by_state[IMPROVED]) == (0, 0, 0, 0)
    assert t.by_state[INDISTINGUISHABLE] > 80
    # What is not comparable even with itself has no duration: the 21 results without a time.
    reasons = set(comparison.in_state(NOT_COMPARABLE)["reason"])
    assert reasons == {"no duration on either side"}
    assert set(comparison.findings["state"]) == {"known"}
    assert comparison.known()["known"].all()


def test_public_reports_of_two_gpus_are_not_comparable(corpus):
    everything = pipeline.load_all([corpus / "reports"]).dataset
    one = pipeline.analyze(everything, Config())
    renamed = everything.kernels.with_columns(gpu_name=one.kernels["gpu_name"] + " Ti")
    other = pipeline.analyze(
        type(everything)(renamed, everything.rules, everything.sources, everything.notes), Config()
    )
    comparison = compare(one, other)
    t = comparison.totals
    assert (t.by_state[REGRESSED], t.by_state[IMPROVED], t.by_state[INDISTINGUISHABLE]) == (0, 0, 0)
    known = comparison.in_state(NOT_COMPARABLE).drop_nulls("base_gpu_name")
    assert known["reason"].str.contains("GPU .* → .* Ti").all()


def test_two_public_variants_of_one_kernel(corpus):
    # kernel_conv2d_variant_1 and kernel_conv2d_variant2: other names, no annotation, so nothing says they do the same.
    comparison = compare(
        corpus_analysis(corpus, "Swagatam1812__hpca-gpu-memory-profiling__variant1.ncu-rep"),
        corpus_analysis(corpus, "Swagatam1812__hpca-gpu-memory-profiling__variant2.ncu-rep"),
    )
    assert comparison.gone["name"].str.contains("variant_1").all()
    assert comparison.new["name"].str.contains("variant2").all()
    assert comparison.pairs.is_empty()
