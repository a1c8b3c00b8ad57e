"""What a user sees of ``ncuroof collect``, with the stand-in for ncu: success, every refusal, Ctrl-C, dry run."""

from __future__ import annotations

import csv
import json
import signal
import time

import polars as pl
import pytest

from ncuroof.collect import permission, session
from ncuroof.errors import CollectError, UsageError

SWEEP = "1,2,4,8,16,32,64,128,256,512,1024,2048"


def test_success_writes_report_tables_and_sidecar_and_prints_the_analysis(collect, program):
    done = collect("-o", "sweep", "--", *program("1,8,2048"))
    assert done.returncode == 0, done.stderr
    files = {path.name for path in collect.folder.iterdir()}
    assert {"sweep.ncu-rep", "sweep.csv", "sweep.parquet", "sweep.collect.json"} <= files
    assert "NVIDIA H100 80GB HBM3" in done.stdout
    assert "the program runs" in done.stderr
    assert "the program runs" not in done.stdout  # stdout is the result's
    assert "\x1b" not in done.stderr  # no progress bar off a terminal
    side = json.loads((collect.folder / "sweep.collect.json").read_text())
    assert side["runs"][0]["ended"] == "complete"
    assert (side["runs"][0]["kernels"], side["runs"][0]["passes_seen"], side["launches"]) == (3, 3, 3)
    assert side["wall_s"] > side["kernel_s"] > 0
    assert str(collect.folder) not in json.dumps(side)
    kernels = pl.read_parquet(collect.folder / "sweep.parquet")
    assert kernels["op_m"].to_list() == [1, 8, 2048]
    # Q: 2 bytes of M·K + K·N + M·N elements at M = 8: 2·(65536 + 67108864 + 65536).
    assert kernels["dram_bytes"][1] == 2 * (65536 + 67108864 + 65536)
    with (collect.folder / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["op_m"] for row in rows] == ["1", "8", "2048"]
    assert rows[0]["kernel_name"] == "gemv2T_kernel_val"
    assert rows[0]["cache_control"] == "all"


def test_as_a_process_of_its_own(collect, program):
    process = collect.start("--plan", "none", "--", *program("8"))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "gemm 8×8192×8192" in out


def test_types_to_count_come_from_the_annotations(collect, program):
    collect("--no-analyze", "--", *program("8"))
    side = json.loads((collect.folder / "ncuroof-report.collect.json").read_text())
    assert [m for m in side["runs"][0]["metrics"] if "tensor" in m] == ["sm__ops_path_tensor_src_fp16.sum"]


def test_both_runs_cold_and_then_warm_in_a_single_pass(collect, program):
    done = collect("--cache", "both", "--no-analyze", "--", *program("8,64"))
    assert done.returncode == 0, done.stderr
    side = json.loads((collect.folder / "ncuroof-report.collect.json").read_text())
    assert [(r["cache"], r["tier"], r["replay"], r["passes_seen"]) for r in side["runs"]] == [
        ("cold", "roofline", "kernel", 3),
        ("warm", "bytes", "kernel", 1),
    ]
    kernels = pl.read_parquet(collect.folder / "ncuroof-report.parquet")
    assert kernels["cache_control"].to_list() == ["all", "all", "none", "none"]
    assert done.stdout == ""


def test_warm_caches_of_more_than_one_pass_run_the_program_again_instead(collect, program):
    done = collect("--cache", "warm", "--no-analyze", "--plan", "none", "--tensor", "fp16", "--", *program("8"))
    assert done.returncode == 0, done.stderr
    side = json.loads((collect.folder / "ncuroof-report.collect.json").read_text())
    assert side["runs"][0]["replay"] == "application"
    assert done.stderr.count("the program runs") == 3  # once for each pass


