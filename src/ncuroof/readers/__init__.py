"""Turns any profiler output into launches, metrics and rule results. One module of this package is one input format.

To add a format, add a module with these attributes and a sample for its test; nothing else needs an edit:

``NAME``
    The format's name, as shown to users and stored in the tables (``ncu-rep``).
``DESCRIPTION``
    One line for ``ncuroof doctor`` and the documentation.
``RANK``
    Readers are asked in the order of their rank, lowest first. Binary formats with a magic number have rank 10, text
    formats with a fixed header 50, formats that are recognised by patterns in free text 90.
``recognises(head: bytes, name: str) -> str | None``
    Looks at the first 64 KiB of the content and the file name. A clause that says why this is the format, or None.
    The name may settle nothing by itself: it is for wording only.
``read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport``
    Reads it. ``want`` names the metrics that the caller needs (exact metric names); None asks for all. A reader may
    give more than was asked for, never less of what the file holds.

Modules whose name begins with an underscore are helpers of readers.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from ncuroof.errors import UnrecognisedError, UsageError
from ncuroof.registry import scan

if TYPE_CHECKING:
    from ncuroof.inputs import InputFile
    from ncuroof.model import RawReport

READABLE = (
    "ncuroof reads .ncu-rep, .ncu-repz and .nsight-cuprof-report files, ncu's CSV and text output, tables copied from "
    "its GUI, kernel summaries of nsys stats, and its own Parquet tables."
)
"""What to give instead, in every message about content that no reader knows."""
LFS_POINTER = b"version https://git-lfs"


class Reader(Protocol):
    """What a module of this package looks like; see the package's documentation."""

    NAME: str
    DESCRIPTION: str
    RANK: int

    @staticmethod
    def recognises(head: bytes, name: str) -> str | None:
        """Why this is the format, in a clause; None if it is not."""

    @staticmethod
    def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
        """Read it."""


@cache
def readers() -> tuple[Reader, ...]:
    """All readers, in the order in which they are asked."""
    modules = scan(
        __name__,
        {"NAME": str, "DESCRIPTION": str, "RANK": int, "recognises": object, "read": object},
        unique=["NAME"],
    )
    return tuple(sorted(cast("list[Reader]", modules), key=lambda r: (r.RANK, r.NAME)))


def choose(file: InputFile, only: str | None = None) -> tuple[Reader, str]:
    """The reader for a file, and why it was chosen.

    Args:
        file: the opened input.
        only: name of the reader to use whatever the content looks like.

    Raises:
        UnrecognisedError: when no reader knows the content.
        UsageError: when ``only`` names no reader.
    """
    if only is not None:
        for reader in readers():
            if only == reader.NAME:
                return reader, f"--reader {only}"
        known = ", ".join(r.NAME for r in readers())
        msg = f"there is no reader {only!r}; known are {known}"
        raise UsageError(msg)
    head = file.head
    if head.startswith(LFS_POINTER):
        raise UnrecognisedError(
            file.name,
            "a Git LFS pointer, not the report itself",
            "Run `git lfs pull` in its repository, then try again.",
        )
    for reader in readers():
        reason = reader.recognises(head, file.name)
        if reason is not None:
            return reader, reason
    raise UnrecognisedError(
        file.name,
        f"content that no reader knows (it begins with {head[:16]!r})",
        READABLE,
    )
