"""Maps display names of ncu's details page ("DRAM Throughput") to metric names, by the table in ``_display_names.csv``.

The table's rows were read off the section definitions that reports carry: section, item of its body (empty for any),
label, unit (empty for any, ``-`` for none), compute capabilities [cc_from, cc_below) and metric. A label that means
several metrics is only mapped where section, item, unit and compute capability leave one; anything else keeps its own
name.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ncuroof.readers._units import base_unit

_METRIC_NAME = re.compile(r"^[A-Za-z][\w.:\-/]*$")
_OLDEST = 7.0  # an unknown GPU is read as Volta or later: only pre-release versions of ncu printed Pascal's names


@dataclass(frozen=True)
class _Row:
    section_id: str
    section: str
    item: str
    label: str
    unit: str
    cc_from: float
    cc_below: float
    metric: str

    def fits(self, item: str, unit: str | None, cc: float | None) -> bool:
        if self.item and self.item != item:
            return False
        if self.unit and self.unit != (unit or "-"):
            return False
        if cc is None:
            return self.cc_from <= _OLDEST and self.cc_below == float("inf")
        return self.cc_from <= cc < self.cc_below


@cache
def _rows() -> dict[str, tuple[_Row, ...]]:
    """The table, by label."""
    found: dict[str, list[_Row]] = {}
    text = files(__package__).joinpath("_display_names.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        one = _Row(
            row["section_id"],
            row["section"],
            row["item"],
            row["label"],
            row["unit"],
            float(row["cc_from"] or 0),
            float(row["cc_below"] or "inf"),
            row["metric"],
        )
        found.setdefault(one.label, []).append(one)
    return {label: tuple(rows) for label, rows in found.items()}


@cache
def section_ids() -> dict[str, str]:
    """Section identifier by the section's display name."""
    return {row.section: row.section_id for rows in _rows().values() for row in rows}


def is_metric_name(name: str) -> bool:
    """Whether a name is a metric's own, not a label: no blank, and the underscores or dots of metric names."""
    return bool(_METRIC_NAME.match(name)) and ("__" in name or "." in name or "_" in name)


def metric_name(section: str | None, item: str | None, label: str, unit: str | None, cc: float | None) -> str | None:
    """The metric that a display name stands for; None if that cannot be told.

    Args:
        section: display name or identifier of its section; None or empty where the file does not say.
        item: label of the body item it stands in, if any.
        label: the display name.
        unit: as printed.
        cc: compute capability such as 8.6, if known.
    """
    rows = _rows().get(label)
    if rows is None:
        return None
    base, _ = base_unit(unit)
    if section:
        rows = tuple(r for r in rows if section in (r.section, r.section_id))
    metrics = {r.metric for r in rows if r.fits(item or "", base, cc)}
    if len(metrics) > 1 and not section:
        metrics = {m for m in metrics if _agrees(m, base)} or metrics
    return metrics.pop() if len(metrics) == 1 else None


def _agrees(metric: str, base: str | None) -> bool:
    """Whether a metric can have this unit, as far as its name tells."""
    if "pct" in metric:
        return base == "%"
    if metric.endswith(".per_second"):
        return base is not None and (base == "hz" or base.endswith("/s"))
    return base != "%" and not (base or "").endswith("/s")
