"""``ncuroof collect``: run a program under Nsight Compute with the right counters, and analyse what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.collect.planning import Plan
    from ncuroof.collect.session import Bench, Options, Step

NAME = "collect"
ORDER = 60
CONTEXT_SETTINGS = {"allow_interspersed_args": False, "help_option_names": ["-h", "--help"]}
"""What follows the program's name is the program's, with or without ``--``."""


def command(
    program: Annotated[list[str], typer.Argument(metavar="-- COMMAND", help="The program to profile, with arguments.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Path without suffix; every file is named after it.")
    ] = Path("ncuroof-report"),
    tier: Annotated[str, typer.Option(help="bytes, roofline, rules or full: how much to measure.")] = "roofline",
    tensor: Annotated[
        str, typer.Option(help="Tensor types to count (fp16,bf16 ...), all, none, or auto to find out.")
    ] = "auto",
    cache: Annotated[
        str, typer.Option(help="cold (flushed before every pass), warm (as the program leaves them) or both.")
    ] = "cold",
    clock: Annotated[
        str, typer.Option(help="none (as the program runs), base (locked), boost or force-boost (recent ncu).")
    ] = "none",
    replay: Annotated[
        str | None, typer.Option(help="kernel or application; chosen by cache and passes if not given.")
    ] = None,
    kernel_name: Annotated[str | None, typer.Option("--kernel-name", "-k", help="A name, or regex:EXPRESSION.")] = None,
    kernel_name_base: Annotated[str | None, typer.Option(help="function, demangled or mangled.")] = None,
    launch_skip: Annotated[int | None, typer.Option("--launch-skip", "-s", min=0, help="Launches to skip.")] = None,
    launch_count: Annotated[
        int | None, typer.Option("--launch-count", "-c", min=1, help="Launches to profile at most.")
    ] = None,
    nvtx_include: Annotated[list[str] | None, typer.Option(help="NVTX expression to profile.")] = None,
    nvtx_exclude: Annotated[list[str] | None, typer.Option(help="NVTX expression to leave out.")] = None,
    annotated: Annotated[bool, typer.Option("--annotated", help="Profile annotated launches only.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for cudaProfilerStart before profiling.")] = False,
    graph: Annotated[str | None, typer.Option(help="CUDA graphs: node (each kernel) or graph (as a whole).")] = None,
    ncu_arg: Annotated[list[str] | None, typer.Option(help="A further word for ncu, as --ncu-arg=--option.")] = None,
    plan: Annotated[
        str | None,
        typer.Option(help="Runs before profiling: none, wall (unprofiled) or kernels (and durations alone)."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be run; run nothing.")] = False,
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Time limit of each run in seconds.")] = None,
    ncu: Annotated[Path | None, typer.Option(help="The ncu executable to use.")] = None,
    cc: Annotated[str | None, typer.Option(help="Compute capability such as 9.0, instead of the detected one.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files; run even where counters seem refused.")
    ] = False,
    output_format: Annotated[str, typer.Option("--format", "-f", help="Format of the analysis.")] = "text",
    analyse: Annotated[bool, typer.Option("--analyze/--no-analyze", help="Print the analysis.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")] = False,
) -> int:
    """Run a program under ncu with the counters an analysis needs.

    Writes OUTPUT.ncu-rep, .csv, .parquet and .collect.json, and prints the analysis. Exit status: that
    of the program if it fails, 130 after Ctrl-C, 124 at the time limit (what is done is kept), 2 if ncu cannot measure.
    """
    import os

    from ncuroof import reporters
    from ncuroof.cli import printable
    from ncuroof.collect import command as commands
    from ncuroof.collect import planning, session, tiers
    from ncuroof.collect.terminal import Terminal

    include = (*(nvtx_include or ()), *((commands.ANNOTATED,) if annotated else ()))
    options = session.Options(
        tuple(program),
        output,
        tier,
        _tensor(tensor),
        cache,
        clock,
        replay,
        graph,
        commands.Filters(
            kernel_name,
            kernel_name_base,
            launch_skip,
            launch_count,
            include,
            tuple(nvtx_exclude or ()),
            not wait,
        ),
        extra=tuple(ncu_arg or ()),
        plan=plan or ("none" if dry_run else None),
        timeout=timeout,
        ncu=ncu,
        cc=cc,
        force=force,
    )
    reporters.choose(output_format)
    talk = Terminal(quiet=quiet)
    environment = dict(os.environ)
    bench = session.prepare(options, environment, on_paper=dry_run and options.plan in {"none", "wall"})
    if bench.ncu.note:
        talk.note(bench.ncu.note)
    # The command line is checked before anything is run; which tensor types to count may still change.
    planned = session.steps(bench, options, options.tensor or tiers.COMMON_TYPES)
    if not dry_run or options.plan != "none":
        session.refuse(bench, options)
        planning.warn_before(options, environment, talk)
    known = planning.plan(bench, options, environment, talk)
    if known.ended is not None:
        return _unprofiled(known)
    planning.warn_after(known, environment, talk)
    if options.tensor is None and known.kernels is not None:
        from ncuroof.collect import hints

        planned = session.steps(bench, options, hints.types_used(known.kernels))
    if dry_run:
        _show(bench, planned, known)
        if options.tensor is None and known.kernels is None:
            _show_one_type(planned, session.steps(bench, options, tiers.COMMON_TYPES[:1]))
        return 0
    for step in planned:
        if step.wanted.missing:
            talk.note(f"not on this GPU, left out: {', '.join(step.wanted.missing)}")
    done = session.run(planned, bench, options, known, environment, talk)
    talk.clear()
    if done.trouble:
        typer.echo(f"error: {printable(done.trouble)}", err=True)
    if not done.reports:
        return done.status
    finished = _finish(done.reports, options, output_format if analyse else None)
    return done.status or finished


def _tensor(text: str) -> tuple[str, ...] | None:
    """Tensor types from the option; None to find out."""
    from ncuroof.collect import tiers

    if text == "auto":
        return None
    if text == "all":
        return tiers.tensor_types()
    return () if text == "none" else tuple(part.strip() for part in text.split(",") if part.strip())


def _unprofiled(known: Plan) -> int:
    """Say why nothing was profiled after the runs that come before, and return the status."""
    from ncuroof.collect import verdict

    ended = known.ended
    assert ended is not None  # noqa: S101  the caller has looked
    if ended.interrupted:
        typer.echo("error: interrupted before anything was profiled", err=True)
        return verdict.INTERRUPTED
    if ended.timed_out:
        typer.echo(
            f"error: the program did not end within {ended.seconds:.0f} s, and it takes longer under a profiler. Raise "
            "--timeout or make it shorter.",
            err=True,
        )
        return verdict.TIMED_OUT
    typer.echo(
        f"error: the program ends with exit status {ended.status} without a profiler; nothing was profiled", err=True
    )
    return ended.status


def _show(bench: Bench, planned: Sequence[Step], known: Plan) -> None:
    """Print the dry run."""
    import shlex

    from ncuroof.cli import printable
    from ncuroof.collect import planning
    from ncuroof.collect.command import default_clock

    version = bench.ncu.version or "of unknown version"
    gpu = bench.gpu.name if bench.gpu else "no GPU found here"
    typer.echo(f"ncu {version} ({bench.ncu.how}); {gpu}, CC {bench.cc or 'unknown'}; {bench.available.source}")
    clock = default_clock(bench.ncu.driven_as) or "unknown"
    typer.echo(f"counters: {bench.permission.state}; ncu's own clock default: {clock}")
    for step in planned:
        typer.echo(f"\n{step.cache} caches: {planning.describe(step, known.matching)}")
        if step.wanted.missing:
            typer.echo(f"left out, not on this GPU: {', '.join(step.wanted.missing)}")
        seconds = planning.estimate(step, known)
        if seconds is None:
            typer.echo("estimate: needs the kernel list (--dry-run --plan kernels runs the program twice for it)")
        else:
            typer.echo(f"estimate: about {seconds:.0f} s, a rough guess")
        typer.echo(shlex.join(step.words))
    if known.kernels is not None:
        typer.echo("\nkernels of the program, most time first:")
        for launches, seconds, name in planning.heaviest(known.kernels):
            typer.echo(printable(f"  {1e6 * seconds:>10.1f} µs  {launches:>6} x  {name}"))


def _show_one_type(planned: Sequence[Step], one: Sequence[Step]) -> None:
    """Say how many passes fewer it would be if the program's tensor type were known."""
    from ncuroof.collect import tiers

    for step, less in zip(planned, one, strict=True):
        if (
            step.wanted.passes is not None
            and less.wanted.passes is not None
            and step.wanted.passes > less.wanted.passes
        ):
            typer.echo(
                f"\n{step.cache} caches: {', '.join(tiers.COMMON_TYPES)} are counted, as the program's tensor type is "
                f"not known; --tensor {tiers.COMMON_TYPES[0]} alone would take about {less.wanted.passes} passes"
            )


def _finish(reports: Sequence[Path], options: Options, output_format: str | None) -> int:
    """Write the tables, print the analysis; 2 if a report cannot be read after all."""
    from ncuroof import config, reporters
    from ncuroof.cli import _analysis, printable
    from ncuroof.collect import export
    from ncuroof.errors import InputError

    name = options.output.name
    parquet, csv = (options.output.with_name(name + suffix) for suffix in (".parquet", ".csv"))
    try:
        kernels = export.write_tables(reports, parquet, csv)
        analysis = export.analyse(reports, config.load(None))
    except InputError as error:
        typer.echo(f"error: {printable(str(error))}", err=True)
        return error.exit_code
    files = ", ".join([*(report.name for report in reports), csv.name, parquet.name])
    typer.echo(f"{kernels.height} kernel{'s' * (kernels.height != 1)} written to {files}", err=True)
    if output_format is not None:
        render = reporters.RenderOptions(
            width=_analysis.width(), color=_analysis.wants_color("auto"), rules=_analysis.rule_texts()
        )
        typer.echo(reporters.choose(output_format).render(analysis, render), nl=False)
    return 0
