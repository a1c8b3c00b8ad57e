from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ncuroof.collect import availability, tiers
from ncuroof.collect._data import toml
from ncuroof.errors import UsageError
from ncuroof.metrics import required_metrics

CAPABILITIES = ("7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0")


def ask(tier, cc, tensor=("bf16",)):
    return tiers.request(tier, availability.from_table(cc), cc, tensor)


def test_the_tiers_of_the_command_line():
    assert list(tiers.tiers()) == ["time", "bytes", "roofline", "rules", "full"]


@pytest.mark.parametrize("cc", CAPABILITIES)
@pytest.mark.parametrize("tier", ["time", "bytes", "roofline", "rules", "full"])
def test_no_metric_is_asked_for_that_the_catalogue_says_the_chip_lacks(tier, cc):
    table = availability._table()[cc]
    for metric in ask(tier, cc, tiers.tensor_types()).metrics:
        assert table.get(metric.split(".")[0], True), metric


def test_dram_names_follow_the_architecture():
    hopper, blackwell = ask("bytes", "9.0").metrics, ask("bytes", "12.0").metrics
    assert {"dram__bytes_read.sum", "dram__bytes_write.sum"} <= set(hopper)
    assert {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"} <= set(blackwell)
    assert not {"dram__bytes_read.sum", "dram__bytes_op_read.sum"} & (set(hopper) & set(blackwell))


def test_a_chip_without_dram_counters_gets_none_and_says_so():
    orin = ask("roofline", "8.7")
    assert not [m for m in orin.metrics if m.startswith("dram__")]
    assert "dram__bytes.sum" in orin.missing


@pytest.mark.parametrize(
    ("cc", "kind", "names"),
    [
        ("9.0", "fp16", {"sm__ops_path_tensor_src_fp16.sum"}),
        ("8.0", "fp16", {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16_dst_fp16.sum"}),
        (
            "7.5",
            "fp16",
            {"sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum", "sm__ops_path_tensor_src_fp16_dst_fp16.sum"},
        ),
        ("9.0", "bf16", {"sm__ops_path_tensor_src_bf16_dst_fp32.sum"}),
        ("12.0", "fp8", {"sm__ops_path_tensor_src_fp8_dst_fp32.sum", "sm__ops_path_tensor_src_fp8_dst_fp16.sum"}),
        (
            "10.0",
            "fp8",
            {"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum", "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum"},
        ),
    ],
)
def test_tensor_counters_by_architecture(cc, kind, names):
    assert {m for m in ask("roofline", cc, (kind,)).metrics if "tensor" in m} == names


def test_a_tensor_type_the_chip_lacks_is_named_as_missing():
    assert "tensor bf16" in ask("roofline", "7.5", ("bf16",)).missing


@pytest.mark.parametrize("cc", CAPABILITIES)
def test_an_aggregate_is_never_asked_for_with_its_parts(cc):
    names = {m for m in ask("full", cc, tiers.tensor_types()).metrics if "tensor" in m}
    assert not [n for n in names if "_op_" in n or "sparsity" in n]


@pytest.mark.parametrize("cc", ["8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0"])
def test_passes_from_cc_8_on(cc):
    # Duration and bytes take one pass; FLOPs and a tensor type make two, L2 the third (NVIDIA's scheduler, no GPU).
    assert ask("bytes", cc).passes == 1
    assert ask("roofline", cc).passes == 3
    assert ask("roofline", cc, ("bf16", "fp16", "tf32")).passes == 5


def test_unknown_gpu_has_unknown_passes_and_the_usual_names():
    wanted = tiers.request("roofline", availability.from_table(None), None)
    assert wanted.passes is None
    assert "dram__bytes_read.sum" in wanted.metrics


def test_every_metric_of_a_tier_is_read_by_some_quantity():
    # launch__thread_count and the like are facts a reader keeps anyway; counters must not be collected for nothing.
    unread = {
        metric
        for cc in CAPABILITIES
        for metric in ask("rules", cc, tiers.tensor_types()).metrics
        if metric not in required_metrics() and not metric.startswith("launch__")
    }
    assert unread == set()


def test_warm_caches_show_only_in_one_pass_or_in_runs_of_the_whole_program():
    assert tiers.warm_replay(1) == "kernel"
    assert tiers.warm_replay(2) == "application"
    assert tiers.warm_replay(None) == "application"


def test_wrong_names_are_usage_errors():
    with pytest.raises(UsageError, match="no tier 'everything'"):
        ask("everything", "9.0")
    with pytest.raises(UsageError, match="no tensor type 'fp7'"):
        ask("roofline", "9.0", ("fp7",))


def test_ncus_own_answer_goes_before_the_table(tmp_path):
    names = [f"unit{i}__metric" for i in range(200)]
    script = tmp_path / "ncu"
    script.write_text(
        "#!/bin/sh\necho 'Device NVIDIA H100 (GH100)'\n" + "".join(f"echo '{n} Counter x'\n" for n in names)
    )
    script.chmod(0o755)
    from ncuroof.collect.ncu import Ncu, Version

    known, answer = availability.of(Ncu(script, Version(2025, 1), "PATH"), "9.0", here=True)
    assert known.source == "ncu --query-metrics"
    assert known.has("unit7__metric.sum")
    assert not known.has("dram__bytes.sum")
    assert known.has("launch__grid_size")
    assert "GH100" in answer


def test_an_answer_that_is_none_falls_back_to_the_table(tmp_path):
    script = tmp_path / "ncu"
    script.write_text("#!/bin/sh\necho '==ERROR== no devices'\nexit 1\n")
    script.chmod(0o755)
    from ncuroof.collect.ncu import Ncu, Version

    known, _ = availability.of(Ncu(script, Version(2025, 1), "PATH"), "8.7", here=True)
    assert "CC 8.7" in known.source
    assert not known.has("dram__bytes.sum")


def test_shipped_table_is_whole():
    path = Path(availability.__file__).parent / "data" / "metrics.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 208
    assert {row["kind"] for row in rows} == {"C", "R", "T"}
    assert {value for row in rows for key, value in row.items() if key not in ("metric", "kind")} == {"", "1"}


def test_every_group_and_pass_count_of_the_table_is_used_and_known():
    table = toml("tiers.toml")
    used = {group for tier in table["tier"].values() for group in tier["groups"]}
    assert used - {"tensor"} == set(table["group"])
    assert set(table["passes"]) == set(table["tier"])


@pytest.mark.parametrize("device", ["NVIDIA GeForce GTX 1650", "NVIDIA GeForce GTX 1660 SUPER", "NVIDIA T400 4GB"])
def test_turing_without_tensor_operation_counters(device):
    """TU116 and TU117 have no sm__ops_path_tensor metric in NVIDIA's catalogue; TU10x have."""
    wanted = tiers.request("roofline", availability.from_table("7.5", device), "7.5", ("fp16",))
    assert not [metric for metric in wanted.metrics if "ops_path" in metric]
    assert "tensor fp16" in wanted.missing
    full = tiers.request("roofline", availability.from_table("7.5", "Tesla T4"), "7.5", ("fp16",))
    assert [metric for metric in full.metrics if "ops_path" in metric]


def test_every_chip_column_of_its_own_is_in_the_table():
    columns = availability._table()
    for entry in toml("chips.toml")["column"].values():
        assert entry["column"] in columns
        assert entry["cc"] in columns
