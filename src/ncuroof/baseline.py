"""Named baselines: data sets under ``.ncuroof/baselines/``, one folder each, to compare later runs with.

A baseline is an ordinary stored data set (:mod:`ncuroof.store`): the kernels table and Nsight Compute's rule results.
Findings are not stored; they are made again by the rules of the day, so that a new rule does not look like a new fault.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ncuroof import inputs, pipeline, store
from ncuroof.errors import UsageError

if TYPE_CHECKING:
    from ncuroof.model import Dataset
    from ncuroof.pipeline import LoadOptions

HOME = Path(".ncuroof") / "baselines"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Baseline:
    """A stored baseline.

    Attributes:
        name: what it is called.
        path: its folder.
        saved: when its tables were written, local time, to the second.
        size: bytes on disk.
    """

    name: str
    path: Path
    saved: datetime
    size: int


def save(dataset: Dataset, name: str, home: Path = HOME, *, replace: bool = False) -> Path:
    """Store a data set under a name. The folder appears when it is complete, or not at all.

    Raises:
        UsageError: for a name that is no plain file name, one that is taken, or a folder that cannot be written.
    """
    _check(name)
    target = home / name
    if target.exists() and not replace:
        msg = f"there is a baseline {name} already; --replace writes it anew"
        raise UsageError(msg)
    temporary = home / f".{name}.{os.getpid()}.tmp"
    try:
        with store.Writer(temporary) as writer:
            writer.write("kernels", dataset.kernels)
            writer.write("nsight_rules", dataset.rules)
            writer.provenance(dataset.sources, dataset.notes)
        _swap(temporary, target)
    except OSError as error:
        msg = f"cannot write {inputs.display_name(target)} ({error.strerror or error})"
        raise UsageError(msg) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _swap(temporary: Path, target: Path) -> None:
    """Put the finished folder in place. An old one steps aside first, since a folder cannot be renamed over another."""
    old = temporary.with_suffix(".old")
    if target.exists():
        target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def stored(home: Path = HOME) -> list[Baseline]:
    """All baselines, by name."""
    if not home.is_dir():
        return []
    found = []
    for path in sorted(home.iterdir()):
        if _NAME.fullmatch(path.name) and store.is_dataset(path):
            files = [f.stat() for f in path.glob("*.parquet")]
            saved = datetime.fromtimestamp(max(f.st_mtime for f in files), tz=UTC).astimezone().replace(microsecond=0)
            found.append(Baseline(path.name, path, saved, sum(f.st_size for f in files)))
    return found


def find(name: str, home: Path = HOME) -> Baseline:
    """The baseline with this name.

    Raises:
        UsageError: when there is none; lists those that exist.
    """
    for each in stored(home):
        if each.name == name:
            return each
    names = ", ".join(b.name for b in stored(home))
    where = inputs.display_name(home)
    msg = f"there is no baseline {name} in {where}" + (f"; there are {names}" if names else ": none is stored there")
    raise UsageError(msg)


def load(given: str, home: Path = HOME, options: LoadOptions | None = None) -> Dataset:
    """Read a baseline by its name, or whatever a path or a pattern leads to: a report, a folder, tables.

    Raises:
        UsageError: when it is neither.
        InputError: when it cannot be read.
    """
    if _NAME.fullmatch(given) and store.is_dataset(home / given):
        return pipeline.load([home / given], options)
    if Path(given).exists() or not _NAME.fullmatch(given):
        return pipeline.load([given], options)
    return pipeline.load([find(given, home).path], options)


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        msg = f"{name!r} is no name for a baseline: letters, digits, dots, dashes and underscores, 100 at most"
        raise UsageError(msg)
