"""The unit of a metric, from the grammar of its name: units are not stored in a report."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

_ROLLUPS = frozenset({"sum", "avg", "min", "max"})
# Metric groups that the sampler puts before a metric's own name.
_PREFIX = re.compile(r"^(?:pmsampling:)?(?:[A-Za-z0-9_]+\.)?(?:Triage[A-Za-z0-9]*\.)?(?=[a-z0-9]+__)")
_OLD_SUB = re.compile(r"(?:_(?:avg|sum|min|max))?_per_(?:(?P<second>sec|second)|(?:active|elapsed)_cycle)$")
_TEXTS = ("breakdown:", "group:")
_SINGULAR = {"bytes": "byte", "sectors": "sector", "wavefronts": "wavefront", "requests": "request", "tags": "tag"}
_SINGULAR |= {"threads": "thread", "warps": "warp"}
_CYCLE, _PERCENT = "cycle", "%"


@dataclass(frozen=True)
class _Table:
    counters: tuple[tuple[re.Pattern[str], str], ...]
    exact: dict[str, str]


@cache
def _table() -> _Table:
    raw = tomllib.loads(resources.files(__package__).joinpath("units.toml").read_text(encoding="utf-8"))
    return _Table(tuple((re.compile(row["pattern"]), row["unit"]) for row in raw["counters"]), raw["exact"])


@cache
def unit_of(metric: str) -> str | None:
    """The base unit in which reports store a metric.

    Args:
        metric: its name, such as ``dram__bytes_read.sum.per_second``.

    Returns:
        ``ns``, ``byte``, ``hz``, ``%``, ``inst``, ``cycle``, ... or a quotient of two such as ``byte/s`` or
        ``inst/cycle``; None for a plain number, for text, and where the name does not tell.
    """
    if metric.startswith(_TEXTS):
        return None
    name = _PREFIX.sub("", metric)
    base, *parts = name.split(".")
    sub = next((part for part in parts if part not in _ROLLUPS), "")
    if sub.startswith("pct"):
        return _PERCENT
    known = _table().exact.get(base)
    if known is not None:
        return known or None
    unit, _, quantity = base.rpartition("__")
    if unit in ("device", "launch"):
        return None
    old = _OLD_SUB.search(quantity)
    if old:  # Names of 2019 join roll-up and sub-metric with underscores.
        quantity, sub = quantity[: old.start()], "per_second" if old["second"] else "per_cycle"
        parts = [sub]
    return _derived(_counted(quantity), sub, parts) or None


def _counted(quantity: str) -> str:
    """The unit of what a metric counts, without roll-up."""
    for pattern, unit in _table().counters:
        match = pattern.search(quantity)
        if match:
            if unit != "quotient":
                return unit
            above, below = (_SINGULAR.get(match[name], match[name]) for name in ("above", "below"))
            return f"{above}/{below}"
    return ""


def _derived(counted: str, sub: str, parts: list[str]) -> str:
    """What a sub-metric makes of the unit of what is counted."""
    if not counted or not sub or sub in ("ratio", "max_rate"):
        return counted
    if sub.startswith(("per_cycle", "peak_sustained")):
        if parts[-1] == "per_second":
            return "hz" if counted == _CYCLE else f"{counted}/s"
        if counted == "warp":  # warps that are there in a cycle, averaged over cycles
            return counted
        return "" if counted == _CYCLE else f"{counted}/cycle"
    if sub == "per_second":
        return "hz" if counted == _CYCLE else f"{counted}/s"
    return counted
