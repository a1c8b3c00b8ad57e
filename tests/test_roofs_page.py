"""docs/roofs.md: its commands run, its roofs file is one, and the README leads to pages that exist."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest
from tests.conftest import ROOT

from ncuroof.cli import run
from ncuroof.roofs import SOURCES, files

PAGE = (ROOT / "docs" / "roofs.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    ncuroof (.*)$", PAGE, re.MULTILINE)
(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "sample_reports" / "rtx4080" / "fp64-m-sweep" / "report.ncu-rep", tmp_path)
    (tmp_path / "my-roofs.toml").write_text(EXAMPLE, encoding="utf-8")
    assert run(shlex.split(command, comments=True)) == 0
    assert capsys.readouterr().out


def test_the_roofs_file_holds_what_it_says(tmp_path):
    path = tmp_path / "my-roofs.toml"
    path.write_text(EXAMPLE, encoding="utf-8")
    product, bandwidth = files.load(path)
    assert (product.path, product.value, product.dense, product.source) == ("fp16", 787.6e12, True, "measured")
    assert (bandwidth.level, bandwidth.value, bandwidth.source) == ("dram", 3072e9, "user")


def test_every_key_of_the_format_and_every_source_is_explained():
    assert all(f"`{key}`" in PAGE for key in files.KEYS)
    table = PAGE.partition("| source |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([a-z]+) \|", table, re.MULTILINE) == ["user", *SOURCES]


def test_the_readme_leads_to_pages_that_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", readme)
    assert {"docs/rules.md", "docs/compare.md", "docs/roofs.md", "schemas/"} <= set(links)
    assert all((ROOT / link).exists() for link in links if "://" not in link)
