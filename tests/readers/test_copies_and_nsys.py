"""Tables copied from the window, and kernel times of nsys stats."""

from __future__ import annotations

import pytest
from tests.readers.text_helpers import read_text

from ncuroof.errors import NothingMeasuredError
from ncuroof.testing.text_forms import nsys_summary

COPY = """\
\ufeffID,0,1
Estimated Speedup [%],83.01,12.5
Function Name,gemm,copy
Demangled Name,gemm..,copy..
Original Demangled Name,"gemm(const float *, float *)",copy(int *)
Process,[317650] python3.10,[317650] python3.10
Device Name,NVIDIA B200,NVIDIA B200
Grid Size," 4096,    8,    1","    1,    1,    1"
Block Size [block],"   32,    1,    1","   64,    2,    1"
gpc__cycles_elapsed.max [cycle],"339,579","1,024"
gpu__time_duration.sum [us],296.74,12.50
breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed,"a,b","a,b"
dram__bytes_read.sum [Mbyte],38.17 {4},{4}
device__attribute_compute_capability_major,10,10
device__attribute_compute_capability_minor,0,0
"""


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_transposed_copy(delimiter: str) -> None:
    text = COPY
    if delimiter == "\t":
        import csv
        import io

        out = io.StringIO()
        csv.writer(out, delimiter="\t", lineterminator="\r\n").writerows(csv.reader(io.StringIO(COPY)))
        text = out.getvalue()
    read = read_text(text)
    assert read.reader == "ncu-gui-copy"
    first, second = read.launches
    assert (first["kernel_name"], first["kernel_demangled"]) == ("gemm", "gemm(const float *, float *)")
    assert [first[f"{s}_{a}"] for s in ("grid", "block") for a in "xyz"] == [4096, 8, 1, 32, 1, 1]
    assert [second[f"{s}_{a}"] for s in ("grid", "block") for a in "xyz"] == [1, 1, 1, 64, 2, 1]
    assert [first[k] for k in ("gpu_name", "cc_major", "cc_minor", "process_id")] == ["NVIDIA B200", 10, 0, 317650]
    assert read.value(0, "gpc__cycles_elapsed.max") == 339579
    assert read.value(1, "gpu__time_duration.sum") == 12500
    assert read.value(0, "dram__bytes_read.sum") == pytest.approx(38.17e6)
    assert read.value(1, "dram__bytes_read.sum") is None
    assert read.metrics[1, "dram__bytes_read.sum"]["text"] is None
    assert read.metrics[0, "breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed"]["text"] == "a,b"


def test_copy_of_the_summary_page() -> None:
    text = (
        "ID,Function Name,Demangled Name,Duration [us],Compute Throughput [%],Memory Throughput [%],# Registers "
        "[register/thread],"
        'Grid Size,Block Size [block]\n0,gemm,gemm(int),296.74,72.88,63.69,40,"4096, 8, 1","32, 1, 1"\n'
    )
    read = read_text(text)
    assert read.value(0, "gpu__time_duration.sum") == 296740
    assert read.value(0, "sm__throughput.avg.pct_of_peak_sustained_elapsed") == 72.88
    assert read.value(0, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") == 63.69
    assert read.value(0, "launch__registers_per_thread") == 40


def test_nsys_summary_csv() -> None:
    read = read_text(nsys_summary([("void k<int, int>(int)", 1_000_000, 4), ("copy", 300, 1)]))
    assert read.reader == "nsys-kernel-times"
    assert [launch["kernel_name"] for launch in read.launches] == ["k", "copy"]
    assert read.value(0, "gpu__time_duration.sum") == 250_000  # 1 ms / 4
    assert read.value(0, "summary__total_time") == 1_000_000
    assert read.value(0, "summary__invocations") == 4
    assert "no counters" in next(n.message for n in read.notes if n.kind == "summary")


OLD = """\
"Time(%)","Total Time (ns)","Instances","Average","Minimum","Maximum","Name"
56.1,"1,234,567",3,"411,522.3","400,000","430,000","sgemm(int, float)"
"""

PRINTED = """\
Processing [report.sqlite] with [/opt/nvidia/reports/cuda_api_sum.py]...

 ** CUDA API Summary (cuda_api_sum):

 Time (%)  Total Time (ns)  Num Calls  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)          Name
 --------  ---------------  ---------  --------  --------  --------  --------  -----------  --------------------
     81.0          900,000          9  100000.0  100000.0    100000    100000          0.0  cudaDeviceSynchronize

 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)            Name
 --------  ---------------  ---------  --------  --------  --------  --------  -----------  ------------------------
    100.0          500,000          2  250000.0  250000.0   200,000   300,000          0.0  void k<4>(int *, float *)
"""

TRACE = """\
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Bytes (MB),SrcMemKd,Device,Ctx,Strm,Name
100,2500,1,,,,,,,,1.5,Pageable,NVIDIA H100 (0),1,7,[CUDA memcpy HtoD]
3000,4096,2,8,2,1,128,1,1,32,,,NVIDIA H100 (0),1,7,"k(int, int)"
"""


def test_nsys_before_2022() -> None:
    read = read_text(OLD)
    assert read.value(0, "gpu__time_duration.sum") == pytest.approx(1234567 / 3)
    assert [read.value(0, f"gpu__time_duration.sum:{s}") for s in ("min", "max")] == [400_000, 430_000]
    assert read.launches[0]["kernel_demangled"] == "sgemm(int, float)"


def test_nsys_printed_to_a_terminal() -> None:
    read = read_text(PRINTED)
    assert [launch["kernel_demangled"] for launch in read.launches] == ["void k<4>(int *, float *)"]
    assert read.value(0, "gpu__time_duration.sum") == 250_000
    assert read.value(0, "gpu__time_duration.sum:max") == 300_000


def test_nsys_trace_has_a_row_for_each_launch() -> None:
    read = read_text(TRACE)
    assert len(read.launches) == 1
    launch = read.launches[0]
    assert [launch[f"{s}_{a}"] for s in ("grid", "block") for a in "xyz"] == [8, 2, 1, 128, 1, 1]
    assert [launch[k] for k in ("gpu_name", "device_index", "context_id", "stream_id")] == ["NVIDIA H100", 0, 1, 7]
    assert read.value(0, "gpu__time_duration.sum") == 4096


def test_nsys_tables_without_kernels() -> None:
    with pytest.raises(NothingMeasuredError, match="something else than kernels"):
        read_text(PRINTED.split(" ** CUDA GPU", maxsplit=1)[0])
