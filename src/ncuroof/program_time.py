"""How a program's wall time divides into kernels and the rest, as `ncuroof collect` measured it.

A roofline says how long a kernel must take; a program also spends time between kernels, issuing them one by one,
running its interpreter, waiting. Profiled runs cannot show it, since profiling serialises kernels: `ncuroof collect`
measures it in a run of its own and keeps it in a JSON file beside the report (``NAME.collect.json``), from where it
becomes the columns :data:`ncuroof.tables.PROGRAM` of the report's kernels.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SUFFIX = ".collect.json"
FORMAT = 1


@dataclass(frozen=True)
class ProgramTime:
    """The fields stand in the order of :data:`ncuroof.tables.PROGRAM`.

    Attributes:
        wall_s: wall time of the unprofiled run.
        kernel_s: sum of the kernels' durations in that time.
        launches: number of their launches.
        annotated: the time runs from the first annotated launch to the last one; else it is that of the whole process,
            start-up included.
    """

    wall_s: float
    kernel_s: float
    launches: int
    annotated: bool = False


def beside(report: Path) -> Path:
    """Where the side file of a report lies: ``x.collect.json`` for ``x.ncu-rep`` and ``x.warm.ncu-rep``."""
    stem = report.name.split(".ncu-rep", 1)[0]
    for part in (".cold", ".warm"):
        stem = stem.removesuffix(part)
    return report.with_name(stem + SUFFIX)


def read(report: Path) -> ProgramTime | None:
    """How the time of the collected program divides; None without a usable side file."""
    try:
        content: Any = json.loads(beside(report).read_text(encoding="utf-8"))
        return from_content(content) if content["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def from_content(content: Mapping[str, Any]) -> ProgramTime | None:
    """The time of the annotated launches where it was measured, else that of the whole process, else None."""
    for prefix in ("span_", ""):
        wall = content["span_s"] if prefix else content["wall_s"]
        kernel, launches = content[f"{prefix}kernel_s"], content[f"{prefix}launches"]
        if all(isinstance(value, int | float) and value >= 0 for value in (wall, kernel, launches)):
            return ProgramTime(float(wall), float(kernel), int(launches), bool(prefix))
    return None
