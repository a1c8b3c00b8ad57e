"""What ncu prints to a terminal, in the shapes in which people keep it."""

# ruff: noqa: E501  lines of ncu's own output keep their length

from __future__ import annotations

import textwrap

import pytest
from tests.readers.text_helpers import Read, read_text

LOG = """\
==PROF== Connected to process 8821 (/home/me/a.out)
==PROF== Profiling "gemm" - 0: 0%....50%....100% - 9 passes
result: 1,5 (wrong) x (2, 3, 4)
==PROF== Disconnected from process 8821
[8821] a.out@127.0.0.1
  void ns::gemm<float, 128>(const float *, float *) (32, 8, 1)x(128, 2, 1), Context 1, Stream 7, Device 0, CC 8.6
    Section: GPU Speed Of Light Throughput
    ----------------------- ------------- ------------
    Metric Name               Metric Unit Metric Value
    ----------------------- ------------- ------------
    DRAM Frequency          cycle/nsecond         6.21
    Elapsed Cycles                  cycle    2,273,471
    Duration                      msecond         1.73
    ----------------------- ------------- ------------

    OPT   Est. Local Speedup: 44.99%
          Memory is more heavily utilized than Compute: Look at the Memory Workload
          Analysis section.
    ----- --------------------------------------------------------------------------------------------------------------
    WRN   A second message of two
          lines.

    Section: Launch Statistics
    -------------------------------- --------------- ---------------
    Metric Name                          Metric Unit    Metric Value
    -------------------------------- --------------- ---------------
    Block Size                                                   256
    Function Cache Configuration                     CachePreferNone
    Shared Memory Configuration Size           Kbyte           32.77
    # SMs                                         SM              40
    -------------------------------- --------------- ---------------

  copy(int *) (1, 1, 1)x(32, 1, 1), Context 2, Stream 14, Device 1, CC 9.0
    Section: Command line profiler metrics
    ---------------------------------------------- ----------- ------------
    Metric Name                                    Metric Unit Metric Value
    ---------------------------------------------- ----------- ------------
    dram__bytes_read.sum                                 Kbyte         3.58
    sm_warps_active.avg.pct_of_peak_sustained_active                (!) n/a
    ---------------------------------------------- ----------- ------------

done
"""

SOL = {
    "dram__cycles_elapsed.avg.per_second": 6.21e9,
    "gpc__cycles_elapsed.max": 2273471,
    "gpu__time_duration.sum": 1.73e6,
    "launch__block_size": 256,
    "launch__shared_mem_config_size": 32770,
    "launch__sm_count": 40,
}


def check(read: Read) -> None:
    assert len(read.launches) == 2
    first, second = read.launches
    assert first["kernel_demangled"] == "void ns::gemm<float, 128>(const float *, float *)"
    assert first["kernel_name"] == "gemm"
    assert [first[f"{s}_{a}"] for s in ("grid", "block") for a in "xyz"] == [32, 8, 1, 128, 2, 1]
    keys = ("process_id", "context_id", "stream_id", "device_index", "cc_major", "cc_minor")
    assert [first[k] for k in keys] == [8821, 1, 7, 0, 8, 6]
    assert [second[k] for k in keys] == [8821, 2, 14, 1, 9, 0]
    assert {m: read.value(0, m) for m in SOL} == pytest.approx(SOL)
    assert read.metrics[0, "launch__func_cache_config"]["text"] == "CachePreferNone"
    assert read.value(1, "dram__bytes_read.sum") == 3580
    assert read.value(1, "sm_warps_active.avg.pct_of_peak_sustained_active") is None


def test_details_page() -> None:
    read = read_text(LOG)
    assert read.reader == "ncu-text-log"
    check(read)
    assert [r["message_type"] for r in read.rules] == ["optimization", "warning"]
    assert read.rules[0]["section_id"] == "SpeedOfLight"
    assert (read.rules[0]["speedup_type"], read.rules[0]["speedup_pct"]) == ("local", 44.99)
    assert read.rules[0]["text"] == (
        "Memory is more heavily utilized than Compute: Look at the Memory Workload Analysis section."
    )
    assert read.rules[1]["text"] == "A second message of two lines."


@pytest.mark.parametrize("prefix", ["// ", "# ", "> ", "    "])
def test_pasted_into_comments_and_quotes(prefix: str) -> None:
    check(read_text(textwrap.indent(LOG, prefix, lambda line: True)))


def test_indentation_lost() -> None:
    read = read_text("\n".join(line.strip() for line in LOG.splitlines()))
    check(read)


def test_columns_squeezed() -> None:
    import re

    check(read_text("\n".join(re.sub(r"(?<=\S)   +(?=\S)", "  ", line) for line in LOG.splitlines())))


@pytest.mark.parametrize("noise", ["==PROF== Disconnected from process 9\n", "progress 50% of 12 done\n", "\n"])
def test_other_output_within_tables(noise: str) -> None:
    lines = LOG.splitlines(keepends=True)
    for place in range(10, len(lines)):
        read = read_text("".join([*lines[:place], noise, *lines[place:]]))
        assert len(read.launches) == 2, place
        assert {m: read.value(0, m) for m in SOL} == pytest.approx(SOL), place


