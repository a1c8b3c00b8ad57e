"""``ncuroof ingest``: what it replaces, what it refuses, and options that exclude each other."""

from __future__ import annotations

import shutil

import pytest
from tests.conftest import SAMPLES

from ncuroof import pipeline, store
from ncuroof.cli import run

SQUARE = SAMPLES / "h100" / "fp16-square" / "report.ncu-rep"
LAYERS = SAMPLES / "h200" / "qwen2.5-7b-layers" / "report.ncu-rep"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with two different reports, a.ncu-rep and b.ncu-rep, as the current one."""
    shutil.copy(SQUARE, tmp_path / "a.ncu-rep")
    shutil.copy(LAYERS, tmp_path / "b.ncu-rep")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(target):
    return [source.name for source in pipeline.load([target]).sources]


@pytest.mark.parametrize("target", ["t", "t.parquet"])
def test_tables_of_another_report_are_replaced_with_force_only(here, capsys, target):
    assert run(["ingest", "a.ncu-rep", "-o", target]) == 0
    assert run(["ingest", "b.ncu-rep", "-o", target]) == 2
    assert f"{target} holds the tables of a.ncu-rep, which this would replace" in capsys.readouterr().err
    assert names(target) == ["a.ncu-rep"]
    assert run(["ingest", "b.ncu-rep", "-o", target, "--force"]) == 0
    assert names(target) == ["b.ncu-rep"]


def test_the_same_report_again_and_more_beside_it_replace_its_tables(here):
    assert run(["ingest", "a.ncu-rep", "-o", "t"]) == 0
    assert run(["ingest", "a.ncu-rep", "-o", "t"]) == 0
    assert run(["ingest", ".", "-o", "t"]) == 0
    assert names("t") == ["a.ncu-rep", "b.ncu-rep"]
    assert run(["ingest", "b.ncu-rep", "-o", "t"]) == 2  # a would be lost


def test_another_content_under_the_same_name_is_another_report(here):
    assert run(["ingest", "a.ncu-rep", "-o", "t"]) == 0
    shutil.copy("b.ncu-rep", "a.ncu-rep")
    assert run(["ingest", "a.ncu-rep", "-o", "t"]) == 2


def test_a_foreign_file_is_kept(here, capsys):
    pipeline.load(["a.ncu-rep"]).kernels.select("kernel_name").write_parquet("mine.parquet")
    before = (here / "mine.parquet").read_bytes()
    assert run(["ingest", "a.ncu-rep", "-o", "mine.parquet"]) == 2
    assert "mine.parquet holds a Parquet file that ncuroof did not write" in capsys.readouterr().err
    assert (here / "mine.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--explain", "gemm", "-o", "t"], "--explain writes nothing"),
        (["--explain", ""], "--explain needs a part of a kernel's name"),
        (["--explain", " "], "--explain needs a part of a kernel's name"),
    ],
)
def test_explain_with_what_makes_no_sense(here, capsys, arguments, words):
    assert run(["ingest", "a.ncu-rep", *arguments]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""
    assert not (here / "t").exists()


def test_help_tells_what_one_bad_file_does_and_it_does(here, capsys):
    assert run(["ingest", "--help"]) == 0
    help_text = " ".join(capsys.readouterr().out.split())
    assert "2 an input could not be used: then nothing is written" in help_text
    (here / "bad.ncu-rep").write_bytes(b"NVR\0junk")
    assert run(["ingest", "a.ncu-rep", "bad.ncu-rep", "-o", "t"]) == 2
    assert not store.is_dataset(here / "t")
