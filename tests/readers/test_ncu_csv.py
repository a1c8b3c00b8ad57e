"""Wide and long CSV of ncu, by hand: values, identity, noise, damage, mixed runs."""

# ruff: noqa: E501  lines of ncu's own output keep their length

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from tests.readers.text_helpers import read_bytes, read_text

from ncuroof.errors import DamagedError
from ncuroof.inputs import HEAD_BYTES, open_input
from ncuroof.readers import choose
from ncuroof.testing.text_forms import IDENTITY, LONG, RULES, csv_text

if TYPE_CHECKING:
    from pathlib import Path

WHO = [
    "python3",
    "127.0.0.1",
    "void gemm<float, 128>(const float *, float *)",
    "1",
    "7",
    "(128, 2, 1)",
    "(80, 3, 4)",
    "0",
    "8.0",
]
TITLES = [
    "dram__bytes_read.sum",
    "gpu__time_duration.sum",
    "launch__func_cache_config",
    "smsp__cycles_elapsed.avg.per_second",
]
UNITS = ["Mbyte", "usecond", "", "cycle/nsecond"]
BLANK = [""] * len(IDENTITY)


def wide(*rows: list[str], units: list[str] | None = UNITS) -> str:
    head = [[*IDENTITY, *TITLES]]
    if units is not None:
        head.append([*BLANK, *units])
    return csv_text([*head, *([str(i), "42", *WHO, *row] for i, row in enumerate(rows))])


def test_wide_values_and_identity() -> None:
    read = read_text(wide(["2.5", "12.25", "CachePreferNone", "1.41"], ["n/a", "(!) nan", "CachePreferL1", "no data"]))
    assert read.reader == "ncu-csv-wide"
    first = read.launches[0]
    assert first["kernel_name"] == "gemm"
    assert first["kernel_demangled"] == "void gemm<float, 128>(const float *, float *)"
    assert [first[f"grid_{a}"] for a in "xyz"] == [80, 3, 4]
    assert [first[f"block_{a}"] for a in "xyz"] == [128, 2, 1]
    identity = ("process_id", "context_id", "stream_id", "device_index", "cc_major", "cc_minor")
    assert [first[k] for k in identity] == [42, 1, 7, 0, 8, 0]
    assert read.value(0, TITLES[0]) == 2.5e6  # 2.5 Mbyte
    assert read.value(0, TITLES[1]) == 12250  # 12.25 us
    assert read.value(0, TITLES[3]) == 1.41e9
    assert [read.unit(0, t) for t in TITLES] == ["byte", "ns", None, "hz"]
    assert read.metrics[0, TITLES[2]]["text"] == "CachePreferNone"
    # "No value" keeps its row.
    assert [read.value(1, t) for t in TITLES] == [None] * 4
    assert read.metrics[1, TITLES[0]]["text"] is None


def test_wide_integers_are_exact() -> None:
    titles = [*IDENTITY, "sm__ops_path_tensor_src_fp16.sum", "dram__bytes.sum"]
    text = csv_text([titles, [*BLANK, "", "byte"], ["0", "42", *WHO, "19483443200000001", "9007199254740993"]])
    read = read_text(text)
    assert read.metrics[0, titles[-2]]["value_int"] == 19483443200000001
    assert read.metrics[0, titles[-1]]["value_int"] == 9007199254740993  # 2^53 + 1


def test_wide_without_a_row_of_units_says_so() -> None:
    read = read_text(wide(["100", "200", "x", "3"], units=None))
    assert read.value(0, TITLES[0]) == 100
    assert read.unit(0, TITLES[0]) is None
    assert "no-units" in read.kinds()


def test_wide_written_again_with_units_in_the_titles() -> None:
    text = 'Kernel Name,Grid Size,dram__bytes_read.sum (Kbyte),gpu__time_duration.sum [us]\nk,"(1, 1, 1)",1.5,2.5\n'
    read = read_text(text)
    assert (read.value(0, "dram__bytes_read.sum"), read.unit(0, "dram__bytes_read.sum")) == (1500, "byte")
    assert (read.value(0, "gpu__time_duration.sum"), read.unit(0, "gpu__time_duration.sum")) == (2500, "ns")


