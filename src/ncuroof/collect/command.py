"""Writes ncu's command line, with the options that its version documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.collect._data import toml
from ncuroof.collect.ncu import Version
from ncuroof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncuroof.collect.ncu import Ncu
    from ncuroof.collect.tiers import Request

CACHES = {"cold": "all", "warm": "none"}
"""Word of ``--cache`` to ncu's: flushed before every pass, or left as they are."""


@dataclass(frozen=True)
class Filters:
    """Which launches to profile; all are handed to ncu as they are.

    Attributes:
        kernel_name: a name, or ``regex:`` and an expression.
        kernel_name_base: function, demangled or mangled: what ``kernel_name`` is compared with.
        launch_skip: matching launches to pass over.
        launch_count: matching launches to profile.
        nvtx_include, nvtx_exclude: NVTX expressions.
        from_start: False waits for ``cudaProfilerStart``.
    """

    kernel_name: str | None = None
    kernel_name_base: str | None = None
    launch_skip: int | None = None
    launch_count: int | None = None
    nvtx_include: tuple[str, ...] = ()
    nvtx_exclude: tuple[str, ...] = ()
    from_start: bool = True


@dataclass(frozen=True)
class Modes:
    """How to measure: ``cache`` cold or warm, ``clock`` none, base, boost or force-boost, ``replay`` and graphs."""

    cache: str = "cold"
    clock: str = "none"
    replay: str = "kernel"
    graph: str | None = None


ANNOTATED = "regex:ncuroof:.+/"
"""NVTX expression for every range that :mod:`ncuroof.annotate` pushes."""


def build(
    ncu: Ncu,
    wanted: Request,
    *,
    filters: Filters,
    modes: Modes,
    output: Path,
    program: Sequence[str],
    extra: Sequence[str] = (),
) -> list[str]:
    """Return the command line.

    Args:
        ncu: the tool; its version decides which options may be used.
        wanted: metrics and sections.
        filters: which launches.
        modes: how.
        output: the report to write; its name has a suffix.
        program: the command to run, not empty.
        extra: further words for ncu, unchecked.

    Raises:
        UsageError: for an option or a value that this version of ncu does not have.
    """
    line = _Line(ncu.driven_as)
    # A config.ncu-cfg in the working directory would change the run without a trace.
    line.add("--config-file", "off")
    line.add("--target-processes", "all")
    line.add("--nvtx")
    line.add("--import-source", "no")
    line.add("--replay-mode", modes.replay)
    line.add("--cache-control", CACHES[modes.cache])
    line.add("--clock-control", modes.clock)
    if modes.graph is not None:
        line.add("--graph-profiling", modes.graph)
    if not filters.from_start:
        line.add("--profile-from-start", "off")
    if filters.kernel_name is not None:
        line.add("--kernel-name", filters.kernel_name)
    if filters.kernel_name_base is not None:
        line.add("--kernel-name-base", filters.kernel_name_base)
    if filters.launch_skip is not None:
        line.add("--launch-skip", str(filters.launch_skip))
    if filters.launch_count is not None:
        line.add("--launch-count", str(filters.launch_count))
    for expression in filters.nvtx_include:
        line.add("--nvtx-include", expression)
    for expression in filters.nvtx_exclude:
        line.add("--nvtx-exclude", expression)
    if wanted.section_set is not None:
        line.add("--set", wanted.section_set)
    for section in wanted.sections:
        line.add("--section", section)
    if wanted.metrics:
        line.add("--metrics", ",".join(wanted.metrics))
    line.add("--force-overwrite")
    line.add("--export", str(output))
    return [str(ncu.path), *line.words, *extra, *program]


def default_clock(version: Version) -> str | None:
    """Return what ``--clock-control`` is where it is not given; None where that is not known."""
    option = toml("options.toml")["option"]["--clock-control"]
    default: str = option["default"]
    for since, value in option["default_since"].items():
        if version >= Version.parse(since):
            default = value
    return default or None


class _Line:
    """Words of a command line, checked against what a version documents."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.words: list[str] = []

    def add(self, name: str, value: str | None = None) -> None:
        option = toml("options.toml")["option"][name]
        if self.version < Version.parse(option["since"]):
            msg = f"{name} needs Nsight Compute {option['since']} or later; this one is {self.version}"
            raise UsageError(msg)
        if value is not None:
            self._check(name, value, option.get("values", ()))
        self.words.extend([name] if value is None else [name, value])

    def _check(self, name: str, value: str, values: Sequence[str | dict[str, str]]) -> None:
        since = {v if isinstance(v, str) else v["value"]: None if isinstance(v, str) else v["since"] for v in values}
        if not since:
            return
        if value not in since:
            msg = f"{name} {value}: Nsight Compute knows {', '.join(since)}"
            raise UsageError(msg)
        first = since[value]
        if first is not None and self.version < Version.parse(first):
            msg = f"{name} {value} needs Nsight Compute {first} or later; this one is {self.version}"
            raise UsageError(msg)
