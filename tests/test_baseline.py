"""Named baselines: stored whole or not at all, found by name, never outside their folder."""

from __future__ import annotations

import pytest
from polars.testing import assert_frame_equal

from ncuroof import baseline, pipeline, store
from ncuroof.errors import InputError, UsageError
from ncuroof.testing import ReportBuilder, RuleItem


@pytest.fixture
def dataset(tmp_path):
    said = (RuleItem("Occupancy", "limited by registers"),)
    path = tmp_path / "r.ncu-rep"
    ReportBuilder().kernel("k", {"gpu__time_duration.sum": 5000.0}, rules=said).write(path)
    return pipeline.load([path])


def test_what_is_saved_comes_back(dataset, tmp_path):
    home = tmp_path / "home"
    path = baseline.save(dataset, "main-1.2", home)
    assert sorted(f.name for f in path.iterdir()) == ["kernels.parquet", "nsight_rules.parquet"]
    again = baseline.load("main-1.2", home)
    assert_frame_equal(again.kernels, dataset.kernels)
    assert_frame_equal(again.rules, dataset.rules)
    assert again.sources == dataset.sources
    (listed,) = baseline.stored(home)
    assert (listed.name, listed.path) == ("main-1.2", path)
    assert listed.size == sum(f.stat().st_size for f in path.iterdir())


def test_a_taken_name_needs_replace(dataset, tmp_path):
    baseline.save(dataset, "main", tmp_path)
    with pytest.raises(UsageError, match="--replace"):
        baseline.save(dataset, "main", tmp_path)
    assert baseline.save(dataset, "main", tmp_path, replace=True).is_dir()
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == ["main"]


def test_a_failed_save_leaves_what_was_there(dataset, tmp_path, monkeypatch):
    baseline.save(dataset, "main", tmp_path)
    before = (tmp_path / "main" / "kernels.parquet").read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.Writer, "provenance", fail)
    with pytest.raises(UsageError, match="No space left"):
        baseline.save(dataset, "main", tmp_path, replace=True)
    assert (tmp_path / "main" / "kernels.parquet").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == ["main"]


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".hidden", "a b", "-x", "x" * 101, "a\\b"])
def test_names_cannot_leave_the_folder(dataset, tmp_path, name):
    with pytest.raises(UsageError, match="no name for a baseline"):
        baseline.save(dataset, name, tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_name_wins_over_a_file_and_a_path_is_read_as_it_is(dataset, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    baseline.save(dataset, "main")
    assert (tmp_path / ".ncuroof" / "baselines" / "main").is_dir()
    (tmp_path / "main").write_text("not a report")
    assert baseline.load("main").kernels["kernel_name"].to_list() == ["k"]
    assert baseline.load("r.ncu-rep").kernels["kernel_name"].to_list() == ["k"]
    assert baseline.load("*.ncu-rep").kernels["kernel_name"].to_list() == ["k"]


def test_an_unknown_name_lists_those_that_exist(dataset, tmp_path):
    with pytest.raises(UsageError, match="none is stored there"):
        baseline.load("main", tmp_path)
    baseline.save(dataset, "other", tmp_path)
    with pytest.raises(UsageError, match="there are other"):
        baseline.load("main", tmp_path)
    with pytest.raises(InputError, match="no such file"):
        baseline.load("dir/absent.ncu-rep", tmp_path)


def test_a_folder_that_cannot_be_put_in_place_leaves_nothing(dataset, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(baseline, "_swap", fail)
    with pytest.raises(UsageError, match="Permission denied"):
        baseline.save(dataset, "main", tmp_path / "home")
    assert list((tmp_path / "home").iterdir()) == []
