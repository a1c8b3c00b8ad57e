"""Everything as JSON, one record a line, each with its ``type``."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from ncuroof.reporters import _records as records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "json-lines"
DESCRIPTION = "The records of json, one a line: header, source, finding, skip, note, kernel."
SUFFIX = ".jsonl"


def render(analysis: Analysis, options: RenderOptions) -> str:
    """The lines; the first is the header, which counts the others."""
    lines = chain(
        _typed("header", iter([records.header(analysis)])),
        _typed("source", records.sources(analysis)),
        _typed("finding", records.findings(analysis)),
        _typed("skip", records.skips(analysis)),
        _typed("note", records.notes(analysis)),
        _typed("kernel", records.kernels(analysis)),
        _typed("nsight-rule", records.nsight_rules(analysis.dataset.rules) if options.verbose else iter(())),
    )
    return "".join(records.dump(line) + "\n" for line in lines)


def _typed(kind: str, items: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        yield {"type": kind, **item}
