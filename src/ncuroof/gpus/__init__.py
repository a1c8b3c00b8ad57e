"""The GPUs ncuroof knows: exact variants, rates per architecture, and the highest rates that were measured.

Data, not code: ``variants/*.toml`` (one row per product), ``architectures.toml`` (dense rates per SM and cycle) and
``measured.toml``. To add a GPU, add a row to the file of its family; nothing else needs an edit.
"""

from __future__ import annotations

from ncuroof.gpus.architectures import Architecture, architecture, architectures, shared
from ncuroof.gpus.matching import Match, find, match
from ncuroof.gpus.measured import MeasuredGpu, MeasuredPeak, measured
from ncuroof.gpus.stated import remarks, state
from ncuroof.gpus.table import Gpu, variants

__all__ = [
    "Architecture",
    "Gpu",
    "Match",
    "MeasuredGpu",
    "MeasuredPeak",
    "architecture",
    "architectures",
    "find",
    "match",
    "measured",
    "remarks",
    "shared",
    "state",
    "variants",
]
