"""Which files stand behind the paths a user names: files as they are, folders, globs, stored data sets."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ncuroof import inputs, store
from ncuroof.errors import InputError, NothingMeasuredError
from ncuroof.model import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPORT_SUFFIXES = (".ncu-rep", ".ncu-repz", ".nsight-cuprof-report")
TEXT_SUFFIXES = (".csv", ".txt", ".log")
"""What is looked into when a folder is named: text files only as far as a reader recognises them."""


@dataclass(frozen=True)
class Input:
    """One thing to read. ``explicit``: the user named it, so it must be readable; else it was found in a folder."""

    path: str | Path
    explicit: bool
    stored: bool


def inputs_behind(paths: Sequence[str | Path], notes: list[Note], errors: list[InputError]) -> Iterator[Input]:
    """Files behind the paths: as they are, from folders and from globs; each once."""
    seen: set[Path] = set()
    for given in paths:
        if str(given) == inputs.STDIN:
            yield Input(given, explicit=True, stored=False)
            continue
        for item in _expand(given, errors):
            resolved = Path(item.path).resolve()
            if resolved in seen:
                notes.append(Note("named-twice", "named twice, read once", inputs.display_name(item.path)))
                continue
            seen.add(resolved)
            yield item


def _expand(given: str | Path, errors: list[InputError]) -> Iterator[Input]:
    path = Path(given)
    if path.is_dir():
        if store.is_dataset(path):
            yield Input(path, explicit=True, stored=True)
            return
        suffixes = (*REPORT_SUFFIXES, *TEXT_SUFFIXES)
        found = sorted(p for p in path.rglob("*") if p.suffix in suffixes and p.is_file())
        if not found:
            what = f"a folder without any {', '.join(suffixes)} file"
            errors.append(NothingMeasuredError(inputs.display_name(path), what, "Name a folder that holds reports."))
        for file in found:
            yield Input(file, explicit=file.suffix in REPORT_SUFFIXES, stored=False)
    elif not path.exists() and glob.has_magic(str(given)):
        matches = sorted(glob.glob(str(given), recursive=True))  # noqa: PTH207  Path.glob takes no absolute pattern
        files = [Path(m) for m in matches if Path(m).is_file()]
        if not files:
            errors.append(InputError(str(given), "a pattern that matches no file", "Check the pattern."))
        for file in files:
            yield Input(file, explicit=True, stored=_is_parquet(file))
    else:
        yield Input(path, explicit=True, stored=_is_parquet(path))


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(store.MAGIC)) == store.MAGIC
    except OSError:
        return False
