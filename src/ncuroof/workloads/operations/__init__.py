"""One module, one operation; nothing else needs an edit to add one.

``NAME``, ``KEYS`` and ``OPTIONAL`` (its sizes and what they mean), ``WORK`` and ``BYTES`` (the formulas, as text for
people), ``cost(shape)`` (the formulas, as code); ``COMPOSITE = True`` where several kernels do it together.
"""
