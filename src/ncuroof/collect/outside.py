"""Time outside kernels: wall time of the unprofiled program against the time its kernels take.

A roofline says how long a kernel must take; a program also spends time between kernels, issuing them one by one,
running its interpreter, waiting. Profiled runs cannot show it, since profiling serialises kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outside:
    """How a program's wall time divides.

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

    @property
    def outside_s(self) -> float:
        """Wall time that no kernel accounts for; 0 where kernels overlap so much that they sum to more."""
        return max(0.0, self.wall_s - self.kernel_s)

    @property
    def share(self) -> float:
        """Share of the wall time outside kernels, 0 to 1."""
        return self.outside_s / self.wall_s if self.wall_s > 0 else 0.0

    @property
    def per_launch_s(self) -> float | None:
        """Time outside kernels for each launch; None without launches."""
        return self.outside_s / self.launches if self.launches else None


def finding(
    measured: Outside | None, *, share: float | None = None, severity: str | None = None
) -> dict[str, Any] | None:
    """Return the finding (rule P001) as a row of the anomalies table; None where there is nothing to say.

    Args:
        measured: the times; None where they were not measured.
        share: least share of the wall time, 0 to 1; None for the rule's own.
        severity: one of :data:`ncuroof.tables.SEVERITIES`; None for the rule's own.

    Over the whole process its confidence is low, and it claims no time: the start of the process (imports, CUDA's
    initialisation, compiling) counts in, which a long-running program pays once.
    """
    from ncuroof.rules import p001_time_outside_kernels as rule  # noqa: PLC0415  needs polars; collecting does not

    least = rule.LIMITS["share"].value if share is None else share
    if measured is None or measured.share < least or measured.launches == 0:
        return None
    each = measured.per_launch_s or 0.0
    span = "from the first to the last annotated launch" if measured.annotated else "altogether, start-up included"
    caution = "" if measured.annotated else "Run longer, or annotate the launches that matter, to leave start-up out. "
    return {
        "code": rule.CODE,
        "name": rule.NAME,
        "severity": severity or rule.SEVERITY,
        "message": (
            f"unprofiled, the program takes {_time(measured.wall_s)} {span}; its {measured.launches} kernels take "
            f"{_time(measured.kernel_s)} of that: {100 * measured.share:.0f} % lies outside kernels, "
            f"{_time(each)} a launch"
        ),
        "advice": (
            f"{caution}Submit launches together (CUDA graphs, torch.compile, larger batches) and look at the gaps in a "
            "timeline (Nsight Systems, torch.profiler)."
        ),
        "time_at_stake_s": measured.outside_s if measured.annotated else None,
        "confidence": "medium" if measured.annotated else "low",
        "voice": "ncuroof",
        "evidence": [
            _evidence("wall time, unprofiled", measured.wall_s, measured.kernel_s, "s"),
            _evidence("time in kernels", measured.kernel_s, None, "s"),
            _evidence("launches", float(measured.launches), None, ""),
        ],
    }


def _evidence(metric: str, value: float, limit: float | None, unit: str) -> dict[str, Any]:
    return {"metric": metric, "value": value, "unit": unit, "limit": limit, "source": "collect"}


def _time(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
