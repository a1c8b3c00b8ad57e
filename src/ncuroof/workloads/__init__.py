"""Workloads: what an operation's shape asks for, and which operation each launch belongs to."""

from __future__ import annotations

from ncuroof.workloads.annotate import annotate, annotate_with_notes
from ncuroof.workloads.cost import Cost, Shape, ShapeError
from ncuroof.workloads.formulas import cost, operations
from ncuroof.workloads.sharing import shared_ranges

__all__ = ["Cost", "Shape", "ShapeError", "annotate", "annotate_with_notes", "cost", "operations", "shared_ranges"]
