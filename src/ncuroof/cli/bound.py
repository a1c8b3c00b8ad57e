"""``ncuroof bound``: work, bytes, roof and verdict of an operation, from its shape alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ncuroof.cli._options import Roofs

NAME = "bound"
ORDER = 55
# The sizes of an operation are its own: an operation with new ones needs no edit here.
CONTEXT_SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}


class Format(StrEnum):
    """Output formats."""

    TEXT = "text"
    JSON = "json"


def command(
    context: typer.Context,
    operation: Annotated[str | None, typer.Argument(help="gemm, triad, attention, decode ... (--list).")] = None,
    gpu: Annotated[list[str] | None, typer.Option(help="GPU, such as H100-SXM; several are compared.")] = None,
    path: Annotated[str | None, typer.Option(help="Compute path, if not that of the element type.")] = None,
    source: Annotated[str | None, typer.Option(help="Roofs only from: measured, device, datasheet or user.")] = None,
    roofs: Roofs = None,
    peak: Annotated[str | None, typer.Option(help="A machine of your own: compute peak, such as 60TFLOP/s.")] = None,
    bandwidth: Annotated[str | None, typer.Option(help="... and its bandwidth, such as 3.35TB/s.")] = None,
    intensity: Annotated[float | None, typer.Option(help="In place of an operation: FLOP/byte.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the operations, their sizes and formulas.")] = False,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TEXT,
) -> int:
    """What a GPU allows an operation: W, Q, intensity, bound, attainable throughput, verdict.

    Sizes are options of the operation (ncuroof bound --list):

    ncuroof bound gemm --m 8 --n 3584 --k 3584 --dtype bf16 --gpu H100-SXM

    ncuroof bound decode --model qwen2.5-7b --batch 1 --prompt 128 --gpu H100-SXM

    ncuroof bound triad --n 1e8 --dtype fp32 --peak 60TFLOP/s --bandwidth 3.35TB/s

    ncuroof bound --intensity 5 --path fp16 --gpu H100-SXM --source datasheet
    """
    import json

    from ncuroof.cli import _bound, _bound_text
    from ncuroof.errors import UsageError

    if list_:
        typer.echo("\n".join(_bound_text.operations()))
        return 0
    asked = _bound.asked(operation, context.args, intensity, path)
    machines = _bound.machines(gpu or [], asked, source=source, roofs=roofs, peak=peak, bandwidth=bandwidth)
    if not machines:
        msg = "name a GPU (--gpu H100-SXM) or a machine (--peak 60TFLOP/s --bandwidth 3.35TB/s)"
        raise UsageError(msg)
    for remark in dict.fromkeys(machine.remark for machine in machines):
        if remark:
            typer.echo(f"note: {remark}", err=True)
    if format_ is Format.JSON:
        typer.echo(json.dumps(_bound.document(asked, machines), indent=2))
    else:
        typer.echo("\n".join(_bound_text.report(asked, machines)))
    return 0
