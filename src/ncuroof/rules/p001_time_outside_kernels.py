"""P001 time-outside-kernels: the program spends a good part of its wall time outside kernels.

What it does
    Compares the wall time of the unprofiled program with the sum of its kernels' durations.

Why it matters
    A roofline says how long kernels must take. Where most of the time passes between them, faster kernels change
    little: the time goes into issuing launches one by one, the interpreter, input, and waiting.

How it decides
    At least 10 % of the wall time lies outside kernels. No report holds that time, since profiling serialises kernels
    and stretches the program: `ncuroof collect` measures it in a run of its own and keeps it in a file beside the
    report (NAME.collect.json), from where it becomes columns of the kernels table. Without them the rule says nothing.
    With annotated launches the time runs from the first of them to the last, the confidence is medium, and the time
    outside is at stake. Otherwise it is that of the whole process, the confidence is low, and no time is claimed.

What to do
    Submit launches together (CUDA graphs, torch.compile, larger batches) and look at the gaps in a timeline (Nsight
    Systems, torch.profiler).

When it is wrong
    The time of a whole process holds imports, CUDA's initialisation and compiling, which a long-running program pays
    once. Kernels that overlap in streams sum to more than the time they take together: then it speaks too rarely.
    Copies between host and device are no kernels and count as time outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import tables
from ncuroof.quantity_text import si
from ncuroof.rules import Limit
from ncuroof.rules._findings import none, report_findings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CODE = "P001"
NAME = "time-outside-kernels"
SEVERITY = "info"
NEEDS: tuple[str | tuple[str, ...], ...] = ("program_wall_s", "program_kernel_s", "program_launches")
TIER = "roofline"
LIMITS = {
    "share": Limit(0.10, "1", "of the wall time; less is not worth a finding", "judgement"),
}


def applies() -> pl.Expr:
    """Kernels of programs whose wall time was measured."""
    return pl.col("program_wall_s").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One finding for each program; see the module's documentation. Reports of one program share its side file."""
    programs = kernels.unique([c.name for c in tables.PROGRAM], keep="first", maintain_order=True)
    outside = (pl.col("program_wall_s") - pl.col("program_kernel_s")).clip(lower_bound=0.0)
    hit = programs.with_columns(_outside=outside, _share=outside / pl.col("program_wall_s")).filter(
        (pl.col("program_launches") > 0) & (pl.col("_share") >= limits["share"])
    )
    return report_findings([_row(program) for program in hit.iter_rows(named=True)]) if hit.height else none()


def _row(program: Mapping[str, Any]) -> dict[str, Any]:
    annotated = bool(program["program_annotated"])
    launches = program["program_launches"]
    span = "from the first to the last annotated launch" if annotated else "altogether, start-up included"
    caution = "" if annotated else "Run longer, or annotate the launches that matter, to leave start-up out. "
    return {
        "source": program["source"],
        "source_sha256": program["source_sha256"],
        "message": (
            f"unprofiled, the program takes {si(program['program_wall_s'], 's')} {span}; its {launches} kernels take "
            f"{si(program['program_kernel_s'], 's')} of that: {100 * program['_share']:.0f} % lies outside kernels, "
            f"{si(program['_outside'] / launches, 's')} a launch"
        ),
        "advice": (
            f"{caution}Submit launches together (CUDA graphs, torch.compile, larger batches) and look at the gaps in a "
            "timeline (Nsight Systems, torch.profiler)."
        ),
        # Over the whole process the start counts in (imports, CUDA's initialisation), which a long run pays once.
        "time_at_stake_s": program["_outside"] if annotated else None,
        "confidence": "medium" if annotated else "low",
        "evidence": [
            _evidence("wall time, unprofiled", program["program_wall_s"], "s", program["program_kernel_s"]),
            _evidence("time in kernels", program["program_kernel_s"], "s"),
            _evidence("launches", float(launches), ""),
        ],
    }


def _evidence(metric: str, value: float, unit: str, limit: float | None = None) -> dict[str, Any]:
    return {"metric": metric, "value": value, "unit": unit, "limit": limit, "source": "collect"}
