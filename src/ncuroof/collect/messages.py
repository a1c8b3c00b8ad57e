"""Explains what ncu prints about a run that did not go as asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ncuroof.collect._data import toml

_PROFILING = re.compile(r'^==PROF== Profiling "(?P<name>.*)"(?: - (?P<index>\d+))?(?: \(\d+/\d+\))?: (?P<rest>.*)$')
_PASSES = re.compile(r"- (\d+) pass(?:es)?\s*$")
_REPLAY = re.compile(r"[Aa]pplication replay pass (\d+)")
_STATUS = re.compile(r"The application returned an error code \((-?\d+)\)")
_OWN = "=="
_ERROR = "==ERROR=="
UNKNOWN = "unknown-error"


@dataclass(frozen=True)
class Trouble:
    """A kind of message that was seen.

    Attributes:
        name: kind, as in ``data/messages.toml``; :data:`UNKNOWN` for an error of ncu that is not there.
        fatal: whether the run cannot have given what was asked for.
        says: what it means, as a clause.
        remedy: what to do.
        line: ncu's own words.
        layers: whether the permission layers explain it.
    """

    name: str
    fatal: bool
    says: str
    remedy: str
    line: str
    layers: bool = False


@dataclass
class Transcript:
    """What ncu has said so far.

    Attributes:
        kernels: kernels profiled to the end.
        passes: largest number of passes a kernel took; None before the first.
        program_status: exit status of the program, where ncu reported that it was not 0.
        troubles: kinds of trouble seen, each once, in order; of unknown errors each line once.
        last_kernel: name of the kernel profiled last.
    """

    kernels: int = 0
    passes: int | None = None
    program_status: int | None = None
    troubles: list[Trouble] = field(default_factory=list)
    last_kernel: str = ""
    _indices: set[str | None] = field(default_factory=set)

    def take(self, line: str) -> bool:
        """Read one line; False if it is the program's, not ncu's."""
        if not line.startswith(_OWN):
            # ncu's complaints about its own command line do not carry its mark.
            if "unrecogni" in line and "option" in line:
                self._trouble(line)
                return True
            return False
        profiled = _PROFILING.match(line)
        if profiled:
            self._profiled(profiled)
            return True
        status = _STATUS.search(line)
        if status:
            self.program_status = int(status[1])
            return True
        self._trouble(line)
        return True

    def fatal(self) -> Trouble | None:
        """Return the first fatal trouble, if any."""
        return next((trouble for trouble in self.troubles if trouble.fatal), None)

    def seen(self, name: str) -> bool:
        """Whether trouble of this kind was seen."""
        return any(trouble.name == name for trouble in self.troubles)

    def unknown(self) -> list[str]:
        """Errors of ncu that are not in ``data/messages.toml``, as they stand."""
        return [trouble.line for trouble in self.troubles if trouble.name == UNKNOWN]

    def _profiled(self, line: re.Match[str]) -> None:
        self.last_kernel = line["name"]
        whole, run = _PASSES.search(line["rest"]), _REPLAY.search(line["rest"])
        found = whole or run
        if found is None:
            return
        self.passes = max(self.passes or 0, int(found[1]))
        # An application replay names each kernel once in every run of the program.
        if whole or line["index"] not in self._indices:
            self.kernels += 1
        self._indices.add(line["index"])

    def _trouble(self, line: str) -> None:
        for entry in toml("messages.toml")["message"]:
            if re.search(entry["pattern"], line):
                if not self.seen(entry["name"]):
                    says, remedy = entry["says"], entry.get("remedy", "")
                    layers = entry.get("layers", False)
                    self.troubles.append(Trouble(entry["name"], entry["fatal"], says, remedy, line.strip(), layers))
                return
        if line.startswith(_ERROR):
            # What ncu says after the program has failed may follow from that; before, it is ncu that failed.
            fatal = self.program_status is None
            said = line.removeprefix(_ERROR).strip()
            if said and all(trouble.line != line.strip() for trouble in self.troubles):
                self.troubles.append(Trouble(UNKNOWN, fatal, "ncu reports an error", "", line.strip()))
