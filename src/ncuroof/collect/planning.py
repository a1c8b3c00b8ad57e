"""What is known before anything is profiled: the unprofiled run, the kernel list, warnings and an estimate."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ncuroof.annotate import SPAN_VARIABLE
from ncuroof.collect import command, hints, process, tiers, verdict
from ncuroof.collect.messages import Transcript
from ncuroof.errors import CollectError, NcuroofError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from ncuroof.collect.session import Bench, Options, Step, Talk

COLLECT_VARIABLE = "NCUROOF_COLLECT"
"""Set for the program in every run, so that a benchmark can launch each point once."""
COLLECTIVE_ADVICE = (
    "replaying a collective on one GPU while the others wait can deadlock. Leave such kernels out (--kernel-name "
    "'regex:^(?!nccl)'), profile one process alone, or use ncu's lockstep options (--ncu-arg); and set --timeout."
)
PASS_SECONDS = 0.02
"""What a replay pass of a short kernel costs: saving, flushing, restoring. A guess for the estimate alone."""


@dataclass(frozen=True)
class Plan:
    """What the unprofiled run and the run with durations alone told.

    Attributes:
        wall_s: wall time of the unprofiled run.
        span_s: its time from the first annotated launch to the last; None without annotations.
        kernels: kernels table of the run with durations alone; None if there was none.
        matching: launches that the filters let through; None if unknown.
        ended: None, or the outcome that ended the collection (the program fails, was interrupted, took too long).
    """

    wall_s: float | None = None
    span_s: float | None = None
    kernels: pl.DataFrame | None = None
    matching: int | None = None
    ended: process.Outcome | None = None


def plan(bench: Bench, options: Options, environment: Mapping[str, str], talk: Talk) -> Plan:
    """Run the program without a profiler, then with durations alone, as far as the options ask for it."""
    depth = options.plan or "kernels"
    if depth == "none":
        return Plan()
    talk.note("running the program without a profiler")
    with tempfile.TemporaryDirectory(prefix="ncuroof-") as folder:
        span = Path(folder) / "span"
        plain = process.run(
            options.program,
            environment={**environment, COLLECT_VARIABLE: "1", SPAN_VARIABLE: str(span)},
            line=talk.program,
            timeout=options.timeout,
            grace=options.grace,
        )
        if plain.status or plain.timed_out or plain.interrupted:
            return Plan(ended=plain)
        known = Plan(plain.seconds, _number(span))
    return known if depth == "wall" else _durations(bench, options, environment, talk, known)


def _number(file: Path) -> float | None:
    try:
        return float(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _durations(bench: Bench, options: Options, environment: Mapping[str, str], talk: Talk, known: Plan) -> Plan:
    from ncuroof.collect import export  # noqa: PLC0415  needs polars; a dry run does not

    talk.note("listing the kernels: a run with durations alone, one pass")
    with tempfile.TemporaryDirectory(prefix="ncuroof-") as folder:
        report = Path(folder) / "durations.ncu-rep"
        words = command.build(
            bench.ncu,
            tiers.request("time", bench.available, bench.cc),
            filters=replace(options.filters, kernel_name=None, launch_skip=None, launch_count=None, nvtx_include=()),
            modes=command.Modes("warm", "none", "kernel", options.graph),
            output=report,
            program=options.program,
        )
        transcript = Transcript()
        outcome = watched(words, options, environment, talk, transcript, None)
        if outcome.interrupted or outcome.timed_out:
            return replace(known, ended=outcome)
        trouble = transcript.fatal()
        if trouble is not None:
            raise CollectError(verdict.explain(transcript, environment))
        try:
            kernels = export.kernels_of(report)
        except NcuroofError:
            talk.warn("the run with durations alone gave no kernel; going on without a kernel list")
            return known
    return replace(known, kernels=kernels, matching=hints.count(kernels, options.filters))


def warn_before(options: Options, environment: Mapping[str, str], talk: Talk) -> None:
    """Warn of what can be seen before the program has run: several processes that may wait for each other."""
    sign = hints.several_processes(environment, options.program)
    if sign:
        talk.warn(f"several processes ({sign}): {COLLECTIVE_ADVICE}")


def warn_after(known: Plan, environment: Mapping[str, str], talk: Talk) -> None:
    """Warn of kernels in the list whose profile can deadlock or mislead."""
    if known.kernels is None:
        return
    names = hints.collectives(known.kernels)
    if names:
        talk.warn(f"kernels that communicate between GPUs ({', '.join(names[:3])}): {COLLECTIVE_ADVICE}")
    tuning = hints.autotuning(known.kernels, environment)
    if tuning:
        talk.warn(
            f"this looks like autotuning inside the profiled range ({tuning}): its trial launches are profiled too, "
            "and under a profiler it may choose differently. Warm up before the annotated range, and use --annotated."
        )


def describe(step: Step, matching: int | None) -> str:
    """Return a line on what a step will do: passes, kernels, replay."""
    passes = "unknown passes" if step.wanted.passes is None else f"about {_count(step.wanted.passes, 'pass', 'passes')}"
    kernels = "kernels" if matching is None else _count(matching, "kernel", "kernels")
    return f"tier {step.wanted.tier}, {passes} × {kernels}, {step.modes.replay} replay, clocks {step.modes.clock}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def heaviest(kernels: pl.DataFrame, most: int = 10) -> list[tuple[int, float, str]]:
    """Return the kernels that take the most time: launches, seconds together, name."""
    import polars as pl  # noqa: PLC0415  a dry run without a kernel list does not need it

    named = kernels.group_by(pl.col("kernel_name").fill_null("(unnamed)"))
    table = named.agg(pl.len().alias("launches"), pl.col("duration_s").sum()).sort("duration_s", descending=True)
    return [(row[1], row[2], row[0]) for row in table.head(most).iter_rows()]


def estimate(step: Step, known: Plan) -> float | None:
    """Return a rough guess at the seconds a step takes; None where too little is known."""
    if step.wanted.passes is None or known.wall_s is None:
        return None
    if step.modes.replay == "application":
        return known.wall_s * step.wanted.passes
    if known.matching is None:
        return None
    return known.wall_s + known.matching * step.wanted.passes * PASS_SECONDS


def watched(  # noqa: PLR0917
    words: Sequence[str],
    options: Options,
    environment: Mapping[str, str],
    talk: Talk,
    transcript: Transcript,
    total: int | None,
) -> process.Outcome:
    """Run ncu, sorting its words from the program's, and show how far it is."""

    def take(line: str) -> None:
        if not transcript.take(line):
            talk.program(line)
        talk.progress(transcript.kernels, total, transcript.last_kernel)

    return process.run(
        words,
        environment={**environment, COLLECT_VARIABLE: "1"},
        line=take,
        timeout=options.timeout,
        grace=options.grace,
    )
