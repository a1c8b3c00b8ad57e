"""ncuroof reads NVIDIA Nsight Compute results and says what is wrong with the kernels in them.

Importing this package imports nothing heavy and has no side effect; the work is in :mod:`ncuroof.pipeline`.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
