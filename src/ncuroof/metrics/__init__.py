"""Turns the metrics of a report into the quantities of the kernels table: work, bytes, time, clocks, peaks and more.

Which metric becomes which column is data: ``quantities/*.toml`` and ``tensor.toml``, described in
:mod:`ncuroof.metrics.catalogue`. To teach ncuroof a new metric name, add a candidate there.

Public interface: :func:`required_metrics`, :func:`kernels_from` (:func:`build_kernels`), :func:`kernel_columns`,
:func:`explain` and :func:`render`.
"""

from __future__ import annotations

from ncuroof.metrics.catalogue import required_metrics
from ncuroof.metrics.engine import build_kernels, kernel_columns, kernels_from
from ncuroof.metrics.explain import Explanation, explain, render

__all__ = ["Explanation", "build_kernels", "explain", "kernel_columns", "kernels_from", "render", "required_metrics"]
