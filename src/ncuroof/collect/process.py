"""Runs a command to its end, its time limit or the user's Ctrl-C, line by line, and leaves nothing running."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.errors import CollectError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

GRACE_SECONDS = 30.0
"""How long ncu gets to write its report after it was asked to stop."""
KILL_SECONDS = 5.0
TICK_SECONDS = 0.2
CHUNK = 65536
LONGEST_LINE = 1 << 20
"""A line that grows beyond this is handed on in pieces: memory stays bounded whatever the program prints."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended.

    Attributes:
        status: exit status; 128 + the signal's number for one that a signal ended, as in a shell.
        seconds: wall time.
        timed_out: the time limit ended it.
        interrupted: the user ended it.
    """

    status: int
    seconds: float
    timed_out: bool = False
    interrupted: bool = False


def run(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    line: Callable[[str], None],
    timeout: float | None = None,
    grace: float = GRACE_SECONDS,
) -> Outcome:
    """Run ``command`` with nothing on its standard input.

    Output and errors of the command come together, in the order in which they are written, a line at a time.
    On Ctrl-C or at the time limit it is asked to stop (SIGINT), which makes ncu end the program and write what it
    has; after ``grace`` seconds, or on a second Ctrl-C, the whole process group is ended.

    Args:
        command: words of the command.
        environment: its environment.
        line: called with each line, without its end.
        timeout: seconds; None for no limit.
        grace: seconds between asking and ending.

    Raises:
        CollectError: if it cannot be started.
    """
    begin = time.monotonic()
    try:
        # A session of its own: a terminal's Ctrl-C comes here first, and is handed on once, to the whole group.
        process = subprocess.Popen(  # noqa: S603  runs what the user asked for
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            start_new_session=True,
        )
    except FileNotFoundError:
        msg = f"{command[0]}: no such command"
        raise CollectError(msg) from None
    except OSError as error:
        msg = f"{command[0]}: cannot be run ({error.strerror or error})"
        raise CollectError(msg) from error
    watch = _Watch(process, timeout, grace, begin)
    try:
        _pump(process, line, watch)
    finally:
        watch.end()
    status = process.wait()
    status = 128 - status if status < 0 else status
    return Outcome(status, time.monotonic() - begin, watch.timed_out, watch.interrupted)


class _Watch:
    """Decides when the command is asked to stop and when it is made to."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float | None, grace: float, begin: float) -> None:
        self.process = process
        self.limit = None if timeout is None else begin + timeout
        self.grace = grace
        self.kill_at: float | None = None
        self.timed_out = False
        self.interrupted = False

    def tick(self) -> None:
        now = time.monotonic()
        if self.limit is not None and now > self.limit and self.kill_at is None:
            self.timed_out = True
            self.ask()
        if self.kill_at is not None and now > self.kill_at:
            self.end()

    def interrupt(self) -> None:
        """Handle Ctrl-C: ask first, insist the second time."""
        self.interrupted = True
        if self.kill_at is None:
            self.ask()
        else:
            self.end()

    def ask(self) -> None:
        """Do what Ctrl-C in a terminal does: the installed ncu is a script, and only its group reaches the tool."""
        self.kill_at = time.monotonic() + self.grace
        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
            if os.name == "posix":
                os.killpg(self.process.pid, signal.SIGINT)
            else:
                self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """End the process group if anything of it is left."""
        if os.name != "posix":
            self.process.kill()
            return
        for number, wait in ((signal.SIGTERM, KILL_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(wait)
                if number == signal.SIGTERM:
                    continue  # what the leader has left behind gets the second signal


def _pump(process: subprocess.Popen[bytes], line: Callable[[str], None], watch: _Watch) -> None:
    """Hand on lines until the output ends and the process is gone."""
    assert process.stdout is not None  # noqa: S101  asked for above
    descriptor = process.stdout.fileno()
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        open_ = True
        while open_:
            try:
                if selector.select(TICK_SECONDS):
                    data = os.read(descriptor, CHUNK)
                    open_ = bool(data)
                    *lines, rest = (rest + data).split(b"\n")
                    for text in lines:
                        line(text.decode("utf-8", "replace").rstrip("\r"))
                    if len(rest) > LONGEST_LINE:
                        line(rest.decode("utf-8", "replace"))
                        rest = b""
                elif process.poll() is not None:
                    # A process left in the background may hold the pipe open; the command itself is done.
                    open_ = False
                watch.tick()
            except KeyboardInterrupt:
                watch.interrupt()
    if rest:
        line(rest.decode("utf-8", "replace"))
    while process.poll() is None:
        try:
            watch.tick()
            time.sleep(TICK_SECONDS / 4)
        except KeyboardInterrupt:
            watch.interrupt()
