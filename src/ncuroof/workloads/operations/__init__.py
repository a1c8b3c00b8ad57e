"""One module, one operation: ``NAME``, ``KEYS`` (its sizes), ``WORK`` and ``BYTES`` (the formulas as text), ``cost``."""
