from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from ncuroof.collect import process
from ncuroof.errors import CollectError


def run(code, **more):
    lines = []
    more.setdefault("line", lines.append)
    outcome = process.run([sys.executable, "-u", "-c", code], environment=os.environ, **more)
    return outcome, lines


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123  a zombie is as good as gone
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


def test_output_errors_and_status_come_through():
    outcome, lines = run("import sys; print('a'); print('b', file=sys.stderr); sys.exit(7)")
    assert sorted(lines) == ["a", "b"]
    assert (outcome.status, outcome.timed_out, outcome.interrupted) == (7, False, False)


def test_a_line_without_an_end_and_bytes_that_are_no_text():
    _, lines = run(r"import os; os.write(1, b'x\xff\r\nlast')")
    assert lines == ["x�", "last"]


def test_standard_input_is_empty():
    _, lines = run("import sys; print(repr(sys.stdin.read()))")
    assert lines == ["''"]


def test_a_signals_status_is_as_in_a_shell():
    outcome, _ = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert outcome.status == 128 + signal.SIGSEGV


def test_a_command_that_does_not_exist_is_an_error_that_names_it():
    with pytest.raises(CollectError, match="no-such-program: no such command"):
        process.run(["no-such-program"], environment=os.environ, line=print)


def test_the_time_limit_asks_first():
    code = (
        "import signal, time, sys\n"
        "signal.signal(signal.SIGINT, lambda *_: (print('asked'), sys.exit(3)))\n"
        "print('ready')\ntime.sleep(60)"
    )
    outcome, lines = run(code, timeout=1.5)
    assert outcome.timed_out
    assert lines == ["ready", "asked"]
    assert outcome.status == 3


def test_what_does_not_listen_is_ended_with_its_children():
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid)\ntime.sleep(60)"
    )
    outcome, lines = run(code, timeout=1.0, grace=0.3)
    assert outcome.timed_out
    assert outcome.status > 128
    time.sleep(0.2)
    assert not alive(int(lines[0]))


def test_ctrl_c_reaches_the_command_once_and_what_it_prints_then_is_kept():
    code = (
        "import signal, time, sys\n"
        "def stop(*_):\n    print('writing the report')\n    time.sleep(0.3)\n    print('done')\n    sys.exit(0)\n"
        "signal.signal(signal.SIGINT, stop)\n"
        "print('ready')\ntime.sleep(60)"
    )
    lines = []

    def take(text):
        lines.append(text)
        if text == "ready":
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    outcome, _ = run(code, line=take)
    assert outcome.interrupted
    assert lines == ["ready", "writing the report", "done"]


def test_a_second_ctrl_c_insists():
    code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('ready')\ntime.sleep(60)"
    begin = time.monotonic()

    def take(text):
        for delay in (0.1, 0.6):
            threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()

    outcome, _ = run(code, line=take, grace=50)
    assert outcome.interrupted
    assert outcome.status > 128
    assert time.monotonic() - begin < 50  # it did not wait for the grace period


def test_a_process_left_behind_does_not_keep_it_waiting():
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); print('gone')"
    )
    outcome, lines = run(code, timeout=30)
    assert lines == ["gone"]
    assert not outcome.timed_out


def test_endless_output_without_a_line_end_is_handed_on_in_pieces():
    total = 3 << 20
    sizes = []
    run(f"import sys; sys.stdout.write('x' * {total})", line=lambda text: sizes.append(len(text)))
    assert sum(sizes) == total
    assert max(sizes) <= process.LONGEST_LINE + process.CHUNK
