"""``compare``, ``baseline`` and ``analyze --baseline`` as a user meets them: exit statuses, streams, what is hidden."""

from __future__ import annotations

import json

import pytest

from ncuroof.cli import run
from ncuroof.testing import ReportBuilder, RuleItem

TIME = "gpu__time_duration.sum"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
SMALL_GRID = "configured to execute only 1 blocks, which is less than the GPU's 24 multiprocessors"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(name, ms=1.0, threads=32.0, *, rules=(), **session):
    builder = ReportBuilder(**session).kernel(
        "k", {TIME: ms * 1e6, THREADS: threads}, grid=(64, 1, 1), block=(256, 1, 1), rules=rules
    )
    builder.write(name)
    return name


@pytest.mark.parametrize(("ms", "status"), [(1.0, 0), (1.05, 0), (1.3, 1), (0.5, 0)])
def test_compare_fails_on_a_regression_only(folder, capsys, ms, status):
    arguments = ["compare", report("a.ncu-rep"), report("b.ncu-rep", ms)]
    assert run(arguments) == 0
    assert run([*arguments, "--fail-on", "regression"]) == status
    assert ("1 kernel regressed" in capsys.readouterr().err) == bool(status)


def test_compare_fails_on_new_findings_where_asked(folder, capsys):
    arguments = ["compare", report("a.ncu-rep"), report("b.ncu-rep", threads=8.0)]
    assert run([*arguments, "--fail-on", "regression"]) == 0
    assert run([*arguments, "--fail-on", "warning"]) == 1
    assert "1 new finding at or above --fail-on warning" in capsys.readouterr().err
    assert run([*arguments[:1], *reversed(arguments[1:]), "--fail-on", "warning"]) == 0
    assert "Fixed findings" in capsys.readouterr().out


def test_nothing_compared_never_passes_a_gate(folder, capsys):
    arguments = ["compare", report("a.ncu-rep", gpu="NVIDIA One"), report("b.ncu-rep", 3.0, gpu="NVIDIA Two")]
    assert run(arguments) == 0
    assert "GPU NVIDIA One → NVIDIA Two" in capsys.readouterr().out
    assert run([*arguments, "--fail-on", "regression"]) == 2
    assert "nothing has passed" in capsys.readouterr().err
    assert run([*arguments, "--fail-on", "regression", "--accept", "gpu"]) == 1


