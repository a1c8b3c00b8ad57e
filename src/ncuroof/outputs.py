"""Writes result files: whole or not at all, and never over an input."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ncuroof.errors import UsageError
from ncuroof.inputs import STDIN, display_name

if TYPE_CHECKING:
    from collections.abc import Iterable

STDOUT = "-"


def check(outputs: Iterable[Path | None], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse, before any work, outputs that name an input, a folder, or the same file twice.

    Raises:
        UsageError: naming the file.
    """
    taken = {_identity(Path(i)): str(i) for i in inputs if str(i) != STDIN}
    for path in outputs:
        if path is None or str(path) == STDOUT:
            continue
        name = display_name(path)
        if path.is_dir():
            msg = f"cannot write {name}: it is a folder; name a file"
            raise UsageError(msg)
        identity = _identity(path)
        if identity in taken:
            msg = f"cannot write {name}: it is an input or another output of the same command"
            raise UsageError(msg)
        taken[identity] = name


def _identity(path: Path) -> tuple[int, int] | Path:
    """What makes two names the same file: device and inode where it exists, else the resolved path."""
    with contextlib.suppress(OSError):
        found = path.stat()
        if stat.S_ISREG(found.st_mode):
            return found.st_dev, found.st_ino
    return path.resolve()


def write(path: Path, content: str | bytes) -> None:
    """Write a result: a regular file atomically, a pipe or a device by writing to it, ``-`` to standard output.

    A symbolic link is followed: what it points to is written, the link stays.

    Raises:
        UsageError: when it cannot be written.
    """
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    if str(path) == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        return
    try:
        target = path.resolve() if path.is_symlink() else path
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.write(raw)
            return
        temporary = beside(target)
        try:
            temporary.write_bytes(raw)
            temporary.replace(target)
        finally:
            discard(temporary)
    except (OSError, ValueError) as error:
        msg = f"cannot write {display_name(path)} ({getattr(error, 'strerror', None) or error})"
        raise UsageError(msg) from error


def beside(target: Path) -> Path:
    """A temporary name in the folder of ``target``, hidden and of this process."""
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def discard(path: Path) -> None:
    """Remove a temporary file, if it is there."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
