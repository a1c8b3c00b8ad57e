"""Units from names: by hand, and against the units that ncu itself prints."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from ncuroof.ncurep.units import unit_of
from ncuroof.readers._units import base_unit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("gpu__time_duration.sum", "ns"),
        ("gpu__time_duration", "ns"),
        ("dram__bytes_read.sum", "byte"),
        ("dram__bytes_op_write.sum", "byte"),
        ("dram__bytes.sum.per_second", "byte/s"),
        ("dram__bytes_per_sec", "byte/s"),
        ("dram__bytes.sum.peak_sustained", "byte/cycle"),
        ("dram__cycles_elapsed.avg.per_second", "hz"),
        ("dram__frequency", "hz"),
        ("sm__cycles_elapsed.max", "cycle"),
        ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%"),
        ("lts__t_sector_hit_rate.pct", "%"),
        ("lts__t_sectors.sum", "sector"),
        ("lts__t_sectors.sum.per_second", "sector/s"),
        ("lts__t_sectors.avg.per_cycle_elapsed", "sector/cycle"),
        ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request"),
        ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "byte/sector"),
        ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst"),
        ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", "inst/cycle"),
        ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", "inst/cycle"),
        ("derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", "FLOP/cycle"),
        ("sm__warps_active.avg.per_cycle_active", "warp"),
        ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
        ("sm__maximum_warps_per_active_cycle_pct", "%"),
        ("launch__registers_per_thread", "register/thread"),
        ("launch__shared_mem_per_block_static", "byte/block"),
        ("launch__block_size", "thread"),
        ("launch__waves_per_multiprocessor", None),
        ("device__attribute_clock_rate", "khz"),
        ("device__attribute_multiprocessor_count", None),
        ("sm__ops_path_tensor_src_fp16_dst_fp32.sum", None),
        ("TPC.TriageCompute.sm__cycles_active.avg", "cycle"),
        ("pmsampling:dram__bytes.sum.per_second", "byte/s"),
        ("breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed", None),
        ("group:memory__chart", None),
        ("sm__inst_executed_avg_per_active_cycle", "inst/cycle"),
        ("", None),
        ("no such thing", None),
    ],
)
def test_by_hand(metric: str, unit: str | None) -> None:
    assert unit_of(metric) == unit


NAME = r"[a-z][a-zA-Z0-9_:]*__[a-zA-Z0-9_.:]+"
# Where ncu prints another unit than the name says, and why the name is right.
EXPLAINED = [
    # ncu knows no unit for these on some chips or versions, and prints the same one as here on others.
    (r"^l1tex__t_requests_", {None}),
    (r"^(dram|lts|l1tex)__(t_)?bytes", {None}),
    # ncu prints no unit for launch sizes and device attributes; these are those of the CUDA documentation.
    (r"^launch__(grid|cluster)_(dim_[xyz]|size)$|^launch__(block|stack)_size$|^launch__tpc_count$", {None}),
    (r"^device__attribute_", {None}),
    # ncu says block; blocks do not count themselves.
    (r"^launch__block_dim_[xyz]$", {"block"}),
    # A sum weighted by FLOPs for each instruction, per cycle.
    (r"_pred_on_x[24]$", {"inst"}),
    # ncu takes the last word of the name for what is counted: warps stalled at a branch, a barrier, for instructions.
    (r"^smsp__pcsamp_warps_issue_stalled_", {"branch", "byte", "inst"}),
    # ncu drops or keeps the sub-metric of a derived metric at random.
    (r"^derived__(l1tex__lsu_writeback|lts__lts2xbar)_bytes", {None, "byte"}),
    (r"^derived__memory_l2_theoretical_sectors_global_excessive$", {"byte"}),
]


@pytest.fixture(scope="module")
def printed(corpus: Path) -> dict[str, set[str | None]]:
    """Metric name to the units that ncu prints for it, scaled to base units, over all text outputs of the corpus."""
    units: dict[str, set[str | None]] = {}

    def add(name: str, unit: str) -> None:
        if re.fullmatch(NAME, name) and name != "triton_per_fused_copy__mul_sum_0":  # a kernel, not a metric
            units.setdefault(name, set()).add(base_unit(unit)[0])

    for path in sorted((corpus / "text").iterdir()):
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        for line in lines:
            titled = re.match(rf"^({NAME})(?: \[([^\]]*)\])?,", line)
            row = re.match(rf"^ +({NAME})  +(?:(\S+)  +)?\S+ *$", line)
            if titled or row:
                match = titled or row
                assert match is not None
                add(match[1], match[2] or "")
            elif line.startswith('"'):
                cells = next(csv.reader([line]))
                for name, unit in pairwise(cells):
                    add(name, unit)
    return units


def test_agreement_with_the_units_that_ncu_prints(printed: dict[str, set[str | None]]) -> None:
    with_unit = {name: units - {None} for name, units in printed.items() if units - {None}}
    agree = [name for name, units in with_unit.items() if unit_of(name) in units]
    assert len(printed) > 2000
    assert len(agree) > 0.98 * len(with_unit), (len(agree), len(with_unit))
    for name, units in printed.items():
        unit = unit_of(name)
        if unit not in units:
            assert any(re.search(pattern, name) and units <= wrong for pattern, wrong in EXPLAINED), (name, units, unit)
