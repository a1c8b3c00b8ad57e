"""Keeps ``ingest`` from replacing a data set that came from other reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof import inputs, store
from ncuroof.errors import InputError, UsageError
from ncuroof.expand import inputs_behind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncuroof.model import Source

NAMED = 3


def check(files: Sequence[str | Path], target: Path) -> None:
    """Refuse to write tables over those of reports that are not among the inputs.

    A source is the same where its content is: a report that was profiled again under its old name is another one.
    Nothing is lost, and nothing refused, where every source of the old tables is read again.

    Args:
        files: what is to be ingested.
        target: folder or ``.parquet`` file, as for :func:`ncuroof.pipeline.ingest`.

    Raises:
        UsageError: naming what is there.
    """
    there = store.paths_for(target)["kernels"]
    if not there.exists():
        return
    name = inputs.display_name(target)
    try:
        _, _, sources, _ = store.read(there, name)
    except InputError as error:
        _refuse(name, error.found)
    digests = _digests(files)
    lost = [source for source in sources if source.sha256 not in digests]
    if lost:
        _refuse(name, f"the tables of {_some(lost)}")


def _refuse(name: str, found: str) -> None:
    msg = f"{name} holds {found}, which this would replace; choose another --output, or --force"
    raise UsageError(msg)


def _digests(files: Sequence[str | Path]) -> set[str]:
    """Digests of the inputs that can be read twice; what cannot be read is told when it is ingested."""
    digests = set()
    for item in inputs_behind(files, [], []):
        if str(item.path) == inputs.STDIN or item.stored:
            continue
        try:
            digests.add(inputs.open_input(item.path).sha256)
        except InputError:
            continue
    return digests


def _some(sources: Sequence[Source]) -> str:
    names = [source.name for source in sources]
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more report{'s' * (rest != 1)}" if rest > 0 else "")
