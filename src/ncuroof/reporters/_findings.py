"""What the formats for CI systems share: where a finding is, its one-line text, its name from run to run."""

from __future__ import annotations

import hashlib
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._groups import finding_groups, full_name, kernel_groups, label, launch_shape
from ncuroof.reporters._names import cut, shorten, visible

if TYPE_CHECKING:
    from ncuroof.model import Analysis
    from ncuroof.reporters._groups import Row

RUN = "run"
"""Stands for the file of a finding that concerns everything analysed together."""
LONGEST_MESSAGE = 1000
LONGEST_NAME = 300


def location(row: Row) -> str:
    """``file:index`` of a finding, as far as it has one."""
    source = cut(str(row["source"]), 200) if row["source"] else RUN
    return source if row["result_index"] is None else f"{source}:{row['result_index']}"


def message(row: Row) -> str:
    """What was found and what to do, on one line, without control characters."""
    found = str(row["message"] or row["name"] or row["code"])
    if row["advice"]:
        # Messages of rules end without a full stop, those of Nsight Compute with one.
        separator = " " if found.rstrip().endswith((".", "!", "?", ":")) else ". "
        found = f"{found.rstrip()}{separator}{row['advice']}"
    return cut(found, LONGEST_MESSAGE)


def title(row: Row) -> str:
    """``R001 l2-resident: softmax, 60 µs at stake``."""
    stake = row["time_at_stake_s"]
    kernel = shorten(str(row["kernel"]), 80) if row["kernel"] else ""
    about = [part for part in (kernel, f"{fig.si(stake, 's')} at stake" if fig.finite(stake) else "") if part]
    return visible(f"{row['code']} {row['name']}") + (f": {', '.join(about)}" if about else "")


def path(row: Row) -> str:
    """The report as a relative path with forward slashes, as CI systems want it."""
    source = visible(str(row["source"] or RUN)).replace("\\", "/")
    return posixpath.normpath(source.lstrip("/")) if source.strip("/") else RUN


@dataclass(frozen=True)
class Identified:
    """A finding on identical launches, ready for a CI system.

    Attributes:
        row: the finding of the most costly launch, with the time at stake of all of them.
        launches: number of launches it was found on; 0 where it concerns a whole report or run.
        kernel: the kernel group; None where it concerns no kernel.
        fingerprint: 64 hex digits, unique within an analysis.
    """

    row: Row
    launches: int
    kernel: Row | None
    fingerprint: str


def identified(analysis: Analysis) -> list[Identified]:
    """The findings, most time at stake first, each with a fingerprint that is the same in the next run.

    It follows from the rule, the report's name and what was launched (kernel, grid, block, annotation), never from
    measured values; where a run-wide rule speaks several times, from the order in which it does.
    """
    groups = kernel_groups(analysis)
    seen: dict[str, int] = {}
    result = []
    for f in finding_groups(analysis, groups):
        row = f.row | {"time_at_stake_s": f.stake_s}
        kernel = groups.row(f.group, named=True) if f.group is not None else None
        launched = (full_name(kernel), launch_shape(kernel), label(kernel)) if kernel is not None else ()
        parts = (row["code"], row["voice"], row["source"] or "", *(launched or (row["kernel"] or "",)))
        key = "\0".join(str(part) for part in parts)
        seen[key] = seen.get(key, 0) + 1
        digest = hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "replace")).hexdigest()
        result.append(Identified(row, f.launches, kernel, digest))
    return result
