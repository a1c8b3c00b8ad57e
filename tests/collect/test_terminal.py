from __future__ import annotations

import io

import pytest

from ncuroof.collect import terminal
from ncuroof.collect.terminal import Terminal


class Tty(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    monkeypatch.setattr(terminal, "EVERY_SECONDS", 0.0)


def test_progress_is_drawn_over_itself_and_taken_away_before_a_line():
    stream = Tty()
    talk = Terminal(stream=stream)
    talk.progress(3, 12, "gemm")
    talk.progress(4, None, "copy")
    talk.program("hello")
    assert stream.getvalue() == (
        "\r\x1b[K3 of 12 kernels profiled  gemm\r\x1b[K4 kernels profiled  copy\r\x1b[Khello\n"
    )


def test_no_progress_off_a_terminal_or_when_quiet():
    for talk in (Terminal(stream=io.StringIO()), Terminal(quiet=True, stream=Tty())):
        talk.progress(3, 12, "gemm")
        talk.note("x")
    stream = Tty()
    Terminal(quiet=True, stream=stream).note("x")
    assert stream.getvalue() == ""


def test_warnings_are_told_also_when_quiet():
    stream = io.StringIO()
    Terminal(quiet=True, stream=stream).warn("look")
    assert stream.getvalue() == "warning: look\n"


def test_kernel_names_cannot_drive_the_terminal():
    stream = Tty()
    talk = Terminal(stream=stream)
    talk.progress(1, 1, "\x1b[2Jevil\r\n")
    talk.warn("\x1b]0;title\x07")
    shown = stream.getvalue().replace("\r\x1b[K", "")
    assert "\x1b" not in shown
    assert r"\x1b[2Jevil\x0d" in shown


def test_a_long_name_stays_on_its_line():
    stream = Tty()
    Terminal(stream=stream).progress(1, 1, "k" * 500)
    assert len(stream.getvalue()) <= terminal.WIDTH + len("\r\x1b[K")