@pytest.mark.parametrize(
    "extra", [["--format", "sarif"], ["--fail-on", "loud"], ["--accept", "weather"], ["--color", "pink"]]
)
def test_nonsense_is_refused(folder, capsys, extra):
    assert run(["compare", report("a.ncu-rep"), report("b.ncu-rep", 1.1), *extra]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")


def test_unreadable_sides_are_errors(folder, capsys):
    (folder / "bad.ncu-rep").write_bytes(b"NVR\0junk")
    good = report("a.ncu-rep")
    assert run(["compare", "bad.ncu-rep", good]) == 2
    assert run(["compare", good, "bad.ncu-rep"]) == 2
    assert run(["compare", "absent", good]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_output_goes_to_a_file(folder, capsys):
    assert run(["compare", report("a.ncu-rep"), report("b.ncu-rep", 2.0), "-f", "json", "-o", "c.json"]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads((folder / "c.json").read_text(encoding="utf-8"))["pairs"][0]["state"] == "regressed"


def test_baselines_are_saved_listed_and_shown(folder, capsys):
    assert run(["baseline", "list"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["baseline", "save", "main", report("a.ncu-rep")]) == 0
    assert "1 kernel saved as baseline main" in capsys.readouterr().err
    assert run(["baseline", "save", "main", "a.ncu-rep"]) == 2
    assert run(["baseline", "save", "main", "a.ncu-rep", "--replace"]) == 0
    capsys.readouterr()
    assert run(["baseline", "list"]) == 0
    assert capsys.readouterr().out.startswith("main  ")
    assert run(["baseline", "show", "main", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["kernels"], shown["gpus"], shown["gpu_time_s"]) == (1, ["NVIDIA Imaginary GPU"], pytest.approx(1e-3))
    assert shown["top"] == [{"name": "k", "launches": 1, "gpu_time_s": pytest.approx(1e-3)}]
    assert run(["baseline", "show", "main"]) == 0
    assert "sha256" in capsys.readouterr().out
    assert run(["compare", "main", report("b.ncu-rep", 2.0), "--fail-on", "regression"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["save"],
        ["save", "main"],
        ["save", "../x", "a.ncu-rep"],
        ["show"],
        ["show", "absent"],
        ["list", "main"],
        ["drop"],
    ],
)
def test_baseline_usage(folder, capsys, arguments):
    report("a.ncu-rep")
    assert run(["baseline", *arguments]) == 2
    assert capsys.readouterr().out == ""
    assert not (folder / ".ncuroof").exists()


def test_baselines_may_lie_elsewhere(folder):
    assert run(["baseline", "save", "main", report("a.ncu-rep"), "--dir", "kept"]) == 0
    assert (folder / "kept" / "main" / "kernels.parquet").is_file()
    assert run(["compare", "main", "a.ncu-rep", "--dir", "kept", "--fail-on", "regression"]) == 0
    assert run(["analyze", "a.ncu-rep", "--baseline", "kept/main"]) == 0


def test_known_findings_are_hidden_and_do_not_fail(folder, capsys):
    report("a.ncu-rep", threads=8.0)
    assert run(["analyze", "a.ncu-rep", "--fail-on", "warning"]) == 1
    assert "W003" in capsys.readouterr().out
    assert run(["baseline", "save", "main", "a.ncu-rep"]) == 0
    capsys.readouterr()
    report("b.ncu-rep", 1.01, threads=8.0)
    assert run(["analyze", "b.ncu-rep", "--baseline", "main", "--fail-on", "warning,regression"]) == 0
    out = capsys.readouterr().out
    assert "W003" not in out
    assert "known findings hidden: in the baseline main" in " ".join(out.split())
    report("c.ncu-rep", 2.0, threads=8.0)
    assert run(["analyze", "c.ncu-rep", "--baseline", "main", "--fail-on", "warning"]) == 0
    assert run(["analyze", "c.ncu-rep", "--baseline", "main", "--fail-on", "regression"]) == 1
    assert "1 kernel regressed" in capsys.readouterr().err


def test_new_findings_show_and_fail(folder, capsys):
    assert run(["baseline", "save", "main", report("a.ncu-rep")]) == 0
    report("b.ncu-rep", threads=8.0)
    assert run(["analyze", "b.ncu-rep", "--baseline", "main", "--fail-on", "warning"]) == 1
    assert "W003" in capsys.readouterr().out


def test_a_regression_needs_a_baseline(folder, capsys):
    assert run(["analyze", report("a.ncu-rep"), "--fail-on", "regression"]) == 2
    assert "--baseline" in capsys.readouterr().err
    assert run(["analyze", "a.ncu-rep", "--baseline", "absent"]) == 2
    assert "there is no baseline absent" in capsys.readouterr().err


def test_nsight_alone_is_not_among_the_findings_unless_asked_for(folder, capsys):
    said = (RuleItem("LaunchConfiguration", SMALL_GRID, title="Small Grid"),)
    report("a.ncu-rep", rules=said)
    arguments = ["analyze", "a.ncu-rep", "--format", "json", "--fail-on", "info"]
    assert run(arguments) == 0
    assert "NCU:small-grid" not in {f["code"] for f in json.loads(capsys.readouterr().out)["findings"]}
    assert run([*arguments, "--nsight", "show"]) == 1
    assert "NCU:small-grid" in {f["code"] for f in json.loads(capsys.readouterr().out)["findings"]}
    assert run([*arguments, "--nsight", "loud"]) == 2
