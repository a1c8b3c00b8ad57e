"""Roofs: which ceiling each kernel is judged by, and where the number comes from."""

from __future__ import annotations

from ncuroof.roofs.attach import Devices, attach, devices_of
from ncuroof.roofs.known import notes
from ncuroof.roofs.record import LEVELS, SOURCES, Roof, attainable, ridge

__all__ = ["LEVELS", "SOURCES", "Devices", "Roof", "attach", "attainable", "devices_of", "notes", "ridge"]
