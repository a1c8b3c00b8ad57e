"""Reads long CSV of Nsight Compute: ``ncu --csv`` with the details page, ``--metrics`` or ``--print-summary``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.readers._csv_file import begin
from ncuroof.readers._csv_recognise import recognise
from ncuroof.readers._reading import Reading

if TYPE_CHECKING:
    from ncuroof.inputs import InputFile
    from ncuroof.model import RawReport

NAME = "ncu-csv-long"
DESCRIPTION = "CSV of ncu with a row per kernel and metric (--csv, details or --metrics)"
RANK = 51


def recognises(head: bytes, name: str) -> str | None:
    """By a header row with columns for metric name and value."""
    return recognise(head, ("long", "summary"))


def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
    """All tables of the file; see :mod:`ncuroof.readers._csv_file`.

    Raises:
        InputError: nothing measured, or cut before the first kernel.
    """
    return begin(Reading(file, want, NAME, recognised))