def test_warm_kernel_replay_on_request_comes_with_a_warning(collect, program):
    done = collect("--cache", "warm", "--replay", "kernel", "--no-analyze", "--plan", "none", "--", *program("8"))
    assert done.returncode == 0
    assert "DRAM bytes may be too low" in done.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-s", "1", "-c", "1"), [2]),
        (("--kernel-name", "regex:gemm"), [2, 4]),
    ],
)
def test_filters_are_handed_on(collect, program, options, expected):
    done = collect(*options, "--no-analyze", "--plan", "none", "--", *program("1,2,4"))
    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(collect.folder / "ncuroof-report.parquet")["op_m"].to_list() == expected


def test_dry_run_prints_the_command_and_runs_nothing(collect, program):
    done = collect("--dry-run", "--cache", "both", "--tier", "rules", "--", *program("8"))
    assert done.returncode == 0
    assert "the program runs" not in done.stderr + done.stdout
    assert list(collect.folder.iterdir()) == []
    assert "NVIDIA H100 80GB HBM3, CC 9.0" in done.stdout
    assert "cold caches: tier rules, about 22 passes" in done.stdout  # 20, and two more tensor types
    assert "warm caches: tier bytes, about 1 pass " in done.stdout
    assert "--cache-control all" in done.stdout
    assert "--cache-control none" in done.stdout
    assert "--metrics gpu__time_duration.sum," in done.stdout


def test_dry_run_with_a_kernel_list_estimates(collect, program):
    done = collect("--dry-run", "--plan", "kernels", "--", *program("1,2,4"))
    assert done.returncode == 0
    assert "about 3 passes × 3 kernels" in done.stdout
    assert "estimate: about" in done.stdout
    # M = 2 and 4 take 58.690 and 60.218 us, M = 1 46.696.
    assert "118.9 µs       2 x  sm90_xmma_gemm_fp16" in done.stdout
    assert "46.7 µs       1 x  gemv2T_kernel_val" in done.stdout
    assert list(collect.folder.iterdir()) == []


@pytest.fixture
def without_ncu(collect, tmp_path, monkeypatch):
    """The same command on a machine without ncu: an empty PATH, and no place where it may be installed."""
    monkeypatch.setattr("ncuroof.collect.ncu.PATTERNS", ())
    for name in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    return collect


def test_dry_run_without_ncu_plans_from_the_tables(without_ncu):
    done = without_ncu("--dry-run", "--cc", "8.0", "--tensor", "bf16", "--", "python", "bench.py")
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert "none was found here" in first
    assert "table of metrics by chip, CC 8.0" in first
    assert "about 3 passes" in done.stdout  # docs/collect.md: roofline with one tensor type
    assert "\nncu --config-file off" in done.stdout
    assert done.stdout.rstrip().endswith("python bench.py")


def test_dry_run_says_what_one_tensor_type_would_take(without_ncu):
    done = without_ncu("--dry-run", "--cc", "9.0", "--", "python", "bench.py")
    assert "about 5 passes" in done.stdout  # 3, and one each for the second and third type
    assert "--tensor fp16 alone would take about 3 passes" in done.stdout
    assert "alone would take" not in without_ncu("--dry-run", "--cc", "9.0", "--tensor", "fp16", "--", "x").stdout
    assert "alone would take" not in without_ncu("--dry-run", "--cc", "9.0", "--tier", "bytes", "--", "x").stdout


@pytest.mark.parametrize("options", [(), ("--dry-run", "--plan", "kernels")])
def test_what_runs_ncu_needs_one(without_ncu, options):
    done = without_ncu(*options, "--cc", "8.0", "--", "true")
    assert done.returncode == 2
    assert "ncu was not found" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--tier", "everything"), "there is no tier 'everything'; known are time, bytes"),
        (("--tensor", "fp16,fp99"), "there is no tensor type 'fp99'"),
        (("--cc", "90"), "--cc 90: expected a compute capability such as 9.0"),
    ],
)
def test_options_are_checked_before_ncu_is_looked_for(without_ncu, options, words):
    done = without_ncu(*options, "--", "true")
    assert done.returncode == 2
    assert words in done.stderr
    assert "not found" not in done.stderr


