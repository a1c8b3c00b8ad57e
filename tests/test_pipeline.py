"""Reading any number of inputs, and the whole line over the corpus of public reports."""

from __future__ import annotations

import shutil

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.conftest import SAMPLES

from ncuroof import pipeline
from ncuroof.config import Config
from ncuroof.errors import DamagedError, InputError, NothingMeasuredError, UnrecognisedError
from ncuroof.testing import ReportBuilder

SAMPLE = SAMPLES / "h100" / "fp16-square" / "report.ncu-rep"


def make(path, name="k", duration=5000.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    ReportBuilder().kernel(name, {"gpu__time_duration.sum": duration}, grid=(1, 1, 1), block=(32, 1, 1)).write(path)
    return path


def test_files_folders_and_globs_give_one_table_in_order(tmp_path):
    make(tmp_path / "a" / "1.ncu-rep", "first")
    make(tmp_path / "a" / "deep" / "2.ncu-repz", "second")
    make(tmp_path / "3.ncu-rep", "third")
    make(tmp_path / "4.ncu-rep", "fourth")
    dataset = pipeline.load([tmp_path / "a", str(tmp_path / "[34].ncu-rep")])
    assert dataset.kernels["kernel_name"].to_list() == ["first", "second", "third", "fourth"]
    assert [s.format for s in dataset.sources] == ["ncu-rep"] * 4


def test_a_file_named_twice_is_read_once(tmp_path):
    path = make(tmp_path / "1.ncu-rep")
    dataset = pipeline.load([path, tmp_path])
    assert dataset.kernels.height == 1
    assert [n.kind for n in dataset.notes] == ["named-twice"]


def test_the_same_content_under_two_names_counts_once(tmp_path):
    path = make(tmp_path / "1.ncu-rep")
    shutil.copy(path, tmp_path / "2.ncu-rep")
    dataset = pipeline.load([tmp_path])
    assert dataset.kernels.height == 1
    assert [(n.kind, n.source) for n in dataset.notes] == [("same-content", "2.ncu-rep")]


def test_a_bad_file_does_not_hide_the_others(tmp_path):
    good = make(tmp_path / "good.ncu-rep")
    bad = tmp_path / "bad.ncu-rep"
    bad.write_bytes(good.read_bytes()[:-3])
    loaded = pipeline.load_all([bad, good])
    assert loaded.dataset is not None
    assert loaded.dataset.kernels.height == 1
    assert [type(e) for e in loaded.errors] == [DamagedError]
    with pytest.raises(DamagedError):
        pipeline.load([bad, good])


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", InputError, "an empty file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", UnrecognisedError, "Git LFS pointer"),
        (b"\x00\x01\x02 nothing", UnrecognisedError, "no reader knows"),
        (b"\x28\xb5\x2f\xfd", DamagedError, "zstd"),
        (b"NVR\x00", DamagedError, "bad.ncu-rep"),
    ],
)
def test_unusable_files_give_one_clear_error(tmp_path, content, error, words):
    path = tmp_path / "bad.ncu-rep"
    path.write_bytes(content)
    with pytest.raises(error, match=words) as caught:
        pipeline.load([path])
    assert str(caught.value).startswith("bad.ncu-rep: ")
    assert caught.value.remedy


def test_missing_files_folders_and_patterns(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        pipeline.load([tmp_path / "absent.ncu-rep"])
    with pytest.raises(InputError, match="matches no file"):
        pipeline.load([str(tmp_path / "*.ncu-rep")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingMeasuredError, match="a folder without any"):
        pipeline.load([tmp_path / "empty"])


def test_no_absolute_path_reaches_the_tables(tmp_path):
    dataset = pipeline.load([make(tmp_path / "1.ncu-rep").resolve()])
    assert dataset.kernels["source"].to_list() == ["1.ncu-rep"]


def test_corpus_reports_all_open(corpus):
    loaded = pipeline.load_all([corpus / "reports"])
    assert loaded.dataset is not None
    # The one report without its first bytes gives an error; CuVectorAddDrv and the others hold 350 results.
    assert [e.path.rpartition("/")[2] for e in loaded.errors] == [
        "JakeFlasher__benchmark_flash_attention__ncu_reports_standard_window-512.ncu-rep"
    ]
    reference = pl.read_csv(corpus / "kernels.tsv", separator="\t", infer_schema=False)
    assert loaded.dataset.kernels.height == reference.height


def test_corpus_verdicts_are_complete(corpus):
    analysis = pipeline.analyze(pipeline.load_all([corpus / "reports"]).dataset, Config())
    kernels = analysis.kernels
    assert kernels["verdict"].null_count() == 0
    assert kernels["verdict_reason"].null_count() == 0
    for column, dtype in kernels.schema.items():
        if dtype == pl.Float64:
            assert not kernels[column].is_nan().any(), column
            assert not kernels[column].is_infinite().any(), column
    assert kernels["time_share"].sum() == pytest.approx(1.0)


def test_ingested_corpus_gives_the_same_analysis(corpus, tmp_path):
    paths = sorted((corpus / "reports").glob("[A-N]*.ncu-rep"))
    paths = [p for p in paths if "window-512" not in p.name]
    pipeline.ingest(paths, tmp_path / "tables")
    stored = pipeline.analyze(pipeline.load([tmp_path / "tables"]), Config())
    direct = pipeline.analyze(pipeline.load(paths), Config())
    assert_frame_equal(stored.kernels, direct.kernels)
    assert_frame_equal(stored.findings, direct.findings)
    assert stored.skips == direct.skips
    assert_frame_equal(stored.dataset.rules, direct.dataset.rules)


IDENTITY = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
WIDE = IDENTITY + (
    '"Device","CC",'
    '"gpu__time_duration.sum","dram__bytes.sum"\n'
    '"","","","","","","","","","","","ns","byte"\n'
    '"0","1","p","h","wide","1","7","(1, 1, 1)","(1, 1, 1)","0","8.0","5000","1000"\n'
)
LONG = IDENTITY + (
    '"Device","CC",'
    '"Section Name","Metric Name","Metric Unit","Metric Value"\n'
    '"0","1","p","h","long","1","7","(1, 1, 1)","(1, 1, 1)","0","8.0","x","gpu__time_duration.sum","ns","6000"\n'
)


@pytest.mark.parametrize("order", [("wide", "long", "report"), ("report", "long", "wide"), ("long", "wide", "report")])
def test_inputs_of_all_kinds_together_in_any_order(tmp_path, order):
    (tmp_path / "wide.csv").write_text(WIDE)
    (tmp_path / "long.csv").write_text(LONG)
    make(tmp_path / "report.ncu-rep", "report", 7000.0)
    paths = [next(tmp_path.glob(f"{kind}.*")) for kind in order]
    times = {"wide": 5e-6, "long": 6e-6, "report": 7e-6}
    for dataset in (pipeline.load(paths), pipeline.ingest(paths, tmp_path / "t"), pipeline.load([tmp_path / "t"])):
        assert dataset.kernels["kernel_name"].to_list() == list(order)
        assert dataset.kernels["duration_s"].to_list() == pytest.approx([times[k] for k in order])


def test_a_folder_that_cannot_be_walked_is_no_crash(tmp_path):
    make(tmp_path / "a" / "1.ncu-rep", "first")
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "dangling.ncu-rep").symlink_to(tmp_path / "absent")
    assert pipeline.load([tmp_path / "a"]).kernels.height == 1


def test_an_empty_name_is_an_error_and_not_the_current_folder(tmp_path, monkeypatch):
    make(tmp_path / "1.ncu-rep")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="an empty file name"):
        pipeline.load([""])
