"""Parquet tables: round trips, provenance, atomic writes, and files that are none of ours."""

from __future__ import annotations

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.conftest import SAMPLES

from ncuroof import pipeline, store, tables
from ncuroof.config import Config
from ncuroof.errors import DamagedError, InputError, NcuroofError, NothingMeasuredError, UsageError
from ncuroof.testing import ReportBuilder

SAMPLE = SAMPLES / "h100" / "fp16-square" / "report.ncu-rep"


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "r.ncu-rep"
    ReportBuilder(command_line="ncu --set full ./secret-binary", cc=(9, 0)).kernel(
        "k",
        {"gpu__time_duration.sum": 5000.0, "dram__bytes_read.sum": 2**60 + 1, "device__attribute_name": "a<b>"},
        grid=(2, 1, 1),
        block=(32, 1, 1),
    ).write(path)
    return path


@pytest.mark.parametrize("name", ["out", "deeper/out", "one.parquet"])
def test_what_is_written_reads_back_the_same(report, tmp_path, name):
    target = tmp_path / name
    written = pipeline.ingest([report], target)
    read = pipeline.load([target])
    assert_frame_equal(read.kernels, written.kernels)
    assert read.sources == written.sources
    assert read.kernels["duration_s"].to_list() == [5e-6]
    direct = pipeline.analyze(pipeline.load([report]), Config())
    stored = pipeline.analyze(read, Config())
    assert_frame_equal(stored.kernels, direct.kernels)
    assert_frame_equal(stored.findings, direct.findings)


def test_every_scalar_is_kept_exactly(report, tmp_path):
    pipeline.ingest([report], tmp_path / "out")
    metrics = store.read_metrics(tmp_path / "out", "out")
    rows = {r["metric"]: r for r in metrics.to_dicts()}
    assert rows["dram__bytes_read.sum"]["value_int"] == 2**60 + 1  # beyond the integers that a double holds
    assert rows["dram__bytes_read.sum"]["unit"] == "byte"
    assert rows["device__attribute_name"]["text"] == "a<b>"
    assert rows["gpu__time_duration.sum"]["value"] == 5000.0
    assert rows["launch__grid_size"]["value"] == 2.0


def test_provenance_is_in_the_metadata_and_private_facts_are_not(report, tmp_path):
    pipeline.ingest([report], tmp_path / "out")
    for table in store.TABLES:
        path = tmp_path / "out" / f"{table}.parquet"
        meta = json.loads(pl.read_parquet_metadata(path)["ncuroof"])
        assert meta["schema_version"] == tables.SCHEMA_VERSION
        assert meta["sources"][0]["name"] == "r.ncu-rep"
        assert len(meta["sources"][0]["sha256"]) == 64
        assert b"secret-binary" not in path.read_bytes()


def test_nothing_is_left_behind_when_an_input_is_bad(report, tmp_path):
    bad = tmp_path / "bad.ncu-rep"
    bad.write_bytes(report.read_bytes()[:-7])
    with pytest.raises(DamagedError, match=r"bad\.ncu-rep"):
        pipeline.ingest([report, bad], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_older_result_survives_a_failed_run(report, tmp_path):
    target = tmp_path / "out.parquet"
    pipeline.ingest([report], target)
    before = {p.name: p.read_bytes() for p in tmp_path.glob("out*")}
    bad = tmp_path / "bad.ncu-rep"
    bad.write_bytes(b"NVR\0")
    with pytest.raises(InputError):
        pipeline.ingest([report, bad], target)
    assert {p.name: p.read_bytes() for p in tmp_path.glob("out*")} == before
    assert not list(tmp_path.glob(".*"))


def test_a_target_that_cannot_be_written_is_an_error(report, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError):
        pipeline.ingest([report], tmp_path / "file" / "out")


def test_a_parquet_file_of_others_is_refused(tmp_path):
    path = tmp_path / "other.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(InputError, match="did not write"):
        pipeline.load([path])


def test_the_wrong_table_is_refused(report, tmp_path):
    pipeline.ingest([report], tmp_path / "out")
    with pytest.raises(InputError, match="metrics table"):
        pipeline.load([tmp_path / "out" / "metrics.parquet"])


def test_another_major_schema_version_is_refused(report, tmp_path, monkeypatch):
    pipeline.ingest([report], tmp_path / "out")
    monkeypatch.setattr(tables, "SCHEMA_VERSION", "2.0")
    with pytest.raises(InputError, match=r"schema version 1\.\d+, .*reads 2\.0"):
        pipeline.load([tmp_path / "out"])


def test_damaged_parquet_is_one_error(report, tmp_path):
    pipeline.ingest([report], tmp_path / "one.parquet")
    whole = (tmp_path / "one.parquet").read_bytes()
    for size in range(4, len(whole), max(1, len(whole) // 40)):
        (tmp_path / "cut.parquet").write_bytes(whole[:size])
        with pytest.raises(NcuroofError, match=r"cut\.parquet"):
            pipeline.load([tmp_path / "cut.parquet"])


def test_ingesting_tables_again_is_refused(report, tmp_path):
    pipeline.ingest([report], tmp_path / "out")
    with pytest.raises(UsageError, match="ingested before"):
        pipeline.ingest([tmp_path / "out"], tmp_path / "again")


def test_a_report_without_a_result_is_no_data_set(tmp_path):
    path = tmp_path / "empty.ncu-rep"
    ReportBuilder().write(path)
    with pytest.raises(NothingMeasuredError, match="without a"):
        pipeline.ingest([path], tmp_path / "out")
    assert not (tmp_path / "out").exists()
