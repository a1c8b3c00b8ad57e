"""The README: what its commands leave behind is ignored, its commands exist, its list of inputs is whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ncuroof.cli import run

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_what_the_try_command_writes_is_ignored_by_git():
    ignore = ROOT / ".gitignore"
    if not ignore.is_file():
        pytest.skip("no .gitignore here: this is no clone")
    (written,) = set(re.findall(r"report\.ncu-rep --html (\S+)", README))
    assert f"/{written}" in ignore.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^\| `ncuroof ([a-z]+)", README, re.MULTILINE))))
def test_every_command_of_the_table_exists(command, capsys):
    assert run([command, "--help"]) == 0
    assert f"Usage: ncuroof {command}" in capsys.readouterr().out


def test_every_kind_of_input_is_named():
    reads = README.partition("- **Reads**")[2].partition("- **")[0]
    for words in (".ncu-rep", ".ncu-repz", ".nsight-cuprof-report", "CSV", "logs", "window", "nsys stats", "Parquet"):
        assert words in reads
