"""The file format of Nsight Compute reports (``.ncu-rep``), read and described without NVIDIA's software.

:mod:`~ncuroof.ncurep.container` walks over blocks and entries, :mod:`~ncuroof.ncurep.messages` holds the messages,
:mod:`~ncuroof.ncurep.scalars` decodes metric values in bulk, :mod:`~ncuroof.ncurep.session`,
:mod:`~ncuroof.ncurep.nvtx` and :mod:`~ncuroof.ncurep.nsight_rules` the rest, :mod:`~ncuroof.ncurep.units` gives the
unit that a metric's name implies, :mod:`~ncuroof.ncurep.info` what a container says.
"""

from __future__ import annotations

from ncuroof.ncurep.container import MAGIC, Entry, Layout, walk
from ncuroof.ncurep.info import ReportInfo, describe, protobuf_backend
from ncuroof.ncurep.units import unit_of

__all__ = ["MAGIC", "Entry", "Layout", "ReportInfo", "describe", "protobuf_backend", "unit_of", "walk"]
