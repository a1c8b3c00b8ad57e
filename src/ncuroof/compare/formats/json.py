"""A comparison as one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ncuroof import __version__
from ncuroof.reporters._records import dump, plain

if TYPE_CHECKING:
    import polars as pl

    from ncuroof.compare import Comparison
    from ncuroof.reporters import RenderOptions

NAME = "json"
SCHEMA = "ncuroof-comparison"
SCHEMA_VERSION = "1.0"
"""Version of the layout. A new key raises the second number, a changed or missing one the first."""

_PAIR = ("state", "reason", "how", "change_pct", "resolution_pct", "paired", "delta_s", "unknown")
_SIDE = (
    "name",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "op",
    "op_dtype",
    "op_shape",
    "op_label",
    "gpu_name",
    "clock_control",
    "cache_control",
    "replay_mode",
    "ncu_release",
    "counters",
    "sm_hz",
    "passes",
    "launches",
    "timed",
    "median_s",
    "total_s",
    "spread",
    "roof_pct",
    "memory_roof_pct",
    "traffic_bytes",
    "flop",
    "verdict",
    "path",
    "rows",
)


def render(comparison: Comparison, options: RenderOptions) -> str:
    """The document: totals, pairs, new and gone kernels, findings. ``rows`` are rows of each side's kernels."""
    t = comparison.totals
    head = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ncuroof", "version": __version__},
        "accepted": list(comparison.accepted),
        "totals": {
            "base_s": t.base_s,
            "head_s": t.head_s,
            "compared_base_s": t.compared_base_s,
            "compared_head_s": t.compared_head_s,
            "compared_base_launches": t.compared_base_launches,
            "compared_head_launches": t.compared_head_launches,
            "kernels": t.by_state | {"new": t.new, "gone": t.gone},
            "new_s": t.new_s,
            "gone_s": t.gone_s,
            "findings": t.findings,
        },
    }
    lists = {
        "pairs": [_pair(row) for row in comparison.pairs.iter_rows(named=True)],
        "new": _alone(comparison.new),
        "gone": _alone(comparison.gone),
        "findings": [
            {name: plain(value) for name, value in row.items()} for row in comparison.findings.iter_rows(named=True)
        ],
    }
    parts = [f"{dump(name)}: {dump(value)}" for name, value in head.items()]
    for name, items in lists.items():
        lines = ",\n".join(f"    {dump(item)}" for item in items)
        parts.append(f"{dump(name)}: [\n{lines}\n  ]" if lines else f"{dump(name)}: []")
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "pair": row["pair"],
        **{name: plain(row[name]) for name in _PAIR},
        **{side: {name: plain(row[f"{side}_{name}"]) for name in _SIDE} for side in ("base", "head")},
    }


def _alone(groups: pl.DataFrame) -> list[dict[str, Any]]:
    return [{name: plain(row[name]) for name in _SIDE} for row in groups.iter_rows(named=True)]
