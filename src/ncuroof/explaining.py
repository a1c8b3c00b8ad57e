"""Explains one kernel: how each of its quantities was obtained, and what was missing for the better ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import metrics
from ncuroof.errors import InputError, UnrecognisedError, UsageError
from ncuroof.expand import inputs_behind
from ncuroof.reading import LoadOptions, open_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncuroof.expand import Input
    from ncuroof.model import Chunk


def explain(paths: Sequence[str | Path], kernel: str, options: LoadOptions | None = None) -> str:
    """How each quantity of one kernel was obtained, as text.

    Args:
        paths: reports; the first launch that fits is explained.
        kernel: index of the result in its report, or a part of the kernel's name.

    Raises:
        UsageError: when no launch fits, or the input is a stored table (which has no candidates any more).
        InputError: when an input cannot be used.
    """
    errors: list[InputError] = []
    names: list[str] = []
    for item in inputs_behind(paths, [], errors):
        if item.stored:
            msg = "--explain needs the report itself; tables that were ingested hold the outcome only"
            raise UsageError(msg)
        try:
            found, seen = _find(item, kernel, options or LoadOptions())
        except UnrecognisedError:
            if item.explicit:
                raise
            continue
        if found:
            return found
        names += seen
    if errors:
        raise errors[0]
    some = ", ".join(list(dict.fromkeys(names))[:10])
    msg = f"no kernel fits {kernel!r}; there are {some}"
    raise UsageError(msg)


def _find(item: Input, kernel: str, options: LoadOptions) -> tuple[str, list[str]]:
    """The explanation of the first launch of an input that fits (empty if none does), and the names it holds."""
    names: list[str] = []
    _, chunks = open_report(item, options, metrics.required_metrics())
    for chunk in chunks:
        named = pl.col("kernel_name").str.contains(kernel, literal=True) | pl.col("kernel_demangled").str.contains(
            kernel, literal=True
        )
        fits = pl.col("result_index") == int(kernel) if kernel.isdecimal() else named
        found = chunk.launches.filter(fits.fill_null(value=False)).head(1)
        if not found.is_empty():
            return _explained(found, chunk), []
        names += chunk.launches["kernel_name"].drop_nulls().unique(maintain_order=True).to_list()
    return "", names


def _explained(launch: pl.DataFrame, chunk: Chunk) -> str:
    index, source, name = launch.select("result_index", "source", "kernel_name").row(0)
    own = chunk.metrics.filter(pl.col("result_index") == index)
    return f"{source}, result {index}: {name}\n\n" + metrics.render(metrics.explain(launch, own, chunk.instances))
