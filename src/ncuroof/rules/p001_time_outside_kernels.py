"""P001 time-outside-kernels: the program spends a good part of its wall time outside kernels.

What it does
    Compares the wall time of the unprofiled program with the sum of its kernels' durations.

Why it matters
    A roofline says how long kernels must take. Where most of the time passes between them, faster kernels change
    little: the time goes into issuing launches one by one, the interpreter, input, and waiting.

How it decides
    At least 10 % of the wall time lies outside kernels. No report holds that time, since profiling serialises kernels
    and stretches the program: `ncuroof collect` measures it in a run of its own and keeps it in a file beside the
    report (NAME.collect.json), which `ncuroof analyze` reads when it is given that one report. Without that file the
    rule says nothing.
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

from ncuroof.rules import Limit
from ncuroof.rules._findings import none

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "P001"
NAME = "time-outside-kernels"
SEVERITY = "info"
NEEDS: tuple[str | tuple[str, ...], ...] = ()
TIER = "roofline"
LIMITS = {
    "share": Limit(0.10, "1", "of the wall time; less is not worth a finding", "judgement"),
}


def applies() -> pl.Expr:
    """No kernel: the finding is about the program, and is added where its wall time is known."""
    return pl.repeat(value=False, n=pl.len())


def check(_kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """Nothing: no column of the kernels table holds the wall time; see the module's documentation."""
    return none()
