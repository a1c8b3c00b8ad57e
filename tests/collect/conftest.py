from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
def collect(bin_folder, tmp_path):
    """Runs ``ncuroof collect`` in an empty folder with the stand-in on PATH."""
    work = tmp_path / "work"
    work.mkdir()

    def run(*arguments, mode="", wait=True, **environment):
        command = [sys.executable, "-m", "ncuroof", "collect", *arguments]
        settings = {
            **{k: v for k, v in os.environ.items() if k not in ("WORLD_SIZE", "NCUROOF_ANNOTATION_LOG")},
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "STANDIN": mode,
            **environment,
        }
        process = subprocess.Popen(
            command, cwd=work, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if not wait:
            return process
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    run.folder = work
    return run


@pytest.fixture(scope="session")
def corpus_reports():
    folder = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "reports"
    if not folder.is_dir():
        pytest.skip("the public reports (../shared/corpus) are not here")
    return sorted(folder.iterdir())
