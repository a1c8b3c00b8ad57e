"""Result files: whole or absent, links followed, pipes and devices written to, inputs never overwritten."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ncuroof import outputs
from ncuroof.errors import UsageError


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    outputs.write(path, "new é\n")
    assert path.read_text(encoding="utf-8") == "new é\n"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def test_a_link_stays_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    outputs.write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    outputs.write(pipe, "through the pipe")
    reader.join(timeout=20)
    assert got == [b"through the pipe"]
    assert pipe.is_fifo()


def test_a_dash_is_standard_output(capsysbinary):
    outputs.write(Path("-"), "text\n")
    assert capsysbinary.readouterr().out == b"text\n"


@pytest.mark.parametrize("name", [".", "file/x", "absent/x"])
def test_what_cannot_be_written_is_one_error(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot write"):
        outputs.write(Path(name), "text")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_inputs_and_other_outputs_are_never_overwritten(tmp_path):
    report, link = tmp_path / "r.ncu-rep", tmp_path / "link"
    report.write_bytes(b"x")
    link.symlink_to(report)
    os.link(report, tmp_path / "hard")
    for output in (report, link, tmp_path / "hard"):
        with pytest.raises(UsageError, match="it is an input"):
            outputs.check([output], [report])
    with pytest.raises(UsageError, match="another output"):
        outputs.check([tmp_path / "same", tmp_path / "same"])
    with pytest.raises(UsageError, match="it is a folder"):
        outputs.check([tmp_path])
    outputs.check([tmp_path / "a", None, Path("-")], [report, "-"])
