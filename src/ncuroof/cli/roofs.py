"""``ncuroof roofs``: lists GPUs and their roofs, and compares GPUs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ncuroof.cli._options import Roofs

NAME = "roofs"
ORDER = 50


class Format(StrEnum):
    """Output formats."""

    TEXT = "text"
    JSON = "json"


def command(
    gpus: Annotated[
        list[str] | None, typer.Argument(metavar="[GPU]...", help="Names, such as H100 or A100-80-PCIe.")
    ] = None,
    path: Annotated[list[str] | None, typer.Option(help="Compute path: fp64, fp32, tf32, fp16, bf16, fp8 ...")] = None,
    source: Annotated[str | None, typer.Option(help="Only from: measured, device, datasheet or user.")] = None,
    roofs: Roofs = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TEXT,
) -> int:
    """List GPUs and their roofs; with one GPU all of its roofs, with several a comparison.

    ncuroof roofs                           every GPU of the table

    ncuroof roofs H100                      every roof of one, with its sources

    ncuroof roofs H100 H200 --path fp16     ridge points, and where they cross
    """
    import json

    from ncuroof.cli import _roofs_json as as_json
    from ncuroof.cli import _roofs_text as text
    from ncuroof.errors import UsageError
    from ncuroof.gpus import find, variants
    from ncuroof.paths import PATH_NAMES
    from ncuroof.roofs import files, known

    paths = path or []
    wrong = [p for p in paths if p not in PATH_NAMES]
    if wrong:
        msg = f"{wrong[0]!r} is no compute path; choose from {', '.join(PATH_NAMES)}"
        raise UsageError(msg)
    if source is not None and source not in known.TABLE_ORDER:
        msg = f"{source!r} is no source of roofs here; choose from {', '.join(known.TABLE_ORDER)}"
        raise UsageError(msg)
    user = files.load(roofs) if roofs else []
    matches = [(name, find(name)) for name in gpus or []]
    unknown = [match for _, match in matches if match.gpu is None]
    if unknown:
        msg = f"{unknown[0].reason}. `ncuroof roofs` lists all."
        raise UsageError(msg)
    for said in dict.fromkeys(text.others(name, match) for name, match in matches):
        if said:
            typer.echo(f"note: {said}", err=True)
    chosen = [match.gpu for _, match in matches if match.gpu is not None] or sorted(
        variants(), key=lambda gpu: gpu.cc or (0, 0), reverse=True
    )
    own = [[r for r in known.of(gpu, user) if source in (None, r.source)] for gpu in chosen]
    if format_ is Format.JSON:
        document = as_json.document(
            chosen, own, paths if matches else paths or list(PATH_NAMES), source, pairs=bool(matches)
        )
        typer.echo(json.dumps(document, indent=2))
        return 0
    if not matches:
        for number, one in enumerate(paths or ["fp16"]):
            typer.echo(("\n" if number else "") + "\n".join(text.overview(chosen, own, one)))
    elif len(chosen) == 1 and not paths:
        typer.echo("\n".join(text.detail(chosen[0], own[0], source)))
    else:
        named = list(zip(chosen, own, strict=True))
        common = [p for p in PATH_NAMES if all(text.roofline(o, p, source) for o in own)]
        shown = paths or common
        if not shown:
            msg = "no compute path whose roof is known for all of these"
            raise UsageError(msg)
        typer.echo("\n\n".join("\n".join(text.comparison(p, named, source)) for p in shown))
    return 0
