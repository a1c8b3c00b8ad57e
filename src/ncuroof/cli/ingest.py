"""``ncuroof ingest``: reports into Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncuroof.cli._options import Gpu, NumberFormat, Reader

NAME = "ingest"
ORDER = 10


def command(
    files: Annotated[list[str], typer.Argument(help="Reports, CSV, logs, folders or globs; - for standard input.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the tables, or a .parquet file for the kernels table."),
    ] = None,
    gpu: Gpu = None,
    number_format: NumberFormat = None,
    reader: Reader = None,
    annotations: Annotated[
        Path | None, typer.Option(help="JSON-lines file with workload annotations (operation, shape, dtype).")
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="KERNEL", help="Write nothing; show how each quantity of this kernel was obtained."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave out inputs that cannot be used, write the others.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace tables that came from other reports.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No summary.")] = False,
) -> int:
    """Normalize reports to Parquet: tables kernels, metrics and nsight_rules.

    KERNEL of --explain is a part of the kernel's name, or its index in the report.

    Exit status: 0 done, 2 an input could not be used: then nothing is written, unless --keep-going leaves it out.
    (analyze goes on with the other inputs, and exits with 2 as well.) Tables that came from other reports are replaced
    with --force only.
    """
    from ncuroof import explaining, pipeline, replacing
    from ncuroof.cli import _analysis, one_line, printable
    from ncuroof.errors import EXIT_ERROR, EXIT_OK, InputError, UsageError

    options = pipeline.LoadOptions(reader=reader, annotations=annotations, gpu=gpu, number_format=number_format)
    if explain is not None:
        if output is not None:
            msg = "--explain writes nothing: leave out --output"
            raise UsageError(msg)
        if not explain.strip():
            msg = "--explain needs a part of a kernel's name, or its index in the report"
            raise UsageError(msg)
        typer.echo(printable(explaining.explain(files, explain, options)).rstrip("\n"))
        return EXIT_OK
    if output is None:
        msg = "say where to write: -o DIR, or -o FILE.parquet"
        raise UsageError(msg)
    if not force:
        replacing.check(files, output)
    unusable: list[InputError] | None = [] if keep_going else None
    dataset = pipeline.ingest(files, output, options, unusable=unusable)
    for error in unusable or ():
        typer.echo(f"error: {one_line(str(error))}", err=True)
    if not quiet:
        _analysis.tell(dataset.notes)
        reports, kernels = len(dataset.sources), dataset.kernels.height
        typer.echo(
            f"{reports} report{'s' * (reports != 1)}, {kernels} kernel{'s' * (kernels != 1)} written to {output.name}",
            err=True,
        )
    return EXIT_ERROR if unusable else EXIT_OK
