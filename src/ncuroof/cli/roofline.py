"""``ncuroof roofline``: the picture alone, as HTML, SVG or PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncuroof.cli._options import Annotations, ConfigFile, Gpu, NumberFormat, Quiet, Reader, Roof, Roofs

NAME = "roofline"
ORDER = 30


def command(
    files: Annotated[
        list[str], typer.Argument(help="Reports, CSV, logs, tables, folders or globs; - for standard input.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; its suffix decides: .html, .svg or .png.")
    ] = Path("roofline.html"),
    only_gpu: Annotated[
        str | None, typer.Option(help="Only kernels of the GPU whose name contains this (.svg and .png show one GPU).")
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    roof: Roof = None,
    roofs: Roofs = None,
    annotations: Annotations = None,
    gpu: Gpu = None,
    number_format: NumberFormat = None,
    reader: Reader = None,
    config: ConfigFile = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Most kernels and findings to list; 0 lists all.")] = None,
    quiet: Quiet = False,
) -> int:
    """Draw the kernels under their roofs.

    The HTML page holds everything it needs and asks no network. Exit status: 0 written, 2 an input or the output
    could not be used.
    """
    suffix = output.suffix.lower()
    if suffix not in {".html", ".htm", ".svg", ".png"}:
        from ncuroof.errors import UsageError

        msg = f"--output {output.name}: the suffix must be .html, .svg or .png"
        raise UsageError(msg)
    from ncuroof import config as configuration
    from ncuroof import outputs, pipeline, reporters
    from ncuroof.cli import _analysis
    from ncuroof.reporters import _drawings

    outputs.check([output], files)

    chosen = configuration.load(config).with_options(roofs_file=roofs, roof=roof)
    options = pipeline.LoadOptions(reader=reader, annotations=annotations, gpu=gpu, number_format=number_format)
    analysis, status = _analysis.analysed(files, chosen, options, quiet=quiet)
    if only_gpu is not None:
        analysis = _drawings.only_gpu(analysis, only_gpu)
    content: str | bytes
    if suffix in {".html", ".htm"}:
        render = reporters.RenderOptions(limit=limit, title=title, rules=_analysis.rule_texts())
        content = reporters.choose("html").render(analysis, render)
        told = ""
    else:
        drawing, others = _drawings.first(analysis)
        content = _drawings.svg(drawing) if suffix == ".svg" else _drawings.png(drawing)
        told = f"; {len(others)} more with --only-gpu: {', '.join(others)}" if others else ""
    outputs.write(output, content)
    if not quiet:
        typer.echo(f"wrote {output.name}{told}", err=True)
    return status
