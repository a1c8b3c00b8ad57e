"""What the commands that analyse inputs share: reading, telling about what could not be read, writing results."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer

from ncuroof.cli import one_line
from ncuroof.errors import EXIT_ERROR, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.compare import Comparison
    from ncuroof.config import Config
    from ncuroof.model import Analysis, Note
    from ncuroof.pipeline import LoadOptions
    from ncuroof.reporters import RuleText


def analysed(files: Sequence[str], config: Config, options: LoadOptions, *, quiet: bool) -> tuple[Analysis, int]:
    """Read and analyse inputs. What cannot be read is told on stderr and makes the status 2, the rest is analysed.

    Raises:
        InputError: when nothing could be read.
    """
    from ncuroof import pipeline

    loaded = pipeline.load_all(files, options)
    if loaded.dataset is None:
        for error in loaded.errors[:-1]:
            typer.echo(f"error: {one_line(str(error))}", err=True)
        raise loaded.errors[-1]
    analysis = pipeline.analyze(loaded.dataset, config)
    if not quiet:
        tell(analysis.dataset.notes)
    for error in loaded.errors:
        typer.echo(f"error: {one_line(str(error))}", err=True)
    return analysis, EXIT_ERROR if loaded.errors else 0


def compared(analysis: Analysis, baseline: str, config: Config, options: LoadOptions) -> Comparison:
    """Hold an analysis against a stored baseline, or whatever a path leads to, analysed in the same way.

    Raises:
        UsageError: when there is no such baseline.
        InputError: when it cannot be read.
    """
    from ncuroof import baseline as baselines
    from ncuroof import compare, pipeline

    was = baselines.load(baseline, options=pipeline.LoadOptions(annotations=options.annotations))
    return compare.compare(pipeline.analyze(was, config), analysis)


def tell(notes: Sequence[Note]) -> None:
    """Print what readers had to say, on stderr, where it disturbs no result."""
    for note in notes:
        where = f"{note.source}: " if note.source else ""
        typer.echo(f"note: {one_line(where + note.message)}", err=True)


def rule_texts() -> dict[str, RuleText]:
    """By code, what the rules say about themselves: for formats that carry the documentation of their rules."""
    from ncuroof import rules
    from ncuroof.reporters import RuleText

    return {r.CODE: RuleText(r.NAME, rules.summary(r), rules.manual(r), r.SEVERITY) for r in rules.rules()}


def split(values: Sequence[str] | None) -> tuple[str, ...]:
    """Options that may be repeated and may hold several values between commas."""
    return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())


def wants_color(choice: str) -> bool:
    """Whether to colour standard output: ``auto`` does on a terminal, unless NO_COLOR is set."""
    if choice not in {"auto", "always", "never"}:
        msg = f"--color {choice}: choose auto, always or never"
        raise UsageError(msg)
    if choice == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


def width() -> int:
    """Columns to print for: those of the terminal, 80 where there is none; never less than 60."""
    import shutil

    return max(60, min(shutil.get_terminal_size((80, 24)).columns, 160)) if sys.stdout.isatty() else 80
