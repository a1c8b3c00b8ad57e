"""What the command line says when something is wrong: which file, which option, and what to do, before any reading."""

from __future__ import annotations

import pytest
from tests.conftest import SAMPLES

from ncuroof.cli import run
from ncuroof.readers import READABLE

SQUARE = str(SAMPLES / "h100" / "fp16-square" / "report.ncu-rep")


@pytest.mark.parametrize("content", [b"%PDF-1.7\ntext of a page\n", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"])
def test_whatever_no_reader_knows_gets_the_same_list_of_what_can_be_read(tmp_path, capsys, content):
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    assert run(["analyze", str(path)]) == 2
    error = capsys.readouterr().err
    assert "content that no reader knows" in error
    assert READABLE in error


def test_color_is_checked_before_anything_is_read(capsys):
    assert run(["analyze", "absent.ncu-rep", "--color", "pink"]) == 2
    error = capsys.readouterr().err
    assert "--color pink: choose auto, always or never" in error
    assert "absent" not in error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select = ['Z9']", "the selector 'Z9' matches no rule"),
        ("thresholds = { W001 = { nope = 1 } }", "rule W001 has no threshold 'nope'"),
    ],
)
def test_a_mistake_in_the_configuration_file_names_it(tmp_path, monkeypatch, capsys, text, words):
    (tmp_path / "ncuroof.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["analyze", SQUARE]) == 2
    assert capsys.readouterr().err.startswith(f"error: ncuroof.toml: {words}")


def test_a_configuration_file_that_is_not_there(capsys):
    assert run(["analyze", SQUARE, "--config", "nofile"]) == 2
    error = capsys.readouterr().err
    assert "nofile: there is no such configuration file" in error
    assert "Errno" not in error
