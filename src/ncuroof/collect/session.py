"""One collection from beginning to end: prepare, plan, run ncu once or twice, keep what is done."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ncuroof import __version__
from ncuroof.collect import availability, command, gpu, hints, permission, planning, process, tiers, verdict
from ncuroof.collect import ncu as tool
from ncuroof.collect.messages import Transcript
from ncuroof.collect.sidecar import Run, Sidecar
from ncuroof.errors import CollectError, UsageError
from ncuroof.program_time import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncuroof.collect.availability import Availability
    from ncuroof.collect.command import Filters, Modes
    from ncuroof.collect.gpu import Gpu
    from ncuroof.collect.ncu import Ncu
    from ncuroof.collect.tiers import Request

PLANS = ("none", "wall", "kernels")
CACHE_CHOICES = ("cold", "warm", "both")
TABLES = (".csv", ".parquet")
"""What is written after the report, from what could be read of it."""


class Talk(Protocol):
    """Where a collection tells the user what happens; everything goes to standard error."""

    def note(self, text: str) -> None:
        """Say something worth knowing."""

    def warn(self, text: str) -> None:
        """Say something that may spoil the result."""

    def program(self, line: str) -> None:
        """Hand on a line of the program."""

    def progress(self, done: int, total: int | None, what: str) -> None:
        """Show how far it is."""


@dataclass(frozen=True)
class Options:
    """What the user asked for.

    Attributes:
        program: command to run.
        output: path without suffix; every file is named after it.
        tier: see :func:`ncuroof.collect.tiers.tiers`.
        tensor: tensor types to count; None finds out.
        cache: cold, warm or both.
        replay: kernel or application; None chooses.
        extra: further words for ncu.
        plan: none, wall (one unprofiled run) or kernels (and one with durations alone); None chooses.
        timeout: seconds for each run; None for no limit.
        ncu, cc: the tool and the compute capability, where they should not be detected.
        force: overwrite files, and run even where counters seem refused.
    """

    program: tuple[str, ...]
    output: Path
    tier: str = "roofline"
    tensor: tuple[str, ...] | None = None
    cache: str = "cold"
    clock: str = "none"
    replay: str | None = None
    graph: str | None = None
    filters: Filters = field(default_factory=command.Filters)
    extra: tuple[str, ...] = ()
    plan: str | None = None
    timeout: float | None = None
    grace: float = process.GRACE_SECONDS
    ncu: Path | None = None
    cc: str | None = None
    force: bool = False


@dataclass(frozen=True)
class Bench:
    """What was found on this machine."""

    ncu: Ncu
    gpu: Gpu | None
    cc: str | None
    available: Availability
    permission: permission.Permission


@dataclass(frozen=True)
class Step:
    """One run under ncu, ready to go."""

    cache: str
    wanted: Request
    modes: Modes
    report: Path
    words: tuple[str, ...]


@dataclass(frozen=True)
class Collected:
    """What came out: reports that exist, what is beside them, the exit status, and why it is not 0."""

    reports: tuple[Path, ...]
    sidecar: Sidecar
    status: int
    trouble: str = ""


def prepare(
    options: Options, environment: Mapping[str, str], *, root: Path = Path("/"), on_paper: bool = False
) -> Bench:
    """Find ncu and the GPU, and ask whether counters are allowed. Runs nothing of the user's.

    Args:
        options: what the user asked for.
        environment: environment variables.
        root: the root of the file system, or a folder that stands for it.
        on_paper: nothing will be run under ncu, so that none is needed: the shipped tables answer in its place.

    Raises:
        CollectError: if there is no ncu, or counters are refused for certain.
        UsageError: for options that do not fit together.
    """
    if not options.program:
        msg = "say what to run: ncuroof collect [OPTIONS] -- COMMAND"
        raise UsageError(msg)
    if options.cache not in CACHE_CHOICES:
        msg = f"--cache {options.cache}: choose {', '.join(CACHE_CHOICES)}"
        raise UsageError(msg)
    if options.plan not in (None, *PLANS):
        msg = f"--plan {options.plan}: choose {', '.join(PLANS)}"
        raise UsageError(msg)
    tiers.check(options.tier, options.tensor or ())
    if options.cc is not None and not re.fullmatch(r"\d+\.\d", options.cc):
        msg = f"--cc {options.cc}: expected a compute capability such as 9.0"
        raise UsageError(msg)
    try:
        ncu = asked = tool.find(environment, explicit=options.ncu, root=root)
    except tool.NcuMissingError:
        if not on_paper:
            raise
        ncu, asked = tool.imagined(), None
    allowed = permission.check(environment, root=root)
    gpus = gpu.detect()
    first = gpus[0] if gpus else None
    cc = options.cc or (first.cc if first else None)
    available, answer = availability.of(asked, cc, first.name if first else None, here=options.cc is None)
    if answer and first is None:
        first = next(iter(gpu.from_query(answer)), None)
        cc = cc or (first.cc if first else None)
    return Bench(ncu, first, cc, available, allowed)


def refuse(bench: Bench, options: Options) -> None:
    """Stop before anything is run if it cannot succeed.

    Raises:
        CollectError: if counters are refused for certain.
        UsageError: if files would be overwritten.
    """
    if bench.permission.state == permission.BLOCKED and not options.force:
        msg = (
            "performance counters are refused on this machine, so ncu would measure nothing:\n"
            f"{bench.permission.explain()}\nUse --force to try all the same."
        )
        raise CollectError(msg)
    taken = [path.name for path in _outputs(options) if path.exists()]
    if taken and not options.force and not _left_by_a_failure(options):
        msg = f"{taken[0]} exists; choose another --output, or --force to overwrite"
        raise UsageError(msg)
    if "%" in str(options.output):
        msg = f"--output {options.output.name}: ncu reads % in a file name as a placeholder; choose a name without"
        raise UsageError(msg)
    folder = options.output.parent
    if not folder.is_dir():
        msg = f"the folder of --output does not exist: {folder.name}"
        raise UsageError(msg)


def steps(bench: Bench, options: Options, tensor: Sequence[str]) -> list[Step]:
    """Return the runs under ncu: one, or for ``both`` a cold one of the tier and a warm one of a single pass.

    Raises:
        UsageError: for options that this ncu does not have.
    """
    planned = []
    for cache in ("cold", "warm") if options.cache == "both" else (options.cache,):
        # The second run of "both" is there for bytes and time with the caches as the program leaves them.
        tier = "bytes" if options.cache == "both" and cache == "warm" else options.tier
        wanted = tiers.request(tier, bench.available, bench.cc, tensor)
        replay = options.replay or ("kernel" if cache == "cold" else tiers.warm_replay(wanted.passes))
        modes = command.Modes(cache, options.clock, replay, options.graph)
        suffix = f".{cache}.ncu-rep" if options.cache == "both" else ".ncu-rep"
        report = _named(options.output, suffix)
        words = command.build(
            bench.ncu,
            wanted,
            filters=options.filters,
            modes=modes,
            output=report,
            program=options.program,
            extra=options.extra,
        )
        planned.append(Step(cache, wanted, modes, report, tuple(words)))
    return planned


def run(  # noqa: PLR0917
    planned: Sequence[Step],
    bench: Bench,
    options: Options,
    known: planning.Plan,
    environment: Mapping[str, str],
    talk: Talk,
) -> Collected:
    """Run ncu for every step; what is done is kept whatever happens to the rest."""
    sidecar = Sidecar(
        __version__,
        str(bench.ncu.version) if bench.ncu.version else None,
        gpu=bench.gpu.name if bench.gpu else None,
        cc=bench.cc,
        wall_s=known.wall_s,
    )
    if known.kernels is not None:
        sidecar.kernel_s = float(known.kernels["duration_s"].sum())
        sidecar.launches = known.kernels.height
        span = hints.annotated_span(known.kernels)
        if known.span_s is not None and span is not None:
            sidecar.span_s = known.span_s
            sidecar.span_kernel_s, sidecar.span_launches = float(span["duration_s"].sum()), span.height
    reports: list[Path] = []
    status, trouble = 0, ""
    for step in planned:
        step.report.unlink(missing_ok=True)
        talk.note(f"profiling, {step.cache} caches: {planning.describe(step, known.matching)}")
        transcript = Transcript()
        outcome = planning.watched(step.words, options, environment, talk, transcript, known.matching)
        if not transcript.kernels and transcript.fatal() is not None:
            step.report.unlink(missing_ok=True)  # nothing is in it, and it would stop the next collection
        if step.report.is_file():
            reports.append(step.report)
        status, trouble, ended = verdict.judge(outcome, transcript, step.report, environment)
        sidecar.runs.append(_record(step, options, transcript, outcome, ended))
        sidecar.program_status = transcript.program_status or 0
        for thought in verdict.second_thoughts(step, transcript):
            talk.warn(thought)
        if status:
            break
    if reports:
        sidecar.write(_named(options.output, SUFFIX))
    return Collected(tuple(reports), sidecar, status, trouble)


def _record(step: Step, options: Options, transcript: Transcript, outcome: process.Outcome, ended: str) -> Run:
    return Run(
        report=step.report.name,
        tier=step.wanted.tier,
        cache=step.cache,
        clock=options.clock,
        replay=step.modes.replay,
        metrics=step.wanted.metrics,
        missing=step.wanted.missing,
        passes_estimated=step.wanted.passes,
        passes_seen=transcript.passes,
        kernels=transcript.kernels,
        seconds=round(outcome.seconds, 3),
        ended=ended,
    )


def _named(output: Path, suffix: str) -> Path:
    return output.with_name(output.name + suffix)


def _left_by_a_failure(options: Options) -> bool:
    """Whether the files are those of a collection that failed: its side file is there, its tables are not.

    The tables are written last, and whenever there is a report to make them from.
    """
    return _named(options.output, SUFFIX).exists() and not any(
        _named(options.output, suffix).exists() for suffix in TABLES
    )


def _outputs(options: Options) -> list[Path]:
    reports = (".cold.ncu-rep", ".warm.ncu-rep") if options.cache == "both" else (".ncu-rep",)
    return [_named(options.output, suffix) for suffix in (*reports, *TABLES, SUFFIX)]
