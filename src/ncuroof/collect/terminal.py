"""Tells the user what happens, on standard error: notes, the program's own output, and progress on a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

EVERY_SECONDS = 0.1
WIDTH = 79


class Terminal:
    """Writes to a stream; progress only where that is a terminal.

    Args:
        quiet: neither notes nor progress; warnings and the program's output all the same.
        program: whether to hand on what the program prints.
    """

    def __init__(self, *, quiet: bool = False, program: bool = True, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._program = program
        self._live = not quiet and self._stream.isatty()
        self._drawn = False
        self._last = 0.0

    def note(self, text: str) -> None:
        """Say something worth knowing."""
        if not self._quiet:
            self._line(f"note: {text}")

    def warn(self, text: str) -> None:
        """Say something that may spoil the result."""
        self._line(f"warning: {text}")

    def program(self, line: str) -> None:
        """Hand on a line of the program as it is: it would have reached this terminal anyway."""
        if self._program:
            self.clear()
            self._stream.write(line + "\n")
            self._stream.flush()

    def progress(self, done: int, total: int | None, what: str) -> None:
        """Draw the count of kernels done over the last one."""
        now = time.monotonic()
        if not self._live or now - self._last < EVERY_SECONDS:
            return
        self._last = now
        count = f"{done}" if total is None else f"{done} of {total}"
        self._stream.write("\r\x1b[K" + f"{count} kernels profiled  {_plain(what)}"[:WIDTH])
        self._stream.flush()
        self._drawn = True

    def clear(self) -> None:
        """Take the progress line away."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False

    def _line(self, text: str) -> None:
        self.clear()
        self._stream.write(_plain(text) + "\n")
        self._stream.flush()


def _plain(text: str) -> str:
    """Make control characters visible: kernel names must not drive a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)
