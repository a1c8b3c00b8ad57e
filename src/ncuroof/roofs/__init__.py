"""Roofs: which ceiling each kernel is judged by, and where the number comes from."""

from __future__ import annotations

from ncuroof.roofs.attach import attach
from ncuroof.roofs.boost import boost_roofs
from ncuroof.roofs.known import notes
from ncuroof.roofs.record import LEVELS, SOURCES, Roof, attainable, ridge

__all__ = ["LEVELS", "SOURCES", "Roof", "attach", "attainable", "boost_roofs", "notes", "ridge"]
