from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ncuroof import cli

STANDIN = Path(__file__).resolve().parents[1] / "standin" / "ncu.py"

SWEEP = """
import sys, time
from ncuroof import annotate
ms = [int(m) for m in sys.argv[1].split(",")]
pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
print("the program runs")
for m in ms:
    with annotate.gemm(m=m, n=8192, k=8192, dtype="fp16", sweep="M sweep fp16"):
        time.sleep(pause)
sys.exit(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
"""


@pytest.fixture
def bin_folder(tmp_path):
    """A folder with an ``ncu`` that is the stand-in, run by this Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    ncu = folder / "ncu"
    ncu.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STANDIN}" "$@"\n')
    ncu.chmod(0o755)
    return folder


@pytest.fixture
def program(tmp_path):
    """A small annotated program: M values, seconds of each launch, exit status."""
    path = tmp_path / "sweep.py"
    path.write_text(SWEEP)
    return lambda *arguments: [sys.executable, str(path), *arguments]


@pytest.fixture
def collect(bin_folder, tmp_path, monkeypatch, capsys):
    """Runs ``ncuroof collect`` in an empty folder with the stand-in on PATH: in this process, or as one of its own."""
    work = tmp_path / "work"
    work.mkdir()
    for name in ("WORLD_SIZE", "NCUROOF_ANNOTATION_LOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    monkeypatch.chdir(work)

    def run(*arguments, mode="", **environment):
        monkeypatch.setenv("STANDIN", mode)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        status = cli.run(["collect", *arguments])
        captured = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, captured.out, captured.err)

    def start(*arguments):
        command = [sys.executable, "-m", "ncuroof", "collect", *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    run.folder = work
    run.start = start
    return run


@pytest.fixture(scope="session")
def corpus_reports():
    folder = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "reports"
    if not folder.is_dir():
        pytest.skip("the public reports (../shared/corpus) are not here")
    return sorted(folder.iterdir())