REFUSALS = {
    "no-permission": ["ERR_NVGPUCTRPERM", "driver:", "NVreg_RestrictProfilingToAdminUsers=0", "ncuroof bound"],
    "unsupported-gpu": ["does not support this GPU", "newer Nsight Compute"],
    "unknown-metric": ["does not know a metric", "--cc"],
    "resource": ["another tool holds the performance counters", "dcgmi profile --pause"],
    "replay-memory": ["could not save the GPU's memory", "--replay application"],
    # The first error is the cause; the program is innocent, whatever status ncu says that it returned.
    "no-driver": ["cannot reach a CUDA driver", "Failed to connect to the CUDA driver", "not at fault"],
    "unheard-of": ["ncu reports an error", "==ERROR== The flux capacitor is out of sync (code 88)."],
    "killed": ["ended by signal 9"],
    "no-kernels": ["ncu profiled no kernel", "--nvtx-include"],
    "no-report": ["left no report", "disk"],
    "empty": ["launched a kernel"],
}


@pytest.mark.parametrize("mode", REFUSALS)
def test_every_refusal_is_explained_and_is_status_2(collect, program, mode):
    done = collect("--plan", "none", "--", *program("1,2,4,8"), mode=mode)
    assert done.returncode == 2
    for words in REFUSALS[mode]:
        assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("mode", ["no-permission", "no-driver", "unheard-of", "replay-memory", "killed", "no-report"])
def test_a_failed_collection_leaves_nothing_that_stops_the_next(collect, program, mode):
    assert collect("--plan", "none", "--", *program("1,2,4,8"), mode=mode).returncode == 2  # killed at the fourth
    done = collect("--plan", "none", "--no-analyze", "--", *program("1,2"))
    assert done.returncode == 0, done.stderr


def test_a_report_that_cannot_be_read_does_not_stop_the_next_collection(collect, program):
    assert collect("--plan", "none", "--", *program("1,2"), mode="empty").returncode == 2
    assert collect("--plan", "none", "--no-analyze", "--", *program("1,2")).returncode == 0


def test_a_report_of_another_hand_is_not_overwritten(collect, program):
    (collect.folder / "ncuroof-report.ncu-rep").write_text("mine")
    assert collect("--plan", "none", "--", *program("1")).returncode == 2
    assert (collect.folder / "ncuroof-report.ncu-rep").read_text() == "mine"


def test_a_refusal_already_shows_in_the_run_with_durations_alone(collect, program):
    done = collect("--", *program("1"), mode="no-permission")
    assert done.returncode == 2
    assert "ERR_NVGPUCTRPERM" in done.stderr
    assert "profiling, cold caches" not in done.stderr


def test_a_program_that_fails_is_not_profiled_and_its_status_is_passed_on(collect, program):
    done = collect("--", *program("1", "0", "7"))
    assert done.returncode == 7
    assert "exit status 7 without a profiler" in done.stderr
    assert list(collect.folder.iterdir()) == []


def test_a_program_that_fails_under_ncu_keeps_what_was_done(collect, program):
    done = collect("--plan", "none", "--", *program("1,2", "0", "9"))
    assert done.returncode == 9
    assert "2 kernels that were done are kept" in done.stderr
    assert "gemm 2×8192×8192" in done.stdout


def test_ctrl_c_keeps_what_is_done(collect, program):
    process = collect.start("--plan", "none", "--", *program(SWEEP, "0.4"))
    report = collect.folder / "ncuroof-report.ncu-rep"
    for line in process.stderr:
        if "the program runs" in line:
            break
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted;" in err
    assert "kept" in err
    assert report.is_file()
    assert "gemm 1×8192×8192" in out
    side = json.loads((collect.folder / "ncuroof-report.collect.json").read_text())
    assert side["runs"][0]["ended"] == "interrupted"
    assert 0 < side["runs"][0]["kernels"] < 12