def test_wide_header_longer_than_the_beginning_that_readers_see() -> None:
    titles = [f"sm__made_up_metric_with_a_long_name_number_{i}.avg.pct_of_peak_sustained_elapsed" for i in range(1500)]
    text = csv_text([[*IDENTITY, *titles], [*BLANK, *["%"] * 1500], ["0", "42", *WHO, *["12.5"] * 1500]])
    assert text.index("\n") > HEAD_BYTES
    read = read_text(text)
    assert read.reader == "ncu-csv-wide"
    assert len(read.metrics) == 1500
    assert read.value(0, titles[-1]) == 12.5


def test_wide_later_block_of_another_form(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first block decides that columns are floats; a text further down must not lose the block.
    monkeypatch.setattr("ncuroof.readers._text_source.blocks.__defaults__", (2000,))
    rows = (
        [["2.5", "12.25", "x", "1.41"]] * 30
        + [["surprise", "1,312.25", "x", "1.41"]]
        + [["3.5", "1.25", "x", "1.5"]] * 30
    )
    read = read_text(wide(*rows))
    assert len(read.launches) == 61
    assert read.metrics[30, TITLES[0]]["text"] == "surprise"
    assert read.value(30, TITLES[1]) == 1312250
    assert read.value(60, TITLES[0]) == 3.5e6


def long(*rows: list[str], rules: bool = False) -> str:
    return csv_text([[*LONG, *RULES] if rules else LONG, *rows])


def row(number: int, name: str, unit: str, value: str, section: str = "Command line profiler metrics") -> list[str]:
    return [str(number), "42", *WHO, section, name, unit, value]


def test_long_units_differ_per_row() -> None:
    read = read_text(
        long(
            row(0, "dram__bytes_read.sum", "Kbyte", "3.58"),
            row(0, "gpu__time_duration.sum", "us", "12.50"),
            row(1, "dram__bytes_read.sum", "byte", "1,024"),
            row(1, "gpu__time_duration.sum", "ms", "1.25"),
        )
    )
    assert read.reader == "ncu-csv-long"
    assert len(read.launches) == 2
    assert [read.value(i, "dram__bytes_read.sum") for i in (0, 1)] == pytest.approx([3580, 1024])
    assert [read.value(i, "gpu__time_duration.sum") for i in (0, 1)] == [12500, 1.25e6]
    assert read.metrics[1, "dram__bytes_read.sum"]["value_int"] == 1024


def test_long_display_names_and_the_most_exact_of_several() -> None:
    section = "GPU Speed Of Light Throughput"
    read = read_text(
        long(
            row(0, "gpu__time_duration.sum", "ns", "12,994,688"),
            row(0, "Duration", "ms", "12.99", section),
            row(0, "Memory Throughput", "%", "61.71", section),
            row(0, "Memory Throughput", "Gbyte/s", "197.74", "Memory Workload Analysis"),
            row(0, "SM Active Cycles", "cycle", "12,168,381.57", section),
            row(0, "Average SM Active Cycles", "cycle", "12,168,381.6", "GPU and Memory Workload Distribution"),
            row(0, "Gizmo Throughput", "%", "1.00", section),
        )
    )
    assert read.value(0, "gpu__time_duration.sum") == 12994688
    assert read.value(0, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") == 61.71
    assert read.value(0, "dram__bytes.sum.per_second") == pytest.approx(197.74e9)
    assert read.value(0, "sm__cycles_active.avg") == 12168381.57
    # An unknown name is kept, not guessed, and said.
    assert read.value(0, "Gizmo Throughput") == 1.0
    assert "Gizmo Throughput" in next(n.message for n in read.notes if n.kind == "unknown-display-names")


def test_display_names_that_depend_on_the_gpu() -> None:
    busy = "Compute Workload Analysis"
    older = read_text(long(row(0, "SM Busy", "%", "50.00", busy)))
    assert (0, "sm__instruction_throughput.avg.pct_of_peak_sustained_active") in older.metrics
    newer = read_text(long(row(0, "SM Busy", "%", "50.00", busy)).replace('"8.0"', '"12.0"'))
    assert (0, "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed") in newer.metrics


def test_long_rules() -> None:
    text = long(
        [*row(0, "Theoretical Occupancy", "%", "62.50", "Occupancy"), ""],
        [*row(0, "", "", "", "Occupancy"), "TheoreticalOccupancy", "OPT", 'says "this", and that', "local", "37.5"],
        [*row(0, "", "", "", "SpeedOfLight"), "SOLBottleneck", "INF", "fine", "", ""],
        rules=True,
    )
    read = read_text(text)
    assert len(read.rules) == 2
    first = read.rules[0]
    assert (first["rule_id"], first["section_id"], first["message_type"]) == (
        "TheoreticalOccupancy",
        "Occupancy",
        "optimization",
    )
    assert (first["text"], first["speedup_type"], first["speedup_pct"]) == ('says "this", and that', "local", 37.5)
    assert read.rules[1]["message_type"] == "ok"
    assert read.rules[1]["speedup_pct"] is None


def test_nvtx_ranges_with_an_annotation() -> None:
    title = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
    ranges = '42  "<default domain>:step:none:none:none:none:none:none"  "<default domain>:ncuroof:{"m":64,"op":"gemm"}:none:none:none:none:none:none" '
    titles = [*IDENTITY[:4], title, *IDENTITY[4:], *LONG[11:]]
    values = row(0, "gpu__time_duration.sum", "ns", "5")
    read = read_text(csv_text([titles, [*values[:4], ranges, *values[4:]]]))
    launch = read.launches[0]
    assert [r["name"] for r in launch["nvtx"]] == ["step", 'ncuroof:{"m":64,"op":"gemm"}']
    assert launch["nvtx_path"] == 'step/ncuroof:{"m":64,"op":"gemm"}'
    assert launch["nvtx"][0]["thread"] == 42


NOISE = (
    "==PROF== Connected to process 42 (/home/me/a.out)\n",
    "epoch 1: loss 0.25\n",
    '{"a": 1, "b": "unbalanced}\n',
    "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.\n",
    "\n",
    '"not a record\n',
)


@pytest.mark.parametrize("form", ["wide", "long"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_noise_anywhere(form: str, line_end: str) -> None:
    clean = (
        wide(["2.5", "12.25", "x", "1.41"], ["3.5", "13.25", "y", "1.5"])
        if form == "wide"
        else long(*(row(i, n, "ns", f"{i}.25") for i in (0, 1) for n in ("a__x.avg", "b__y.avg")))
    )
    want = read_text(clean)
    for place in range(clean.count("\n") + 1):
        lines = clean.splitlines(keepends=True)
        lines[place:place] = NOISE
        read = read_bytes("".join(lines).replace("\n", line_end).encode())
        assert {k: v["value"] for k, v in read.metrics.items()} == {k: v["value"] for k, v in want.metrics.items()}, (
            place
        )
        assert len(read.launches) == 2
        # Facts that the log tells hold for what comes after them; here only where the line came before the table.
        if place == 0:
            assert read.launches[0]["clock_control"] == "none"
            assert read.launches[0]["clock_control_source"] == "said by ncu in the log"
    assert want.launches[0]["clock_control"] is None


def test_cache_and_clock_control_from_the_command_line() -> None:
    text = "+ ncu --csv --page raw --clock-control=base --cache-control none ./a.out\n" + wide(
        ["2.5", "12.25", "x", "1.41"]
    )
    launch = read_text(text).launches[0]
    assert (launch["clock_control"], launch["clock_control_source"]) == ("base", "command line")
    assert (launch["cache_control"], launch["cache_control_source"]) == ("none", "command line")
    assert launch["replay_mode"] is None


def test_two_command_lines_that_disagree_tell_nothing() -> None:
    text = "ncu --clock-control base ./a\nncu --clock-control none ./a\n" + wide(["2.5", "12.25", "x", "1.41"])
    assert read_text(text).launches[0]["clock_control"] is None


def test_several_runs_one_after_another() -> None:
    text = (
        long(row(0, "a__x.avg", "us", "1.50"))
        + "bye\n"
        + wide(["2.5", "12.25", "x", "1.41"])
        + long(row(0, "a__x.avg", "ns", "2.50"))
    )
    read = read_text(text)
    assert len(read.launches) == 3
    assert [read.value(0, "a__x.avg"), read.value(1, TITLES[1]), read.value(2, "a__x.avg")] == [1500, 12250, 2.5]


def test_the_same_run_twice_below_one_header() -> None:
    # Two runs joined without the second header: same ids, same process number (as in containers).
    rows = [row(0, "a__x.avg", "ns", "1.50"), row(0, "b__y.avg", "ns", "2.50")]
    read = read_text(long(*rows, *([*r[:-1], "9.25"] for r in rows)))
    assert len(read.launches) == 2
    assert [read.value(i, n) for i in (0, 1) for n in ("a__x.avg", "b__y.avg")] == [1.5, 2.5, 9.25, 9.25]


def test_rows_sorted_by_metric() -> None:
    rows = [row(i, n, "ns", f"{i}.5{k}") for k, n in enumerate(("a__x.avg", "b__y.avg")) for i in range(3)]
    read = read_text(long(*rows))
    assert len(read.launches) == 3
    assert [read.value(i, n) for i in range(3) for n in ("a__x.avg", "b__y.avg")] == [0.5, 0.51, 1.5, 1.51, 2.5, 2.51]


def test_long_without_ids() -> None:
    titles = ["Kernel Name", "Metric Name", "Metric Unit", "Metric Value"]
    rows = [
        ["k(int)", "a__x.avg", "ns", "1.5"],
        ["k(int)", "b__y.avg", "ns", "2.5"],
        ["k(int)", "a__x.avg", "ns", "3.5"],
        ["q", "a__x.avg", "ns", "4.5"],
    ]
    read = read_text(csv_text([titles, *rows]))
    assert [launch["kernel_name"] for launch in read.launches] == ["k", "k", "q"]
    assert [read.value(0, "b__y.avg"), read.value(1, "a__x.avg"), read.value(2, "a__x.avg")] == [2.5, 3.5, 4.5]


def test_a_kernel_is_never_split_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncuroof.readers._text_source.blocks.__defaults__", (700,))
    rows = [row(i, f"a__m{k}.avg", "ns", f"{i}.{k:02}") for i in range(5) for k in range(20)]
    read = read_text(long(*rows))
    assert len(read.launches) == 5
    assert all(read.value(i, f"a__m{k}.avg") == pytest.approx(i + k / 100) for i in range(5) for k in range(20))


@pytest.mark.parametrize("want", [None, frozenset({TITLES[0], TITLES[3]})])
def test_many_blocks_of_a_wide_table_of_every_kind_of_row(
    monkeypatch: pytest.MonkeyPatch, want: frozenset[str] | None
) -> None:
    # About one row a block: each of them, also one that lacks its end or has more fields than titles, begins one.
    monkeypatch.setattr("ncuroof.readers._text_source.blocks.__defaults__", (170,))
    rows = [[f"{i}.25", f"{100 + i}", "x", "1.5"] for i in range(12)]
    rows[3] = ["3.25", "n/a", "x", "no data"]
    rows[7] = [*rows[7], "beyond the titles"]
    rows[9] = ["9.25"]
    read = read_text(wide(*rows))
    assert [launch["result_index"] for launch in read.launches] == list(range(12))
    assert {launch["grid_x"] for launch in read.launches} == {80}
    assert {(launch["cc_major"], launch["cc_minor"]) for launch in read.launches} == {(8, 0)}
    # Mbyte to byte, cycle/nsecond to cycle/s
    assert [read.value(i, TITLES[0]) for i in range(12)] == [pytest.approx((i + 0.25) * 1e6) for i in range(12)]
    rates = [read.metrics.get((i, TITLES[3]), {"value": None})["value"] for i in range(12)]
    assert rates == [None if i in (3, 9) else 1.5e9 for i in range(12)]


def test_whole_numbers_stay_exact_beside_scaled_ones() -> None:
    titles = [*IDENTITY, "a__exact.sum", "b__scaled.sum", "c__gap.sum"]
    rows = [["0", "42", *WHO, "9007199254740993", "3", "5"], ["1", "42", *WHO, "2", "4", "n/a"]]
    read = read_text(csv_text([titles, [*BLANK, "inst", "Kbyte", "inst"], *rows]))
    # 2^53 + 1 has no float of its own
    assert read.metrics[0, "a__exact.sum"]["value_int"] == 2**53 + 1
    assert read.value(0, "b__scaled.sum") == 3000
    assert read.metrics[1, "c__gap.sum"]["value"] is None
    assert read.metrics[1, "c__gap.sum"]["value_int"] is None
    assert read.metrics[0, "c__gap.sum"]["value_int"] == 5


def test_only_wanted_metrics() -> None:
    for text in (
        wide(["2.5", "12.25", "x", "1.41"]),
        long(row(0, TITLES[0], "Mbyte", "2.5"), row(0, TITLES[1], "us", "12.25")),
    ):
        read = read_text(text, want=frozenset({TITLES[1], "absent__metric.sum"}))
        assert set(read.metrics) == {(0, TITLES[1])}
        assert read.value(0, TITLES[1]) == 12250


def test_gpu_name_from_the_metrics() -> None:
    titles = [*IDENTITY, "device__attribute_display_name", "gpu__time_duration.sum"]
    read = read_text(csv_text([titles, [*BLANK, "", "ns"], ["0", "42", *WHO, "NVIDIA H200", "5"]]))
    assert read.launches[0]["gpu_name"] == "NVIDIA H200"


def test_a_cut_row_is_left_out_and_said() -> None:
    text = wide(["2.5", "12.25", "x", "1.41"], ["3.5", "13.25", "y", "1.5"])
    read = read_text(text[:-5])
    assert len(read.launches) == 1
    assert "cut-file" in read.kinds()


@pytest.mark.parametrize("keep", [1, 2])
def test_cut_before_the_first_row(keep: int) -> None:
    text = "".join(wide(["2.5", "12.25", "x", "1.41"]).splitlines(keepends=True)[:keep])
    with pytest.raises(DamagedError, match="taken for ncu-csv-wide because of a header row"):
        read_text(text)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe:
        buffer = io.BytesIO(long(row(0, "a__x.avg", "us", "1.50")).encode())

    monkeypatch.setattr(sys, "stdin", Pipe())
    file = open_input("-")
    reader, why = choose(file)
    chunks = list(reader.read(file, why, None).chunks)
    assert chunks[0].metrics["value"].to_list() == [1500.0]
    assert chunks[0].launches["source"].to_list() == ["standard input"]


def test_private_names_stay_out(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(long(row(0, "a__x.avg", "us", "1.50")).replace("127.0.0.1", "secret-host"))
    file = open_input(path)
    reader, why = choose(file)
    for chunk in reader.read(file, why, None).chunks:
        assert "secret-host" not in str(chunk.launches.to_dicts()) + str(chunk.metrics.to_dicts())


def test_recognised_by_content_not_by_name() -> None:
    assert read_text(wide(["2.5", "12.25", "x", "1.41"]), name="log.txt").reader == "ncu-csv-wide"
    assert read_text(long(row(0, "a__x.avg", "us", "1.50")), name="x.ncu-rep").reader == "ncu-csv-long"


def test_titles_and_units_in_blocks_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = wide(["2.5", "12.25", "x", "1.41"], ["3.5", "13.25", "y", "1.5"])
    lines = text.splitlines(keepends=True)
    monkeypatch.setattr("ncuroof.readers._text_source.blocks.__defaults__", (max(map(len, lines[:2])),))
    read = read_text(text)
    assert len(read.launches) == 2
    assert [read.value(i, TITLES[1]) for i in (0, 1)] == [12250, 13250]
