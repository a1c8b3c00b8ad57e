"""The scripts in benchmarks/ run: on a sample report where they take inputs, else as far as their help."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.conftest import ROOT, SAMPLES

SCRIPTS = sorted(p for p in (ROOT / "benchmarks").glob("*.py") if not p.name.startswith("_"))
ON_INPUTS = ("coverage.py", "noise.py", "rule_agreement.py", "corpus_reports.py")


def script(name, *arguments):
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_help(path):
    done = script(path.name, "--help")
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout.lower()


@pytest.mark.parametrize("name", ON_INPUTS)
def test_on_sample_reports(name):
    done = script(name, str(SAMPLES / "h100"))
    assert done.returncode == 0, done.stderr
    assert "30" in done.stdout  # launches in the three reports of the H100
