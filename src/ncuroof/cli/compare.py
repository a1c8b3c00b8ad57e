"""``ncuroof compare``: what changed between two profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncuroof.cli._options import Annotations, Color, ConfigFile, Quiet

NAME = "compare"
ORDER = 40

Repeated = list[str] | None


def command(
    base: Annotated[
        str, typer.Argument(help="What it was: a report, folder, glob, tables, or the name of a baseline.")
    ],
    head: Annotated[str, typer.Argument(help="What it is now: a report, folder, glob or tables.")],
    output_format: Annotated[str, typer.Option("--format", "-f", help="text, json, markdown or github.")] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")] = None,
    fail_on: Annotated[
        Repeated,
        typer.Option(
            help="Exit with 1 on a regression (regression), or on new findings of a severity, a rule (R007) or a "
            "prefix (R, without notes)."
        ),
    ] = None,
    accept: Annotated[
        Repeated, typer.Option(help="Compare although this differs: gpu, clock-mode, clock, ncu-version, counters ...")
    ] = None,
    select: Annotated[Repeated, typer.Option(help="Rules to run: codes, prefixes or names.")] = None,
    extend_select: Annotated[Repeated, typer.Option(help="More rules, on top of the selected ones.")] = None,
    ignore: Annotated[Repeated, typer.Option(help="Rules not to run.")] = None,
    annotations: Annotations = None,
    config: ConfigFile = None,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Where baselines are (default .ncuroof/baselines).")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Most entries of a list; 0 shows all.")] = None,
    color: Color = "auto",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also list what did not change.")] = False,
    quiet: Quiet = False,
) -> int:
    """Compare two profiles kernel by kernel: improved, regressed, indistinguishable or not comparable, and why.

    Kernels are matched by name, grid and block, annotation and order of launch. A change counts where it exceeds the
    spread of repeated launches. Exit status: 0 done, 1 --fail-on reached, 2 unusable input, or nothing comparable
    though --fail-on was given.
    """
    from ncuroof import baseline, gate, outputs, pipeline, reporters
    from ncuroof import compare as comparing
    from ncuroof import config as configuration
    from ncuroof.cli import _analysis
    from ncuroof.compare import formats

    outputs.check([output], [base, head])
    chosen_format = formats.choose(output_format)
    wants_color = _analysis.wants_color(color)
    chosen = configuration.load(config).with_options(
        select=_analysis.split(select),
        extend_select=_analysis.split(extend_select),
        ignore=_analysis.split(ignore),
    )
    failing = _analysis.split(fail_on)
    gate.check(failing, compares=True)
    accepted = _analysis.split(accept)
    comparing.check_accepted(accepted)
    options = pipeline.LoadOptions(annotations=annotations)
    was = pipeline.analyze(baseline.load(base, folder or baseline.HOME, options), chosen)
    if not quiet:
        _analysis.tell(was.dataset.notes)
    now, status = _analysis.analysed([head], chosen, options, quiet=quiet)
    comparison = comparing.compare(was, now, accepted)
    render = reporters.RenderOptions(
        width=_analysis.width(), color=output is None and wants_color, verbose=verbose, limit=limit
    )
    text = chosen_format.render(comparison, render)
    if output is None:
        typer.echo(text, nl=False)
    else:
        outputs.write(output, text)
    decision = gate.decide_comparison(comparison, failing)
    if decision.reason and not quiet:
        typer.echo(f"ncuroof: {decision.reason}", err=True)
    return status or decision.status
