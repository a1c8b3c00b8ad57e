"""``ncuroof calibrate``: measure the roofs of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ncuroof.collect.calibration import Calibration

NAME = "calibrate"
ORDER = 65


def command(
    output: Annotated[Path, typer.Option("--output", "-o", help="The roofs file to write.")] = Path(
        "ncuroof-roofs.toml"
    ),
    results: Annotated[
        list[Path] | None, typer.Option("--from", help="Use this collector's JSON instead of running it; repeatable.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes: a minute instead of several.")] = False,
    collectors: Annotated[Path | None, typer.Option(help="Folder of the collectors, if it is not found.")] = None,
    python: Annotated[str | None, typer.Option(help="Python that has PyTorch, if this one has not.")] = None,
    device: Annotated[str, typer.Option(help="cuda, or cpu to try the machinery.")] = "cuda",
    timeout: Annotated[float | None, typer.Option(min=1, help="Time limit of each collector in seconds.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the roofs file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no output of the collectors.")] = False,
) -> int:
    """Measure bandwidth and compute roofs here, and write a roofs file that analyze prefers on this GPU.

    The bandwidth is the highest of all kernels that only move data, a compute roof the highest of all shapes; rates
    above the device's peak are refused. In a folder without ncuroof.toml one is written that names the roofs file.
    """
    import os

    from ncuroof import outputs
    from ncuroof.collect import calibration
    from ncuroof.collect.terminal import Terminal
    from ncuroof.errors import UsageError
    from ncuroof.roofs import files

    if device not in ("cuda", "cpu"):
        msg = f"--device {device}: choose cuda or cpu"
        raise UsageError(msg)
    if output.exists() and not force:
        msg = f"{output.name} exists; choose another --output, or --force to overwrite"
        raise UsageError(msg)
    talk = Terminal(quiet=quiet, program=not quiet)
    if results:
        measured = [calibration.read(path) for path in results]
    else:
        folder = calibration.collectors_folder(collectors, os.environ)
        measured = calibration.measure(
            folder, calibration.interpreter(python), device, talk, quick=quick, timeout=timeout
        )
    found = calibration.calibrate(measured)
    for text in found.notes:
        talk.warn(text)
    comment = f"Roofs of {found.gpu}, measured with `ncuroof calibrate`."
    outputs.write(output, files.dump(found.roofs, comment))
    files.load(output)  # what was written must be what analyze accepts
    _show(found)
    _configure(output, talk)
    return 0


def _show(found: Calibration) -> None:
    """Print the roofs."""
    from ncuroof.cli import printable
    from ncuroof.roofs import ridge

    slope = next((roof.value for roof in found.roofs if roof.level == "dram"), None)
    typer.echo(printable(f"{found.gpu}: measured roofs"))
    for roof in found.roofs:
        if roof.path is None:
            typer.echo(printable(f"  {'dram':<12} {roof.value / 1e9:>9.4g} GB/s                  {roof.citation}"))
            continue
        at = f"I* {ridge(roof.value, slope):>7.4g}" if slope else " " * 10
        typer.echo(printable(f"  {roof.path:<12} {roof.value / 1e12:>9.4g} TFLOP/s  {at:<12} {roof.citation}"))


def _configure(output: Path, talk: object) -> None:
    """Make ``analyze`` use the file here, or say how."""
    from ncuroof import config
    from ncuroof.collect.terminal import Terminal

    assert isinstance(talk, Terminal)  # noqa: S101
    line = f'roofs-file = "{output.name}"'
    present = config.find(output.resolve().parent)
    if present is None:
        output.with_name("ncuroof.toml").write_text(line + "\n", encoding="utf-8")
        talk.note(f"wrote ncuroof.toml: `ncuroof analyze` below this folder prefers {output.name} on this GPU")
    elif config.load(present).roofs_file is None:
        talk.note(f"to prefer these roofs, add to {present.name}: {line} (or give analyze --roofs {output.name})")
