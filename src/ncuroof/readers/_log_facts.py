"""Reads what ncu says about itself between the tables: ``==PROF==`` and ``==ERROR==`` lines, command lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ncuroof.readers._errors_in_logs import CAUSES, Cause

_MARKED = re.compile(rb"^[^\n=]{0,8}==(?:PROF|WARNING|ERROR|LOG)==[^\n]*", re.MULTILINE)
# Older versions wrote "==1234== ..." and some wrappers repeat the messages without marks.
_OLD_MARK = re.compile(rb"^==\d+==[^\n]*", re.MULTILINE)
_COMMAND = re.compile(rb"(?:^|[\s/$>#+;&|\"'])(?:ncu|nv-nsight-cu-cli)(?:\.exe)?\s+(-[^\n]*)", re.MULTILINE)
_WROTE = re.compile(r"==PROF==\s*(?:Creating r|R)eport(?: file)?:?\s+\"?(?P<path>[^\"\n]+?)\"?\s*$")
_VERSION = re.compile(
    rb"(?:[Nn]sight[ _-]?[Cc]ompute[/\\\\ _-]v?"
    rb"|Command Line Profiler\s+(?:[^\n]*\n){0,2}?Version )(\d{4}\.\d+\.\d+(?:\.\d+)?)"
)
_PROFILING = re.compile(r'==PROF==\s*(?:\d+:\s*)?Profiling "')
_CONNECTED = re.compile(r"==PROF==\s*Connected to process")
_SETTINGS = {
    "clock_control": ("--clock-control", ("base", "none", "boost", "force-boost", "reset")),
    "cache_control": ("--cache-control", ("all", "none")),
    "replay_mode": ("--replay-mode", ("kernel", "application", "range", "app-range")),
}
# What ncu says when a setting is not its default.
_SAID = (
    ("clock_control", "none", re.compile(r"unmodified GPU clocks|uncontrolled GPU clocks", re.IGNORECASE)),
    ("cache_control", "none", re.compile(r"uncontrolled GPU caches|unmodified GPU caches", re.IGNORECASE)),
    ("replay_mode", "kernel", re.compile(r"Kernel replay might be slow", re.IGNORECASE)),
)
_LIMIT = 10_000
"""Marked lines that are kept; a log with more of them repeats itself."""


@dataclass
class LogFacts:
    """What was found so far.

    Attributes:
        profiled: how many kernels ncu says it profiled.
        connected: how many processes it connected to.
        wrote: names of the report files it says it wrote.
        causes: known reasons for a failure, in the order they appear.
        errors: other ``==ERROR==`` lines.
        ncu_version: version of the tool, where a path or its own banner names it.
    """

    profiled: int = 0
    connected: int = 0
    wrote: list[str] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ncu_version: str | None = None
    _given: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    _lines: int = 0

    def feed(self, block: bytes) -> None:
        """Look at lines that belong to no table."""
        if self._lines > _LIMIT:
            return
        for pattern in (_MARKED, _OLD_MARK):
            for match in pattern.finditer(block):
                self._lines += 1
                if self._lines > _LIMIT:
                    return
                self._line(match[0].decode("utf-8", "replace").strip().lstrip("\ufeff"))
        if self.ncu_version is None and (version := _VERSION.search(block)):
            self.ncu_version = version[1].decode()
        for cause in CAUSES:
            if cause.anywhere and cause not in self.causes and cause.found_in(block):
                self.causes.append(cause)
        for match in _COMMAND.finditer(block):
            self._command(match[1].decode("utf-8", "replace"))

    def _line(self, line: str) -> None:
        self.profiled += bool(_PROFILING.search(line))
        self.connected += bool(_CONNECTED.search(line))
        if (match := _WROTE.search(line)) and len(self.wrote) < _LIMIT:
            self.wrote.append(re.split(r"[\\/]", match["path"].strip())[-1])
        for setting, value, pattern in _SAID:
            if pattern.search(line):
                self._given.setdefault(setting, set()).add((value, "said by ncu in the log"))
        known = False
        for cause in CAUSES:
            if cause.found_in(line.encode()):
                known = True
                if cause not in self.causes:
                    self.causes.append(cause)
        if not known and "==ERROR==" in line and len(self.errors) < 20:
            self.errors.append(line.partition("==ERROR==")[2].strip())

    def _command(self, options: str) -> None:
        words = options.split()
        for setting, (option, allowed) in _SETTINGS.items():
            for place, word in enumerate(words):
                value = word[len(option) + 1 :] if word.startswith(option + "=") else None
                if word == option and place + 1 < len(words):
                    value = words[place + 1]
                if value in allowed:
                    self._given.setdefault(setting, set()).add((str(value), "command line"))

    def settings(self) -> dict[str, str]:
        """Clock control, cache control and replay mode with their sources, where the log truly tells them."""
        found: dict[str, str] = {}
        for setting, given in self._given.items():
            if len({value for value, _ in given}) == 1:
                value, source = min(given)
                found[setting] = value
                found[f"{setting}_source"] = source
        return found

    def remarks(self) -> list[tuple[str, str]]:
        """Notes for a file that does hold kernels: what ncu complained about nevertheless."""
        return [("log-" + c.code, f"the log says: {c.cause}. {c.remedy}") for c in self.causes if c.remark]
