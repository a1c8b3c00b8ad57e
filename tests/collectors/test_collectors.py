"""Each collector runs small on the CPU, prints a table, and its formulas hold against torch's own counter."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

COLLECTORS = Path(__file__).resolve().parents[2] / "collectors"

SMALL = {
    "bandwidth": ["--bytes", "65536"],
    "gemm_square": ["--sizes", "32,64"],
    "gemm_msweep": ["--m", "1,2,4", "--n", "64", "--k", "64"],
    "fma_sweep": ["--bytes", "8192", "--r", "1,2,4"],
    "launch_floor": ["--launches", "10"],
    "qwen_layers": ["--scale", "32", "--batches", "1,2", "--prompt", "4"],
    "decode_step": ["--scale", "32", "--layers", "1", "--batches", "1,2", "--prompts", "8"],
}


def run(name, *options, **environment):
    command = [sys.executable, str(COLLECTORS / f"{name}.py"), "--device", "cpu", "--repeats", "2", *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False
    )


def test_every_collector_is_tested():
    helpers = {"harness", "fma_kernel", "compare_tables"}
    assert {path.stem for path in COLLECTORS.glob("*.py")} - helpers == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_runs_small_on_the_cpu_prints_a_table_writes_files_and_annotates(torch, name, tmp_path):
    from ncuroof.workloads import annotation

    log = tmp_path / "log"
    files = ["--json", str(tmp_path / "x.json"), "--csv", str(tmp_path / "x.csv")]
    done = run(name, *SMALL[name], "--dtypes", "fp32", *files, NCUROOF_ANNOTATION_LOG=str(log))
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    assert header.split()[:2] == ["name", "dtype"]
    document = json.loads((tmp_path / "x.json").read_text())
    rows = document["rows"]
    assert document["collector"] == name
    assert document["device"]["kind"] == "cpu"
    assert len(lines) >= len(rows)
    for row in rows:
        assert row["seconds"] > 0
        assert row["bytes_per_s"] == pytest.approx(row["bytes"] / row["seconds"])
        assert row["flop_per_s"] == pytest.approx(row["flop"] / row["seconds"])
    with (tmp_path / "x.csv").open() as file:
        assert [line["name"] for line in csv.DictReader(file)] == [row["name"] for row in rows]
    messages = [json.loads(line)["message"] for line in log.read_text().splitlines() if '"push"' in line]
    assert messages
    for message in messages:
        assert annotation.parse("", message).remark == ""  # every operation has a formula, and its sizes fit


LARGEST = {
    "bandwidth": ("bytes", 1 << 20),
    "gemm_square": ("n", 128),
    "gemm_msweep": ("m", 8),
    "fma_sweep": ("r", 4),
    "launch_floor": ("repeats", 3),
    "qwen_layers": ("n", 18944 // 16),
    "decode_step": ("layers", 1),
}
"""Collector: a size of its rows, and the largest that the CPU run takes by itself."""


@pytest.mark.parametrize("name", SMALL)
def test_the_cpu_run_is_small_without_being_asked(torch, name, tmp_path):
    command = [sys.executable, str(COLLECTORS / f"{name}.py"), "--device", "cpu", "--json", str(tmp_path / "x.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "x.json").read_text())["rows"]
    column, largest = LARGEST[name]
    assert max(row[column] for row in rows) == largest
    assert max(row["repeats"] for row in rows) == 3


def test_options_that_were_given_win_over_the_small_defaults(torch, collector, monkeypatch):
    harness = collector("harness")

    def parsed(*words):
        options = harness.parser("", dtypes="fp32")
        options.add_argument("--sizes", type=harness.ints, default=[256, 8192])
        monkeypatch.setattr(sys, "argv", ["x", *words])
        arguments = harness.parse(options)
        return arguments.sizes, arguments.repeats, arguments.warmup

    assert parsed() == ([256, 8192], 20, 3)
    assert parsed("--device", "cpu") == ([64, 128], 3, 1)
    assert parsed("--device", "cpu", "--sizes", "256", "--repeats", "20") == ([256], 20, 1)


def test_types_that_the_device_lacks_are_left_out_aloud(torch):
    done = run("gemm_square", "--sizes", "16", "--dtypes", "fp32,tf32")
    assert done.returncode == 0
    assert "tf32 left out" in done.stderr
    done = run("gemm_square", "--sizes", "16", "--dtypes", "tf32")
    assert done.returncode == 1
    assert "none of the element types" in done.stderr
    assert run("gemm_square", "--dtypes", "fp99").returncode == 1


def test_without_a_cuda_device_the_default_run_says_what_to_do(torch):
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    command = [sys.executable, str(COLLECTORS / "bandwidth.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "--device cpu" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_launch_of_each_point_under_a_profiler(torch, tmp_path):
    run(
        "gemm_msweep",
        *SMALL["gemm_msweep"],
        "--dtypes",
        "fp32",
        "--json",
        str(tmp_path / "x.json"),
        NCUROOF_COLLECT="1",
    )
    assert {row["repeats"] for row in json.loads((tmp_path / "x.json").read_text())["rows"]} == {1}


def test_measured_calls_are_annotated_and_warm_ups_are_not(torch, tmp_path):
    log = tmp_path / "log"
    run("gemm_msweep", *SMALL["gemm_msweep"], "--dtypes", "fp32", "--warmup", "3", NCUROOF_ANNOTATION_LOG=str(log))
    pushes = [json.loads(line)["message"] for line in log.read_text().splitlines() if '"push"' in line]
    bodies = [json.loads(text.removeprefix("ncuroof:")) for text in pushes]
    assert len({body["id"] for body in bodies}) == 6
    assert [body["m"] for body in bodies] == [1, 1, 2, 2, 4, 4]  # two repeats of each M
    assert {body["sweep"] for body in bodies} == {"M sweep fp32"}


def counted(torch, call):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 32), (16, 16, 16), (7, 5, 3)])
def test_gemm_work_is_what_torch_counts(torch, collector, m, n, k):
    harness = collector("harness")
    assert counted(torch, harness.matmul(m, n, k, "fp32", "cpu")) == harness.gemm_flop(m, n, k) == 2 * m * n * k


def test_gemm_bytes_by_hand(torch, collector):
    harness = collector("harness")
    # FP16, 2 bytes: 4*8 + 8*16 + 4*16 = 32 + 128 + 64 = 224 elements.
    assert harness.gemm_bytes(4, 16, 8, "fp16") == 448
    # FP8 in (160 elements of 1 byte), BF16 out (64 of 2): 160 + 128.
    assert harness.gemm_bytes(4, 16, 8, "fp8") == 288


def test_decode_step_work_is_what_torch_counts(torch, collector):
    module = collector("decode_step")
    shape = module.Shape(layers=2, hidden=64, heads=4, kv_heads=2, head_dim=16, mlp=96, vocabulary=128)
    # The fused attention of the CPU is unknown to torch's counter; the plain one is two products it counts.
    with torch.inference_mode(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        model = module.Model(shape, batch=3, prompt=10, dtype="fp32", device="cpu")
        assert counted(torch, model.step) == shape.flop(3, 11)


def test_weights_of_the_full_decode_step_are_the_articles(torch, collector):
    # 15.23 GB of parameters less the 1.09 GB embedding table is 14.14 GB in BF16.
    assert collector("decode_step").Shape().weights() * 2 / 1e9 == pytest.approx(14.14, abs=0.005)


def test_qwen_layer_shapes_give_the_published_work(torch, collector):
    # Nsight Compute counted 139 049 566 208 tensor operations for gate_proj in prefill with 1024 tokens.
    n, k = collector("qwen_layers").LAYERS["gate_proj"]
    assert collector("harness").gemm_flop(1024, n, k) == 139_049_566_208


@pytest.mark.parametrize(
    ("name", "bytes_per_element", "flop"),
    [("read", 4, 1), ("copy", 8, 0), ("scale", 8, 1), ("add", 12, 1), ("triad", 12, 2)],
)
def test_movers_move_what_they_say(torch, collector, name, bytes_per_element, flop):
    bandwidth = collector("bandwidth")
    arguments = Namespace(device="cpu", warmup=0, repeats=1, flush=False)
    row = bandwidth.run(name, 1200, "fp32", arguments)
    elements = 1200 // bytes_per_element
    assert row["bytes"] == elements * bytes_per_element
    assert row["flop"] == elements * flop


def test_both_ways_of_the_fma_chain_compute_the_same(torch, collector):
    fma = collector("fma_sweep")
    x = torch.tensor([2.0, 0.5], dtype=torch.float64)
    y = torch.empty_like(x)
    fma.torch_chain(x, y, 3)()
    expected = x
    for _ in range(3):
        expected = expected * fma.A + fma.B
    assert torch.allclose(y, expected)


def test_the_device_script_is_a_shell_script():
    script = COLLECTORS / "device_check.sh"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0


def test_comparing_two_metrics_tables(tmp_path):
    import polars as pl

    schema = {"result_index": pl.UInt32, "metric": pl.String, "value": pl.Float64}
    ours = pl.DataFrame([(0, "a", 1.0), (0, "b", 2.0), (0, "text", None), (1, "a", 3.0)], schema=schema, orient="row")
    theirs = pl.DataFrame([(0, "a", 1.0), (0, "b", 2.5), (0, "c", 9.0), (1, "a", 3.0)], schema=schema, orient="row")
    ours.write_parquet(tmp_path / "ours.parquet")
    theirs.write_parquet(tmp_path / "theirs.parquet")
    command = [sys.executable, str(COLLECTORS / "compare_tables.py"), "ours.parquet", "theirs.parquet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "3 values in both, 1 of them different" in done.stdout
    assert "result 0 b: 2.0 here, 2.5 there" in done.stdout
    assert "only in theirs: 1 metrics, such as c" in done.stdout
    command[-1] = "ours.parquet"
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 0


def test_the_device_script_runs_through_with_a_stand_in(torch, tmp_path):
    standin = Path(__file__).resolve().parents[1] / "standin" / "ncu.py"
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, words in (("ncu", f'"{sys.executable}" "{standin}"'), ("ncuroof", f'"{sys.executable}" -m ncuroof')):
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (folder / name).chmod(0o755)
    settings = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHON": sys.executable, "DEVICE": "cpu", "LIMIT": "300"}
    command = [str(COLLECTORS / "device_check.sh"), str(tmp_path / "out")]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **settings}, timeout=310, check=False
    )
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "out" / "msweep.warm.ncu-rep").is_file()
    assert (tmp_path / "out" / "movers.parquet").is_file()
    assert (tmp_path / "out" / "roofs.toml").is_file()
