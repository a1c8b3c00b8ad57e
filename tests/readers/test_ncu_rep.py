"""The reader of binary reports on files made by hand: every rule of the format that real files seldom show."""

from __future__ import annotations

import tracemalloc
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest
import zstandard
from tests.ncurep.handmade import block, double, metric, number, opened, report, result, single, sized

from ncuroof import tables
from ncuroof.errors import DamagedError, InputError, NothingMeasuredError
from ncuroof.inputs import open_input
from ncuroof.readers import choose, ncu_rep
from ncuroof.testing import NvtxRange, ReportBuilder, RuleItem

if TYPE_CHECKING:
    from pathlib import Path

    from ncuroof.model import RawReport

NAMES = [
    "sm__a.sum",
    "sm__b.sum",
    "device__attribute_display_name",
    "gpu__time_duration.sum",
    "launch__grid_size",
    "launch__grid_dim_x",
]


def read(
    content: bytes, want: frozenset[str] | None = None
) -> tuple[RawReport, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    file = opened(content)
    got = ncu_rep.read(file, ncu_rep.recognises(file.head, file.name) or "", want)
    chunks = list(got.chunks)
    for chunk in chunks:
        tables.check(chunk.launches, tables.LAUNCHES, "launches")
        tables.check(chunk.metrics, tables.METRICS, "metrics")
        tables.check(chunk.rules, tables.NSIGHT_RULES, "rules")
    frames = (pl.concat([getattr(c, t) for c in chunks]) for t in ("launches", "metrics", "rules"))
    launches, metrics, rules = frames
    return got, launches, metrics, rules


def told(got: RawReport) -> list[tuple[str, str]]:
    """Kinds and messages of the notes, but for the one about the protobuf that happens to be installed."""
    return [(n.kind, n.message) for n in got.notes if n.kind != "slow-protobuf"]


def rows(metrics: pl.DataFrame) -> list[tuple[object, ...]]:
    return metrics.select("result_index", "metric", "value", "value_int", "text").rows()


def test_values_of_all_kinds() -> None:
    entry = result(
        metric(0, double(3, 1.5)),
        metric(1, single(2, 0.5)),
        metric(2, sized(1, "Gerät\xff".encode("latin-1"))),
        metric(3, number(5, (1 << 64) - 1)),
        metric(4, number(4, 7)),
        metric(5, None),
    )
    _, launches, metrics, _ = read(report(block([entry], strings=NAMES)))
    assert rows(metrics) == [
        (0, NAMES[0], 1.5, None, None),
        (0, NAMES[1], 0.5, None, None),
        (0, NAMES[2], None, None, "Ger\ufffdt\ufffd"),  # not UTF-8: replaced, never an error
        (0, NAMES[3], 2.0**64, (1 << 64) - 1, None),
        (0, NAMES[4], 7.0, 7, None),
        (0, NAMES[5], None, None, None),
    ]
    assert launches["gpu_name"][0] == "Ger\ufffdt\ufffd"
    assert metrics["unit"].to_list() == [None, None, None, "ns", "block", "block"]


def test_nan_is_kept_and_differs_from_absent() -> None:
    entry = result(metric(0, double(3, float("nan"))), metric(1, double(3, float("inf"))))
    _, _, metrics, _ = read(report(block([entry], strings=NAMES)))
    assert metrics["value"].is_nan().to_list() == [True, False]
    assert metrics["value"].null_count() == 0
    assert metrics["value"][1] == float("inf")


def test_last_of_two_metrics_of_the_same_name_wins() -> None:
    # Also where two ids stand for the same string, and where the last one has no value.
    entry = result(metric(0, double(3, 1.0)), metric(1, double(3, 2.0)), metric(0, double(3, 3.0)), metric(6, None))
    _, _, metrics, _ = read(report(block([entry], strings=[*NAMES, NAMES[1]])))
    assert rows(metrics) == [(0, NAMES[0], 3.0, None, None), (0, NAMES[1], None, None, None)]


def test_several_results_in_a_block_beside_a_source() -> None:
    entries = [number(1, 5), *(result(metric(0, double(3, float(i))), name=b"k%d" % i) for i in range(3))]
    content = report(block(entries, counts={1: 1, 2: 3}, strings=NAMES))
    _, launches, metrics, _ = read(content)
    assert launches["kernel_name"].to_list() == ["k0", "k1", "k2"]
    assert launches["result_index"].to_list() == [0, 1, 2]
    assert metrics["value"].to_list() == [0.0, 1.0, 2.0]


def test_string_tables_are_appended_not_replaced() -> None:
    one = block([result(metric(0, double(3, 1.0)))], strings=["sm__first.sum"])
    two = block([result(metric(0, double(3, 2.0)), metric(1, double(3, 3.0)))], strings=["sm__second.sum"])
    _, _, metrics, _ = read(report(one, two))
    assert rows(metrics) == [
        (0, "sm__first.sum", 1.0, None, None),
        (1, "sm__first.sum", 2.0, None, None),
        (1, "sm__second.sum", 3.0, None, None),
    ]


def test_names_fall_back() -> None:
    def named(mangled: bytes, function: bytes, demangled: bytes) -> bytes:
        return sized(5, mangled) + sized(6, function) + sized(7, demangled)

    entries = [
        named(b"_Z1kv", b"k", b"k()"),
        named(b"_Z1kv", b"", b"k()"),
        named(b"_Z1kv", b"", b""),
        named(b"", b"", b""),
    ]
    _, launches, _, _ = read(report(block(entries)))
    assert launches["kernel_name"].to_list() == ["k", "k()", "_Z1kv", None]
    assert launches["kernel_demangled"].to_list() == ["k()", "k()", None, None]


def test_a_kernel_of_a_graph_and_its_topology() -> None:
    node = sized(37, number(1, 99) + number(2, 3) + number(3, 4))
    topology = number(1, 99) + sized(6, number(1, 4)) + sized(7, number(1, 3) + number(2, 4))
    entries = [result(node, sized(31, b""), sized(38, b"")), topology]
    got, launches, _, _ = read(report(block(entries, counts={2: 1, 10: 1}, strings=NAMES)))
    assert launches["result_kind"].to_list() == ["kernel"]
    assert told(got) == []


@pytest.mark.parametrize(("field", "kind"), [(7, "range"), (8, "cmdlist"), (9, "graph")])
def test_other_results_become_rows_where_they_look_like_kernels(field: int, kind: str) -> None:
    like = result(metric(0, double(3, 1.0)), metric(3, number(5, 12)), name=b"my range")
    unlike = sized(1, b"something else") + sized(13, sized(4, b"no metric"))
    broken = b"\xff\xff\xff"
    entries = [result(metric(0, double(3, 5.0))), like, unlike, broken]
    got, launches, metrics, _ = read(report(block(entries, counts={2: 1, field: 3}, strings=NAMES)))
    assert launches["result_kind"].to_list() == ["kernel", kind]
    assert launches["kernel_name"].to_list() == ["k", "my range"]
    assert rows(metrics)[1:] == [(1, NAMES[0], 1.0, None, None), (1, NAMES[3], 12.0, 12, None)]
    shown = {"range": "range", "cmdlist": "command-list", "graph": "graph"}[kind]
    assert told(got) == [
        ("assumed-layout", f"1 {shown} result read as if laid out like a kernel's; nobody has documented how they are"),
        ("undecoded-results", f"2 {shown} results of a layout that is not known left out"),
    ]


def test_results_of_an_unknown_kind_are_announced() -> None:
    got, _, _, _ = read(report(block([result(), b"\x08\x01"], counts={2: 1, 11: 1})))
    assert told(got) == [("undecoded-results", "1 unknown result of a layout that is not known left out")]


def test_a_report_without_results() -> None:
    with pytest.raises(NothingMeasuredError, match="without any result that can be read"):
        read(report(block(strings=NAMES)))
    with pytest.raises(NothingMeasuredError, match=r"\(1 range result of a layout"):
        read(report(block([b"\xff"], counts={7: 1})))


def test_an_unknown_format_version_is_announced() -> None:
    content = report(block([result()]))
    got, _, _, _ = read(content[:9] + b"\x08" + content[10:])
    assert [kind for kind, _ in told(got)] == ["format-version"]


def size(field: int, x: int, y: int, z: int) -> bytes:
    return sized(field, number(1, x) + number(2, y) + number(3, z))


VERSION = sized(3, sized(8, sized(1, b"Nsight Compute Target") + sized(2, b"2022.1.0.0 (build 1)")))


@pytest.mark.parametrize(
    ("session", "parts", "expected"),
    [
        # The metric wins over the result's own field.
        (VERSION, [size(10, 9, 9, 9), size(11, 4, 4, 1), metric(5, number(5, 3))], (3, 9, 9)),
        # No metric: the field.
        (VERSION, [size(10, 20, 10, 1), size(11, 4, 4, 1)], (20, 10, 1)),
        # In 2019 (no version) the field counts threads: 80/4, 40/4, 1/1.
        (b"", [size(10, 80, 40, 1), size(11, 4, 4, 1)], (20, 10, 1)),
        # One version of 2020 does that as well, and launch__grid_size tells: 20 · 10 · 1 = 200.
        (VERSION, [size(10, 80, 40, 1), size(11, 4, 4, 1), metric(4, number(5, 200))], (20, 10, 1)),
        (b"", [size(10, 20, 10, 1), size(11, 4, 4, 1), metric(4, number(5, 200))], (20, 10, 1)),
        # Neither fits: unknown.
        (VERSION, [size(10, 7, 1, 1), size(11, 4, 4, 1), metric(4, number(5, 200))], (None, None, None)),
        # A launch has no empty grid: not known.
        (VERSION, [size(10, 0, 0, 0), size(11, 0, 0, 0)], (None, None, None)),
        (VERSION, [size(10, 1 << 40, 1, 1), size(11, 1, 1, 1)], (None, 1, 1)),
        (VERSION, [], (None, None, None)),
    ],
)
def test_grid(session: bytes, parts: list[bytes], expected: tuple[int | None, ...]) -> None:
    _, launches, _, _ = read(report(block([result(*parts)], strings=NAMES, extra=session)))
    assert launches.select("grid_x", "grid_y", "grid_z").row(0) == expected


def device(index: int, name: bytes, major: int) -> bytes:
    attribute = sized(3, sized(1, b"device__attribute_compute_capability_major") + sized(2, number(5, major)))
    return sized(6, number(1, index) + sized(2, name) + attribute)


def test_gpu_of_a_result_that_does_not_tell() -> None:
    one = sized(3, device(0, b"GPU A", 8))
    _, launches, _, _ = read(report(block([result()], extra=one)))
    assert launches.select("gpu_name", "cc_major", "cc_minor", "device_index").row(0) == ("GPU A", 8, None, 0)


def test_gpu_in_a_session_with_several() -> None:
    two = sized(3, device(0, b"GPU A", 8) + device(1, b"GPU B", 9))
    named = result(metric(2, sized(1, b"GPU B")))
    _, launches, _, _ = read(report(block([named, result()], strings=NAMES, extra=two)))
    assert launches.select("gpu_name", "cc_major", "device_index").rows() == [("GPU B", 9, 1), (None, None, None)]


def test_ids_zero_are_not_unknown() -> None:
    _, launches, _, _ = read(report(block([result(number(22, 0), number(23, 0)), result()])))
    assert launches.select("context_id", "stream_id", "process_id").rows() == [(0, 0, 77), (None, None, 77)]


@pytest.mark.parametrize(("stored", "shown"), [(576.40, "576.40"), (580.126, "580.126"), (570.0, "570.00")])
def test_driver_version_of_a_result(stored: float, shown: str) -> None:
    got, launches, _, _ = read(report(block([result(single(35, stored))])))
    assert launches["driver_version"].to_list() == [shown]
    assert got.session.driver_version == shown


def test_chunks_are_bounded_and_number_results_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ncu_rep, "CHUNK_RESULTS", 3)
    content = report(block([result(metric(0, number(5, i))) for i in range(8)], strings=NAMES))
    chunks = list(ncu_rep.read(opened(content), "", None).chunks)
    assert [c.launches.height for c in chunks] == [3, 3, 2]
    assert pl.concat([c.metrics for c in chunks]).select("result_index", "value_int").rows() == [
        (i, i) for i in range(8)
    ]


