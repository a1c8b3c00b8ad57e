from __future__ import annotations

import pytest
from tests.builders import analysis, finding, kernel

from ncuroof.model import Skip
from ncuroof.reporters._groups import (
    condensed,
    finding_groups,
    full_name,
    gpu_names,
    is_derived,
    kernel_groups,
    label,
    launch_shape,
    limit,
    relevant_pct,
    roof_sources,
    skip_text,
    totals,
)
from ncuroof.reporters._names import shorten


def groups(*kernels):
    return list(kernel_groups(analysis(list(kernels))).iter_rows(named=True))


def test_identical_launches_are_one_row_with_sums_and_the_median_launch():
    rows = groups(
        kernel(duration_s=3e-4, flop=3e6),
        kernel(duration_s=1e-4, flop=1e6),
        kernel(duration_s=2e-4, flop=2e6),
        kernel(kernel_name="other", duration_s=4e-4),
    )
    assert [r["kernel_name"] for r in rows] == ["saxpy", "other"]  # 0.6 ms before 0.4 ms
    first = rows[0]
    assert first["launches"] == 3
    assert first["rows"] == [0, 1, 2]
    assert first["total_s"] == pytest.approx(6e-4)
    assert first["time_share"] == pytest.approx(0.6)
    # T and W are those of one real launch, the one with the median duration.
    assert (first["duration_s"], first["flop"]) == (2e-4, 2e6)


def test_percentages_are_medians():
    # Q / B = 268435456 B / 3085e9 B/s = 87.013 µs: 87.0, 43.5 and 29.0 % of 100, 200 and 300 µs.
    (row,) = groups(*(kernel(duration_s=t * 1e-4) for t in (1, 2, 3)))
    assert row["roof_pct"] == pytest.approx(43.507, abs=1e-3)


@pytest.mark.parametrize(
    "difference",
    [
        {"grid_x": 1},
        {"block_x": 64},
        {"kernel_demangled": "saxpy<double>"},
        {"gpu_name": "NVIDIA A100"},
        {"source": "second.ncu-rep"},
        {"op_shape": '{"m":4}'},
    ],
)
def test_launches_that_differ_stay_apart(difference):
    assert len(groups(kernel(), kernel(**difference))) == 2


def test_unknown_and_odd_values_become_null():
    (row,) = groups(kernel(duration_s=None, intensity=float("nan"), achieved_flop_s=float("inf")))
    assert row["total_s"] is None
    assert row["time_share"] is None
    assert row["intensity"] is None
    assert row["achieved_flop_s"] is None


def test_an_unknown_duration_does_not_hide_a_known_one():
    (row,) = groups(kernel(duration_s=None), kernel(duration_s=1e-4))
    assert row["duration_s"] == 1e-4
    assert row["total_s"] == 1e-4


def test_columns_that_a_table_lacks_are_null():
    a = analysis([kernel()])
    slim = a.kernels.select("row", "source", "source_sha256", "kernel_name", "duration_s")
    (row,) = kernel_groups(type(a)(slim, a.findings, (), a.dataset)).iter_rows(named=True)
    assert row["verdict"] is None
    assert launch_shape(row) == label(row) == ""


def test_no_kernel():
    a = analysis([])
    assert kernel_groups(a).is_empty()
    assert totals(a).duration_s is None
    assert gpu_names(kernel_groups(a)) == []


def test_texts_of_a_launch():
    (row,) = groups(
        kernel(grid_y=2, block_x=16, block_y=16, op="gemm", op_dtype="fp16", op_m=8, op_n=512, op_k=64, op_label="q")
    )
    assert launch_shape(row) == "grid 4096×2, block 16×16"
    assert label(row) == "q 8×512×64 fp16"


def test_label_of_an_operation_that_is_no_product():
    (row,) = groups(kernel(op="copy", op_shape='{"n":1024}', op_dtype="fp32"))
    assert label(row) == "copy n=1024 fp32"


def test_name_falls_back():
    assert full_name({"kernel_demangled": None, "kernel_name": "f"}) == "f"
    assert full_name({"kernel_demangled": None, "kernel_name": None, "result_kind": "range"}) == "(unnamed range)"
    assert full_name({"kernel_demangled": " ", "kernel_name": "k"}) == "k"
    assert full_name({"kernel_demangled": None, "kernel_name": " \t"}) == "(unnamed kernel)"
    assert shorten("(unnamed kernel)", 40) == "(unnamed kernel)"  # not taken for return type and name


@pytest.mark.parametrize(
    ("flop", "traffic", "derived"),
    [
        ("counter", "counter", False),
        ("counter", "counter, sectors", False),
        ("rate×time", "counter", True),
        ("counter", "percent×peak", True),
        ("counter", "compulsory (formula)", True),
        (None, "counter", False),
        (None, None, False),
    ],
)
def test_derived(flop, traffic, derived):
    assert is_derived({"flop_source": flop, "traffic_bytes_source": traffic}) is derived


