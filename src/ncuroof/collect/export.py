"""From reports to tables: the only place where collecting meets the rest of ncuroof."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from ncuroof import pipeline, rules, tables
from ncuroof.collect import outside
from ncuroof.rules import p001_time_outside_kernels as rule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncuroof.collect.outside import Outside
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


def analyse(reports: Sequence[Path], config: Config, measured: Outside | None) -> Analysis:
    """Analyse the reports, with the finding about time outside kernels where it was measured.

    Raises:
        InputError: if a report cannot be used.
    """
    analysis = pipeline.analyze(pipeline.load(list(reports)), config)
    return with_outside(analysis, measured, config)


def with_outside(analysis: Analysis, measured: Outside | None, config: Config) -> Analysis:
    """Add the finding about time outside kernels (P001) to an analysis that does not have it, as the user wants it.

    Raises:
        ConfigError: when the configuration names a rule, a severity or a threshold that does not exist.
    """
    if all(chosen.CODE != rule.CODE for chosen in rules.selected(config)):
        return analysis
    severity, limits = rules.settings(rules.rule(rule.CODE), config)
    row = outside.finding(measured, share=limits["share"], severity=severity)
    if row is None or rule.CODE in analysis.findings["code"].to_list():
        return analysis
    schema = tables.schema(tables.ANOMALIES)
    extra = tables.conform(pl.DataFrame([row], schema={name: schema[name] for name in row}), tables.ANOMALIES)
    return replace(analysis, findings=rules.ranked(pl.concat([analysis.findings, extra], how="diagonal")))