def test_the_time_limit_keeps_what_is_done(collect, program):
    done = collect("--plan", "none", "--timeout", "2", "--no-analyze", "--", *program(SWEEP, "0.5"))
    assert done.returncode == 124
    assert "the time limit ended the run" in done.stderr
    assert (collect.folder / "ncuroof-report.parquet").is_file()


def test_the_time_limit_of_the_unprofiled_run(collect, program):
    done = collect("--timeout", "1", "--", *program("1", "30"))
    assert done.returncode == 124
    assert "takes longer under a profiler" in done.stderr


def test_collectives_and_several_processes_are_warned_of(collect, tmp_path, program):
    import sys

    path = tmp_path / "reduce.py"
    path.write_text(
        "from ncuroof import annotate\nwith annotate.op('ncclDevKernel_AllReduce', dtype='fp16', n=8): pass\n"
    )
    done = collect("--no-analyze", "--", sys.executable, str(path), WORLD_SIZE="8")
    assert done.returncode == 0, done.stderr
    assert "several processes (WORLD_SIZE=8)" in done.stderr
    assert "ncclDevKernel_AllReduce" in done.stderr
    assert "deadlock" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tier", "everything", "--", "true"), "no tier 'everything'"),
        (("--tensor", "fp7", "--", "true"), "no tensor type 'fp7'"),
        (("--cache", "hot", "--", "true"), "--cache hot: choose cold, warm, both"),
        (("--plan", "all", "--", "true"), "--plan all: choose none"),
        (("--clock", "boost", "--", "true"), "needs Nsight Compute 2025.4"),
        (("--format", "poem", "--", "true"), "poem"),
        (("--ncu", "/nowhere/ncu", "--", "true"), "given with --ncu, cannot be run"),
        (("-o", "run%p", "--", "true"), "placeholder"),
        (("-o", "absent/report", "--", "true"), "the folder of --output does not exist"),
        (("--", "no-such-program"), "no-such-program: no such command"),
        ((), "Missing argument"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_is_wrong(collect, arguments, words):
    done = collect(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_files_are_not_overwritten_unless_asked(collect, program):
    (collect.folder / "ncuroof-report.csv").write_text("mine")
    done = collect("--plan", "none", "--", *program("1"))
    assert done.returncode == 2
    assert "ncuroof-report.csv exists" in done.stderr
    assert (collect.folder / "ncuroof-report.csv").read_text() == "mine"
    assert collect("--plan", "none", "--force", "--no-analyze", "--", *program("1")).returncode == 0


@pytest.mark.parametrize("version", ["2022.2.0.0", "2026.3.0.0"])
def test_old_and_new_versions_take_the_command_line(collect, program, version):
    done = collect("--plan", "none", "--no-analyze", "--tier", "rules", "--", *program("8"), STANDIN_VERSION=version)
    assert done.returncode == 0, done.stderr


def refused():
    layer = permission.Layer("driver", "refused", "the driver lets only administrators profile", "Ask root.")
    return permission.Permission("refused", (layer,))


def test_a_machine_that_refuses_counters_is_told_before_anything_runs(tmp_path, bin_folder, monkeypatch):
    monkeypatch.setattr(permission, "check", lambda *_, **__: refused())
    options = session.Options(("true",), tmp_path / "x")
    bench = session.prepare(options, {"PATH": str(bin_folder)})
    with pytest.raises(
        CollectError, match=r"(?s)refused on this machine.*driver: the driver lets only.*Ask root.*--force"
    ):
        session.refuse(bench, options)
    session.refuse(bench, session.Options(("true",), tmp_path / "x", force=True))


def test_nothing_to_run_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="say what to run"):
        session.prepare(session.Options((), tmp_path / "x"), {})