def test_only_wanted_metrics() -> None:
    entry = result(metric(0, double(3, 1.0)), metric(1, double(3, 2.0)), metric(5, number(5, 64)))
    content = report(block([entry] * 60, strings=NAMES))
    _, launches, metrics, _ = read(content, frozenset({NAMES[1]}))
    assert launches["grid_x"].to_list() == [64] * 60  # decoded for the launches, whatever is wanted
    assert metrics.filter(pl.col("metric") == NAMES[1])["value"].to_list() == [2.0] * 60
    assert NAMES[0] not in metrics["metric"]


def test_recognises_by_content_alone() -> None:
    assert ncu_rep.recognises(report(), "whatever.txt")
    for head in (b"", b"NVR", b"ID,Process ID", b"\x28\xb5\x2f\xfd", b"version https://git-lfs.github.com/spec/v1"):
        assert ncu_rep.recognises(head, "x.ncu-rep") is None


def small() -> bytes:
    """A small report that has one of everything."""
    builder = ReportBuilder(
        gpu="NVIDIA H100 80GB HBM3", attributes={"l2_cache_size": 52_428_800}, command_line="ncu --set full ./app"
    )
    for i in range(3):
        builder.kernel(
            f"kernel_{i}",
            {"gpu__time_duration.sum": 1000.0 + i, "sm__x.sum": 1 << (20 * i), "text": "value", "none": None},
            grid=(8, 1, 1),
            block=(128, 1, 1),
            demangled=f"kernel_{i}(int)",
            nvtx=[NvtxRange("outer", payload=7), NvtxRange("inner", domain="mine")],
            rules=[RuleItem("SOLBottleneck", "Look at the @url:guide:https://x/y@.", speedup=("local", 10.0))],
            instances={"sm__x.sum": [(16, 1.0), (32, "s")]},
            sections=[sized(1, b"SpeedOfLight") + sized(7, b"description " * 10)],
        )
    return builder.to_bytes()


