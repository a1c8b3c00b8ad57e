"""Finds the formula of an operation and applies it to a shape."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ncuroof.registry import scan
from ncuroof.workloads.cost import Shape, ShapeError
from ncuroof.workloads.dtypes import dtype
from ncuroof.workloads.matrix import MATRIX_OPS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from ncuroof.workloads.cost import Cost, Value

CONTRACT: dict[str, type | tuple[type, ...]] = {
    "NAME": str,
    "KEYS": dict,
    "OPTIONAL": dict,
    "WORK": str,
    "BYTES": str,
    "ARITHMETIC": str,
    "cost": object,
}


@functools.cache
def operations() -> dict[str, ModuleType]:
    """Every operation by name: one module of :mod:`ncuroof.workloads.operations` each."""
    modules = scan("ncuroof.workloads.operations", CONTRACT, unique=["NAME"])
    return {module.NAME: module for module in modules}


def paths(op: str, element: str) -> tuple[str, ...]:
    """Compute paths that an operation on an element type may use where no counter tells, best first.

    Args:
        op: name of the operation; one without a formula does ordinary arithmetic unless it is a known matrix product.
        element: element type in any spelling; an unknown one has no path.
    """
    kind = dtype(element)
    if kind is None:
        return ()
    module = operations().get(op)
    arithmetic = module.ARITHMETIC if module else "matrix" if op in MATRIX_OPS else "vector"
    return kind.paths(arithmetic)


def cost(op: str, values: Mapping[str, Value]) -> Cost:
    """Useful work and compulsory bytes of an operation.

    Args:
        op: name of the operation.
        values: its sizes, ``dtype`` and options; keys that the operation does not know are refused.

    Raises:
        ShapeError: for an unknown operation, and for a size that is missing, unknown or unusable.
    """
    module = operations().get(op)
    if module is None:
        msg = f"{op!r} is no operation ncuroof has a formula for; it knows {', '.join(operations())}"
        raise ShapeError(msg)
    known = {*module.KEYS, *module.OPTIONAL, "dtype"}
    unknown = [key for key in values if key not in known]
    if unknown:
        msg = f"{op} has no size called {unknown[0]!r}; it has {', '.join(sorted(known))}"
        raise ShapeError(msg)
    result: Cost = module.cost(Shape(op, values))
    return result
