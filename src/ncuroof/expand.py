"""Which files stand behind the paths a user names: files as they are, folders, globs, stored data sets."""

from __future__ import annotations

import glob
import os
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
    twice: list[str] = []
    piped = False
    for given in paths:
        if str(given) == inputs.STDIN:
            if not piped:
                yield Input(given, explicit=True, stored=False)
            piped = True
            continue
        if not str(given):
            errors.append(InputError("''", "an empty file name", "Name a file, or a folder that holds reports."))
            continue
        for item in _expand(given, errors):
            resolved = Path(item.path).resolve()
            if resolved in seen:
                twice.append(inputs.display_name(item.path))
                continue
            seen.add(resolved)
            yield item
    if twice:
        others = f" (and {len(twice) - 1} more)" if len(twice) > 1 else ""
        notes.append(Note("named-twice", f"named twice, read once{others}", twice[0]))


def _expand(given: str | Path, errors: list[InputError]) -> Iterator[Input]:
    path = Path(given)
    if path.is_dir():
        if store.is_dataset(path):
            yield Input(path, explicit=True, stored=True)
            return
        suffixes = (*REPORT_SUFFIXES, *TEXT_SUFFIXES)
        found = sorted(p for p in _below(path) if p.suffix in suffixes and p.is_file())
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


def _below(folder: Path) -> Iterator[Path]:
    """All files below a folder; what cannot be entered, or vanishes meanwhile, is passed over."""
    for here, _, names in os.walk(folder):
        yield from (Path(here, name) for name in names)


def _is_parquet(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe must not be read twice
            return False
        with path.open("rb") as file:
            return file.read(len(store.MAGIC)) == store.MAGIC
    except OSError:
        return False