@pytest.mark.parametrize("frames", [1, 3])
@pytest.mark.parametrize("sizes", [True, False])
def test_compressed_reports(tmp_path: Path, frames: int, sizes: bool) -> None:
    content = small()
    step = len(content) // frames + 1
    packer = zstandard.ZstdCompressor(write_content_size=sizes)
    packed = b"".join(packer.compress(content[i : i + step]) for i in range(0, len(content), step))
    path = tmp_path / "report.ncu-rep"  # the name does not matter, the content does
    path.write_bytes(packed)
    file = open_input(path)
    reader, reason = choose(file)
    launches = pl.concat([c.launches for c in reader.read(file, reason, None).chunks])
    assert launches["kernel_name"].to_list() == ["kernel_0", "kernel_1", "kernel_2"]


def outcome(content: bytes) -> int:
    """Number of results of a report that may be damaged; an InputError counts as -1, anything else fails the test."""
    file = opened(content, "damaged.ncu-rep")
    try:
        reader, reason = choose(file)
        return sum(c.launches.height for c in reader.read(file, reason, None).chunks)
    except InputError as error:
        named = "damaged.ncu-rep" in str(error)
    assert named
    return -1


def test_cut_anywhere() -> None:
    content = small()
    assert outcome(content) == 3
    points = sorted({round(i * (len(content) - 1) / 200) for i in range(201)})
    counts = {point: outcome(content[:point]) for point in points if point}
    assert len(counts) >= 200
    # What cannot be noticed is a cut between two blocks, and there the results before it are whole.
    assert set(counts.values()) <= {-1, 1, 2}
    assert sum(count == -1 for count in counts.values()) > 190


def test_any_changed_byte() -> None:
    content = small()
    random = Random(20)  # noqa: S311
    seen = set()
    for _ in range(500):
        place = random.randrange(len(content))
        changed = bytearray(content)
        changed[place] ^= random.randrange(1, 256)
        seen.add(outcome(bytes(changed)))
    assert {-1, 3} <= seen


def test_absurd_sizes_allocate_nothing() -> None:
    content = small()
    tracemalloc.start()
    try:
        for place in range(4, len(content) - 4, 31):
            outcome(content[:place] + b"\xf0\xff\xff\xff" + content[place + 4 :])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6


def test_damage_in_rules_or_nvtx_is_an_error() -> None:
    for part in (
        sized(19, b"\xff\xff"),
        sized(21, b"\x0a\xff"),
        sized(21, sized(2, sized(2, sized(3, sized(2, sized(4, b"\xff")))))),
    ):
        with pytest.raises(DamagedError, match="NVTX ranges, rule messages or opcodes that cannot be decoded"):
            read(report(block([result(part)])))


def test_python_fallback_of_protobuf_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncuroof.ncurep.info.api_implementation.Type", lambda: "python")
    got, _, _, _ = read(small())
    assert [n.kind for n in got.notes] == ["slow-protobuf"]
