"""Reads wide CSV of Nsight Compute: ``ncu --csv --page raw``, a row per kernel, also as written again by others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.readers._csv_file import begin
from ncuroof.readers._csv_recognise import recognise
from ncuroof.readers._reading import Reading

if TYPE_CHECKING:
    from ncuroof.inputs import InputFile
    from ncuroof.model import RawReport

NAME = "ncu-csv-wide"
DESCRIPTION = "CSV of ncu with a column per metric (--csv --page raw)"
RANK = 52


def recognises(head: bytes, name: str) -> str | None:
    """By a header row with kernel names and columns titled with metric names."""
    return recognise(head, ("wide",))


def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
    """All tables of the file; see :mod:`ncuroof.readers._csv_file`.

    Raises:
        InputError: nothing measured, or cut before the first kernel.
    """
    return begin(Reading(file, want, NAME, recognised))
