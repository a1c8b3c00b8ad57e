r"""Small valid reports for tests: of this project, and of anybody whose CI wants one without a GPU.

>>> from ncuroof.testing import ReportBuilder
>>> report = ReportBuilder(gpu="NVIDIA H100 80GB HBM3", cc=(9, 0))
>>> _ = report.kernel("copy", {"gpu__time_duration.sum": 2048.0}, grid=(8, 1, 1), block=(256, 1, 1))
>>> report.to_bytes()[:4]
b'NVR\x00'
"""

from __future__ import annotations

from ncuroof.testing.report import Focus, NvtxRange, ReportBuilder, RuleItem

__all__ = ["Focus", "NvtxRange", "ReportBuilder", "RuleItem"]
