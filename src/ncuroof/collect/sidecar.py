"""A JSON file beside the report with what the report cannot hold: how it was collected, and the unprofiled run.

Neither host names nor user names nor the program's command line go into it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from ncuroof.program_time import FORMAT

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One run under ncu.

    Attributes:
        report: name of its report, without folders.
        tier, cache, clock, replay: as asked for.
        metrics: asked for.
        missing: metrics of the tier that the GPU does not have.
        passes_estimated, passes_seen: replay passes of a kernel.
        kernels: kernels profiled to the end.
        seconds: wall time under ncu.
        ended: complete, interrupted, timed-out or failed.
    """

    report: str
    tier: str
    cache: str
    clock: str
    replay: str
    metrics: tuple[str, ...]
    missing: tuple[str, ...]
    passes_estimated: int | None
    passes_seen: int | None
    kernels: int
    seconds: float
    ended: str


@dataclass
class Sidecar:
    """Everything about one collection.

    Attributes:
        ncuroof, ncu: versions.
        gpu, cc: the GPU as it was detected.
        wall_s: wall time of the unprofiled run.
        kernel_s, launches: durations and number of all its kernels, from a run with durations alone.
        span_s, span_kernel_s, span_launches: the same from the first annotated launch to the last; null without any.
        program_status: exit status of the program.
        runs: the runs under ncu.
    """

    ncuroof: str
    ncu: str | None
    gpu: str | None = None
    cc: str | None = None
    wall_s: float | None = None
    kernel_s: float | None = None
    launches: int | None = None
    span_s: float | None = None
    span_kernel_s: float | None = None
    span_launches: int | None = None
    program_status: int | None = None
    runs: list[Run] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the file."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