def test_relevant_percentage_falls_back_to_bandwidth():
    assert relevant_pct({"roof_pct": 50.0, "memory_roof_pct": 20.0}) == 50.0
    assert relevant_pct({"roof_pct": None, "memory_roof_pct": 20.0}) == 20.0
    assert relevant_pct({"roof_pct": None, "memory_roof_pct": None}) is None


@pytest.mark.parametrize(
    ("group", "shown"),
    [
        ({"limiter": "l1", "limiter_pct": 87.0, "roof_pct": 2.4, "path": "fp32"}, (87.0, "l1", False)),
        ({"limiter": "fp16", "limiter_pct": 87.0, "path": "fp16"}, (87.0, "fp16", True)),
        ({"limiter": "latency", "roof_pct": 30.0, "bound": "memory", "path": "fp32"}, (30.0, "dram", True)),
        ({"limiter": "launch", "roof_pct": 3.0, "bound": "compute", "path": "fp32"}, (3.0, "fp32", True)),
        ({"memory_roof_pct": 3.0, "path": "fp32"}, (3.0, "dram", True)),
        ({"path": "fp32"}, (None, "fp32", True)),
        ({}, (None, None, True)),
    ],
)
def test_limit_says_what_the_percentage_is_of(group, shown):
    near = limit(group | {"flop_source": "rate×time"})
    assert (near.pct, near.of, near.derived) == shown


def found(kernels, findings):
    a = analysis(kernels, findings)
    return finding_groups(a, kernel_groups(a))


def test_the_same_finding_on_identical_launches_is_one_with_summed_stake():
    (f,) = found([kernel(), kernel()], [finding(0, time_at_stake_s=1e-5), finding(1, time_at_stake_s=3e-5)])
    assert (f.launches, f.group, f.row["row"]) == (2, 0, 1)
    assert f.stake_s == pytest.approx(4e-5)


def test_nsight_may_agree_on_some_launches_only():
    (f,) = found([kernel(), kernel()], [finding(0, voice="both", time_at_stake_s=2.0), finding(1)])
    assert (f.launches, f.row["voice"]) == (2, "both")


def test_findings_are_sorted_by_stake_then_severity_with_unknown_last():
    kernels = [kernel(grid_x=i) for i in range(1, 6)]
    result = found(
        kernels,
        [
            finding(0, code="A001", time_at_stake_s=None, severity="warning"),
            finding(1, code="A002", time_at_stake_s=1e-6, severity="info"),
            finding(2, code="A003", time_at_stake_s=2e-6, severity="info"),
            finding(3, code="A004", time_at_stake_s=None, severity="error"),
            finding(4, code="A005", time_at_stake_s=1e-6, severity="error"),
        ],
    )
    assert [f.row["code"] for f in result] == ["A003", "A005", "A002", "A004", "A001"]


def test_findings_of_a_whole_run_stay_apart():
    result = found([kernel()], [finding(None, message="one"), finding(None, message="two")])
    assert [(f.launches, f.group) for f in result] == [(0, None), (0, None)]


def test_condensed_counts_what_it_leaves_out():
    notes = found(
        [kernel(), kernel()],
        [
            finding(None, code="D004", message="clocks", source="a"),
            finding(None, code="D004", message="clocks", source="b"),
            finding(0, code="D002", message="no FLOPs"),
            finding(1, code="D002", message="no FLOPs"),
        ],
    )
    flops, clocks = condensed(notes)
    assert flops.message == "no FLOPs (2 kernels)"
    assert clocks.message == "clocks (the same kind of thing in 1 more report)"
    assert clocks.all == ["a: clocks", "b: clocks"]


def test_totals():
    a = analysis(
        [kernel(duration_s=1e-4), kernel(duration_s=None)],
        [finding(0, severity="note"), finding(0, severity="error"), finding(0, severity="error")],
        skips=(Skip("R001", 2, {"x": 2}), Skip("W001", 1, {"y": 1}), Skip("W002", 0, {})),
    )
    t = totals(a)
    assert (t.kernels, t.duration_s, t.skipped_rules, t.skipped_kernels) == (2, 1e-4, 2, 2)
    assert list(t.by_severity.items()) == [("error", 2), ("note", 1)]


def test_skip_text_names_what_is_missing_most_first():
    text = skip_text(Skip("R001", 3, {"a": 1, "b": 3}), 10)
    assert text == "R001 could not judge 3 of 10 kernels: without b (3), a (1)"


def test_gpus_by_time_and_the_origin_of_roofs():
    g = kernel_groups(
        analysis(
            [
                kernel(gpu_name="A", duration_s=1e-6),
                kernel(gpu_name="B", duration_s=1e-3, roof_flop_s=None),
                kernel(gpu_name=None, duration_s=1e-9, roof_bytes_s_source="user: mine.toml"),
            ]
        )
    )
    assert gpu_names(g) == ["B", "A", ""]
    sources = roof_sources(g)
    assert sources[0] == ("B", "DRAM", "measured, table of eight GPUs", 3085e9, 1)
    assert ("", "DRAM", "user: mine.toml", 3085e9, 1) in sources
    assert not [s for s in sources if s[:2] == ("B", "fp32")]
