"""From reports to tables: the only place where collecting meets the rest of ncuroof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import pipeline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncuroof.config import Config
    from ncuroof.model import Analysis


def kernels_of(report: Path) -> pl.DataFrame:
    """Return the kernels table of one report.

    Raises:
        InputError: if it cannot be used.
    """
    return pipeline.load([report]).kernels


def write_tables(reports: Sequence[Path], parquet: Path, csv: Path) -> pl.DataFrame:
    """Write the Parquet tables and the per-kernel CSV of the reports.

    Raises:
        InputError: if a report cannot be used.
        UsageError: if a file cannot be written.
    """
    kernels = pipeline.ingest(list(reports), parquet).kernels
    kernels.select(pl.exclude(pl.List, pl.Struct)).write_csv(csv)
    return kernels


def analyse(reports: Sequence[Path], config: Config) -> Analysis:
    """Analyse the reports.

    Raises:
        InputError: if a report cannot be used.
    """
    return pipeline.analyze(pipeline.load(list(reports)), config)
