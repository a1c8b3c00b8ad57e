"""The unit of a metric, from the grammar of its name: units are not stored in a report."""

from __future__ import annotations

from functools import cache


@cache
def unit_of(metric: str) -> str | None:
    """The base unit of a metric; None for a plain number or where the name does not tell."""
    if "time_duration" in metric:
        return "ns"
    if metric.endswith((".pct", "_pct")) or ".pct_of_peak" in metric:
        return "%"
    return None