def test_before_2021() -> None:
    # No titles above the columns, no grid and block in the kernel's line, a date instead.
    read = read_text(
        """\
        [14142] a.out@127.0.0.1
          add(int, float*, float*), 2020-Oct-28 10:36:31, Context 1, Stream 7
            Section: GPU Speed Of Light
            ---------------------------------------------------------------------- --------------- ------------------------------
            Memory Frequency                                                         cycle/nsecond                           1.11
            SOL FB                                                                               %                          12.34
            Duration                                                                       usecond                          86.53
            ---------------------------------------------------------------------- --------------- ------------------------------
        """
    )
    assert read.launches[0]["kernel_name"] == "add"
    assert read.launches[0]["grid_x"] is None
    assert read.launches[0]["process_id"] == 14142
    assert read.value(0, "gpu__time_duration.sum") == 86530
    assert read.value(0, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") == 12.34
    assert read.value(0, "dram__cycles_elapsed.avg.per_second") == 1.11e9


SUMMARY = """\
[14691] a.out@127.0.0.1
  Device 0, CC 8.6
    multi(int, const float *) (128, 128, 1)x(32, 1, 1), Invocations 10
      Section: GPU Speed Of Light Throughput
      ----------------------- ------------- ------------ ------------ ------------
      Metric Name               Metric Unit      Minimum      Maximum      Average
      ----------------------- ------------- ------------ ------------ ------------
      DRAM Frequency          cycle/nsecond         6.24         6.30         6.25
      Elapsed Cycles                  cycle 3,796,741.00 3,799,322.00 3,797,827.00
      Duration                      msecond         2.88         2.92         2.90
      ----------------------- ------------- ------------ ------------ ------------
"""


def test_print_summary() -> None:
    read = read_text(SUMMARY)
    launch = read.launches[0]
    assert [launch[k] for k in ("kernel_name", "cc_major", "cc_minor", "device_index", "grid_y")] == [
        "multi",
        8,
        6,
        0,
        128,
    ]
    assert read.value(0, "summary__invocations") == 10
    duration = [read.value(0, f"gpu__time_duration.sum{s}") for s in ("", ":min", ":max")]
    assert duration == pytest.approx([2.9e6, 2.88e6, 2.92e6])
    assert read.value(0, "gpc__cycles_elapsed.max") == 3797827
    assert "stands for all launches" in next(n.message for n in read.notes if n.kind == "summary")


def test_print_summary_as_csv() -> None:
    titles = "Process ID,Kernel Name,Block Size,Grid Size,Device,CC,Invocations,Section Name,Metric Name,Metric Unit,Minimum,Maximum,Average"
    row = '1,"k(int)","(32, 1, 1)","(4, 1, 1)",0,8.6,10,GPU Speed Of Light Throughput,Duration,msecond,2.88,2.92,2.90'
    read = read_text(f"{titles}\n{row}\n")
    assert read.reader == "ncu-csv-long"
    assert read.value(0, "summary__invocations") == 10
    duration = [read.value(0, f"gpu__time_duration.sum{s}") for s in ("", ":min", ":max")]
    assert duration == pytest.approx([2.9e6, 2.88e6, 2.92e6])
    assert "summary" in read.kinds()


def test_a_table_without_its_kernel_line() -> None:
    read = read_text("\n".join(LOG.splitlines()[6:13]))
    assert len(read.launches) == 1
    assert read.launches[0]["kernel_name"] is None
    assert read.value(0, "gpu__time_duration.sum") == 1.73e6
    assert "no-kernel-line" in read.kinds()


def test_nvtx_stack() -> None:
    log = LOG.replace(
        "    Section: GPU Speed",
        "    NVTX Push/Pop Stack for Thread 8821:\n     <default domain>\n        <0,step>\n        <1,layer 3>\n    Section: GPU Speed",
        1,
    )
    launch = read_text(log).launches[0]
    assert launch["nvtx_path"] == "step/layer 3"
    assert launch["nvtx"][0]["thread"] == 8821


def test_version_and_settings_that_the_log_tells() -> None:
    log = (
        '==WARNING== Could not deploy stock section files to "/home/u/Documents/NVIDIA Nsight Compute/2026.2.0/Sections".\n'
        "==WARNING== Note: Running with uncontrolled GPU caches. Profiling results may be inconsistent.\n" + LOG
    )
    launch = read_text(log).launches[0]
    assert launch["ncu_version"] == "2026.2.0"
    assert (launch["cache_control"], launch["cache_control_source"]) == ("none", "said by ncu in the log")
    assert launch["clock_control"] is None


def test_a_csv_table_far_down_in_a_log() -> None:
    noise = "==PROF== Connected to process 1 (a.out)\n" + "server output line\n" * 10_000
    row = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","k(int)","gpu__time_duration.sum","us","1.50"\n'
    read = read_text(noise + row)
    assert read.value(0, "gpu__time_duration.sum") == 1500
