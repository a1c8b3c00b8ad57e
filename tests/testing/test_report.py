"""What the builder writes is what the reader reads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ncurep.handmade import opened

from ncuroof.inputs import open_input
from ncuroof.ncurep import walk
from ncuroof.ncurep.messages import message
from ncuroof.readers import ncu_rep
from ncuroof.testing import Focus, NvtxRange, ReportBuilder, RuleItem

if TYPE_CHECKING:
    from pathlib import Path

Frames = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


def read(content: bytes) -> Frames:
    chunks = list(ncu_rep.read(opened(content), "", None).chunks)
    launches, metrics, rules = (pl.concat([getattr(c, t) for c in chunks]) for t in ("launches", "metrics", "rules"))
    return launches, metrics, rules


def value_of(row: dict[str, Any]) -> float | int | str | None:
    for column in ("text", "value_int", "value"):
        if row[column] is not None:
            return row[column]  # type: ignore[no-any-return]
    return None


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
names = st.one_of(st.sampled_from(["gpu__time_duration.sum", "sm__x.avg", "a", "launch__registers_per_thread"]), text)
values = st.one_of(st.none(), st.floats(), st.integers(0, (1 << 64) - 1), text)
sides = st.tuples(*[st.integers(1, 1 << 20)] * 3)
ranges = st.builds(
    NvtxRange,
    text,
    domain=st.sampled_from(["<default domain>", "mine"]),
    payload=st.one_of(st.none(), st.integers(-(1 << 63), (1 << 63) - 1), st.floats(allow_nan=False), text),
    argb=st.one_of(st.none(), st.integers(0, 0xFFFFFFFF)),
)
kernels = st.fixed_dictionaries(
    {
        "name": text.filter(bool),
        "metrics": st.dictionaries(names, values, max_size=8),
        "grid": st.one_of(st.none(), sides),
        "block": st.one_of(st.none(), sides),
        "demangled": st.one_of(st.none(), text.filter(bool)),
        "nvtx": st.lists(ranges, max_size=3),
    }
)


@given(st.lists(kernels, min_size=1, max_size=4), st.booleans())
@settings(deadline=None, max_examples=40)
def test_round_trip(drawn: list[dict[str, Any]], many: bool) -> None:
    builder = ReportBuilder(gpu="GPU ü", cc=(10, 3), ncu_version="2025.3.0.0")
    results = drawn * (60 // len(drawn) + 1) if many else drawn
    for kernel in results:
        builder.kernel(**kernel)
    launches, metrics, _ = read(builder.to_bytes())
    assert launches.height == len(results)
    groups = metrics.partition_by("result_index", as_dict=True, maintain_order=True)
    for index, (kernel, row) in enumerate(zip(results, launches.iter_rows(named=True), strict=True)):
        assert (row["kernel_name"], row["kernel_demangled"]) == (kernel["name"], kernel["demangled"])
        assert (row["gpu_name"], row["cc_major"], row["cc_minor"]) == ("GPU ü", 10, 3)
        for size in ("grid", "block"):
            stored = tuple(row[f"{size}_{axis}"] for axis in "xyz")
            assert stored == (kernel[size] or (None, None, None))
        nvtx = row["nvtx"] or []
        # Domain by domain, each outermost first.
        order = sorted(kernel["nvtx"], key=lambda r: r.domain != "<default domain>")
        assert [(r["domain"], r["name"]) for r in nvtx] == [(r.domain, r.name) for r in order]
        shown = [
            None if r.payload is None else repr(r.payload) if isinstance(r.payload, float) else str(r.payload)
            for r in order
        ]
        assert [r["payload"] for r in nvtx] == shown
        assert [r["color"] for r in nvtx] == [None if r.argb is None else f"#{r.argb:08X}" for r in order]
        got = {r["metric"]: value_of(r) for r in groups[(index,)].iter_rows(named=True)}
        for name, value in kernel["metrics"].items():
            if isinstance(value, float) and math.isnan(value):
                assert math.isnan(got[name])  # type: ignore[arg-type]
            else:
                assert got[name] == value
                assert type(got[name]) is type(value)


def test_rules_round_trip() -> None:
    said = RuleItem(
        "HighPipeUtilization",
        "Busy.",
        section_id="ComputeWorkloadAnalysis",
        message_type="optimization",
        title="High Utilization",
        speedup=("global", 12.5),
        focus=(Focus("sm__a", 3.5, severity=2, info="high"), Focus("sm__b")),
    )
    silent = RuleItem("SlowPipeLimiter", None)
    builder = ReportBuilder().kernel("k", {}, rules=[said, silent, RuleItem("HighPipeUtilization", "Again.")])
    _, _, rules = read(builder.to_bytes())
    first, second, third = rules.iter_rows(named=True)
    assert first == {
        "source_sha256": "0" * 64,
        "result_index": 0,
        "rule_id": "HighPipeUtilization",
        "rule_name": "High Pipe Utilization",
        "section_id": "ComputeWorkloadAnalysis",
        "item": 0,
        "message_type": "optimization",
        "title": "High Utilization",
        "text": "Busy.",
        "speedup_type": "global",
        "speedup_pct": 12.5,
        "focus": [
            {"metric": "sm__a", "value": 3.5, "severity": 2, "info": "high"},
            {"metric": "sm__b", "value": None, "severity": 0, "info": ""},
        ],
    }
    assert (second["item"], second["message_type"], second["text"]) == (1, "warning", "Again.")
    assert (third["rule_id"], third["item"], third["text"], third["message_type"]) == ("SlowPipeLimiter", 0, None, None)


def test_a_reconstructed_report_says_so() -> None:
    builder = ReportBuilder(
        origin="reconstructed", citation="Table 3 of an article", clock_control="none", ncu_version=None
    ).kernel("gemm", {"gpu__time_duration.sum": 4500.0})
    got = ncu_rep.read(opened(builder.to_bytes()), "", None)
    row = next(got.chunks).launches.row(0, named=True)
    assert (row["origin"], row["clock_control"], row["clock_control_source"]) == ("reconstructed", "none", "published")
    assert (row["cache_control"], row["replay_mode"], row["ncu_version"]) == (None, None, None)
    said = {note.kind: note.message for note in got.notes}
    assert said["reconstructed"] == "reconstructed from published figures, not profiled: Table 3 of an article"


def test_a_built_report_can_be_written_plain_and_compressed(tmp_path: Path) -> None:
    builder = ReportBuilder().kernel("k", {"sm__x.sum": 1})
    plain = builder.write(tmp_path / "a.ncu-rep")
    packed = builder.write(tmp_path / "a.ncu-repz")
    assert plain.read_bytes() == builder.to_bytes()
    assert packed.read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert open_input(packed).data == plain.read_bytes()


def test_equal_input_gives_equal_bytes() -> None:
    def build() -> bytes:
        return ReportBuilder(attributes={"l2_cache_size": 1}).kernel("k", {"b": 1, "a": 2.0}).to_bytes()

    assert build() == build()


def test_device_attributes_with_and_without_prefix() -> None:
    for key in ("l2_cache_size", "device__attribute_l2_cache_size"):
        _, metrics, _ = read(ReportBuilder(attributes={key: 52_428_800}).kernel("k", {}).to_bytes())
        row = metrics.filter(pl.col("metric") == "device__attribute_l2_cache_size").row(0, named=True)
        assert (row["value"], row["unit"]) == (52_428_800.0, "byte")


def test_instances_and_sections_are_stored() -> None:
    section = message("Section", "full")(id=b"SpeedOfLight", name=b"Speed Of Light").SerializeToString()
    content = (
        ReportBuilder()
        .kernel("k", {"sm__x.sum": 2.0}, instances={"sm__x.sum": [(16, 1.0), (32, "two")]}, sections=[section])
        .to_bytes()
    )
    (entry,) = walk(content, "x").entries
    stored = message("Result", "full").FromString(content[entry.offset : entry.offset + entry.size])
    assert stored.sections[0].id == b"SpeedOfLight"
    (metric,) = [m for m in stored.metrics if m.instances]
    assert [i.id.uint64 for i in metric.instances] == [16, 32]
    assert (metric.instances[0].value.float64, metric.instances[1].value.text) == (1.0, b"two")


def test_other_kinds_of_results() -> None:
    launches, _, _ = read(ReportBuilder().kernel("r", {"sm__x.sum": 1.0}, kind="range").to_bytes())
    assert launches["result_kind"].to_list() == ["range"]


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_integers_that_a_report_cannot_hold(value: int) -> None:
    with pytest.raises(ValueError, match="not an unsigned integer of 64 bits"):
        ReportBuilder().kernel("k", {"sm__x.sum": value})


def test_an_unknown_kind() -> None:
    with pytest.raises(ValueError, match="no kind of result is called 'kernels'"):
        ReportBuilder().kernel("k", {}, kind="kernels")
