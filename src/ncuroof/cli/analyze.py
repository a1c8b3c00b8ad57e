"""``ncuroof analyze``: what is wrong with the kernels of any number of reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncuroof.cli._options import Annotations, Color, ConfigFile, Gpu, NumberFormat, Quiet, Reader, Roof, Roofs

NAME = "analyze"
ORDER = 20

Repeated = list[str] | None


def command(
    files: Annotated[
        list[str], typer.Argument(help="Reports, CSV, logs, tables, folders or globs; - for standard input.")
    ],
    output_format: Annotated[
        str, typer.Option("--format", "-f", envvar="NCUROOF_FORMAT", help="Output format (text, json, sarif ...).")
    ] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write the roofline as one HTML file.")] = None,
    select: Annotated[Repeated, typer.Option(help="Rules to run: codes, prefixes or names.")] = None,
    extend_select: Annotated[Repeated, typer.Option(help="More rules, on top of the selected ones.")] = None,
    ignore: Annotated[Repeated, typer.Option(help="Rules not to run.")] = None,
    fail_on: Annotated[
        Repeated,
        typer.Option(
            help="Exit with 1 on findings of this severity or above, of this rule (R007) or prefix (R, without notes), "
            "or on a regression."
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Show and count only what is new since this baseline (a name, or a path).")
    ] = None,
    nsight: Annotated[
        str | None, typer.Option(help="Nsight's own findings: merge (into ours), show (all of them) or hide.")
    ] = None,
    roof: Roof = None,
    roofs: Roofs = None,
    annotations: Annotations = None,
    gpu: Gpu = None,
    number_format: NumberFormat = None,
    reader: Reader = None,
    config: ConfigFile = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Most kernels and findings to show; 0 shows all.")] = None,
    color: Color = "auto",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also say what could not be judged.")] = False,
    quiet: Quiet = False,
) -> int:
    """Place every kernel under its own roof and list what is wrong, most time at stake first.

    With --baseline, findings that were there before are hidden and do not count for --fail-on, and --fail-on regression
    looks for kernels that became slower.

    Exit status: 0 done, 1 --fail-on reached, 2 an input could not be used.
    """
    from ncuroof import config as configuration
    from ncuroof import gate, outputs, pipeline, reporters
    from ncuroof.cli import _analysis

    outputs.check([output, html], files)
    reporter = reporters.choose(output_format)
    wants_color = _analysis.wants_color(color)
    chosen = configuration.load(config).with_options(
        select=_analysis.split(select),
        extend_select=_analysis.split(extend_select),
        ignore=_analysis.split(ignore),
        fail_on=_analysis.split(fail_on),
        roofs_file=roofs,
        roof=roof,
        nsight=nsight,
    )
    gate.check(chosen.fail_on, compares=baseline is not None)
    options = pipeline.LoadOptions(reader=reader, annotations=annotations, gpu=gpu, number_format=number_format)
    analysis, status = _analysis.analysed(files, chosen, options, quiet=quiet)
    comparison = None
    if baseline is not None:
        comparison = _analysis.compared(analysis, baseline, chosen, options)
        analysis = comparison.without_known(baseline)
    render = reporters.RenderOptions(
        width=_analysis.width(),
        color=output is None and wants_color,
        verbose=verbose,
        limit=limit,
        rules=_analysis.rule_texts(),
    )
    text = reporter.render(analysis, render)
    if html is not None:
        outputs.write(html, reporters.choose("html").render(analysis, render))
    if output is None:
        typer.echo(text, nl=False)
    else:
        outputs.write(output, text)
    decision = gate.decide(analysis, chosen.fail_on, comparison)
    if decision.reason and not quiet:
        typer.echo(f"ncuroof: {decision.reason}", err=True)
    return status or decision.status
