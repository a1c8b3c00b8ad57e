"""From a collected, annotated M sweep the findings of "The Roofline Model, Starting from Measured Data" come out.

The stand-in gives each product the published time (H100, FP16) and the executed work that Nsight Compute counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from ncuroof import config, pipeline
from ncuroof.collect import export

STANDIN = Path(__file__).resolve().parents[1] / "standin" / "ncu.py"

PROGRAM = """
from ncuroof import annotate
for m in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048):
    with annotate.gemm(m=m, n=8192, k=8192, dtype="fp16", sweep="M sweep fp16"):
        pass
for n in (256, 512, 1024, 2048, 4096, 8192):
    with annotate.gemm(m=n, n=n, k=n, dtype="fp16", sweep="square fp16"):
        pass
"""


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    folder = tmp_path_factory.mktemp("article")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "ncu").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STANDIN}" "$@"\n')
    (folder / "ncu").chmod(0o755)
    command = [
        sys.executable,
        "-m",
        "ncuroof",
        "collect",
        "--cache",
        "both",
        "--no-analyze",
        "-o",
        str(folder / "sweep"),
    ]
    command += ["--ncu", str(folder / "ncu"), "--", sys.executable, str(folder / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    report = folder / "sweep.cold.ncu-rep"
    return export.analyse([report], config.load(None))


@pytest.fixture(scope="module")
def sweep(analysis):
    return analysis.kernels.filter(pl.col("op_sweep") == "M sweep fp16").sort("op_m")


def findings(analysis, name):
    rows = analysis.findings.filter(pl.col("name") == name)
    return rows.join(analysis.kernels.select("row", "op_m", "op_n", "op_sweep"), on="row", how="left")


def test_the_curve_turns_flat_at_the_ridge(sweep):
    verdicts = dict(sweep.select("op_m", "verdict").iter_rows())
    # The article's ridge is at M = 272: left of it bytes decide, right of it work. M = 256 sits on it.
    assert {verdicts[m] for m in (2, 4, 8, 16, 32, 64, 128)} == {"memory-bound"}
    assert {verdicts[m] for m in (512, 1024, 2048)} == {"compute-bound"}
    rate = dict(sweep.select("op_m", pl.col("useful_flop") / pl.col("duration_s")).iter_rows())
    assert rate[64] / rate[8] == pytest.approx(8, rel=0.05)  # proportional to M on the slope
    assert rate[2048] / rate[1024] == pytest.approx(1, abs=0.03)  # level on the flat part
    assert rate[2048] / 1e12 == pytest.approx(787.6, abs=0.5)  # the published F


def test_the_bandwidth_reached_shows_where_the_time_goes(sweep):
    reached = dict(sweep.select("op_m", pl.col("compulsory_bytes") / pl.col("duration_s") / 1e9).iter_rows())
    assert reached[64] == pytest.approx(2826, abs=2)  # (2·(64·8192·2 + 8192²)) bytes in 48.241 µs
    assert reached[2048] == pytest.approx(577, abs=1)  # the article's figure


def test_useful_and_executed_work_are_told_apart(sweep):
    executed = dict(sweep.select("op_m", pl.col("flop") / pl.col("useful_flop")).iter_rows())
    # 64-row tiles: 64 / M from M = 2 on; M = 1 is a GEMV and runs no padding.
    assert executed[1] == pytest.approx(1)
    assert executed[2] == pytest.approx(32)
    assert executed[8] == pytest.approx(8)
    assert executed[64] == pytest.approx(1)


def test_launch_overhead_of_the_small_squares(analysis):
    found = findings(analysis, "launch-overhead")
    assert {256, 512} <= set(found["op_m"].to_list())
    assert not {2048, 4096, 8192} & set(found["op_m"].to_list())


def test_the_slow_neighbour(analysis):
    found = findings(analysis, "slow-neighbour")
    # 58.7 and 60.2 µs at M = 2 and 4, longer than the 49.9 µs at M = 8.
    assert {2, 4} <= set(found.filter(pl.col("op_sweep") == "M sweep fp16")["op_m"].to_list())


def test_time_outside_kernels_is_a_finding_of_the_program(analysis):
    rows = analysis.findings.filter(pl.col("name") == "time-outside-kernels")
    assert rows.height == 1
    assert rows["row"][0] is None


def test_large_kernels_near_the_flat_part_are_left_alone(analysis):
    warned = analysis.findings.filter(pl.col("severity").is_in(["error", "warning"])).drop_nulls("row")
    rows = analysis.kernels.filter(pl.col("row").is_in(warned["row"].implode()))
    assert not {1024, 2048} & set(rows.filter(pl.col("op_sweep") == "M sweep fp16")["op_m"].to_list())


def test_the_same_comes_out_of_the_stored_tables(analysis, tmp_path_factory):
    folder = next(path for path in tmp_path_factory.getbasetemp().iterdir() if path.name.startswith("article"))
    again = pipeline.load([folder / "sweep.parquet"])
    assert again.kernels.height == 2 * analysis.kernels.height
