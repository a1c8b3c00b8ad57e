"""What a formula gives: useful work, compulsory bytes with their ledger, and the compute path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.errors import UsageError
from ncuroof.workloads.dtypes import Dtype, dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = int | float | str | bool | list[object] | None

LARGEST = 2.0**63
"""Sizes above this are refused: they are typing errors, and products of a few of them would overflow."""


@dataclass(frozen=True)
class Flow:
    """Something that crosses DRAM once.

    Attributes:
        label: what it is.
        bytes: its size.
        written: True for an output.
    """

    label: str
    bytes: float
    written: bool = False


@dataclass(frozen=True)
class Cost:
    """Work and traffic of one operation.

    Attributes:
        flop: useful FLOP (an FMA counts as two).
        ledger: what moves at DRAM at least; inputs once, outputs once.
        paths: compute paths the work may run on, first that the GPU has wins; empty for an operation without work.
    """

    flop: float
    ledger: tuple[Flow, ...]
    paths: tuple[str, ...]

    @property
    def bytes(self) -> float:
        """Compulsory bytes: the sum of the ledger."""
        return sum(flow.bytes for flow in self.ledger)

    @property
    def written_bytes(self) -> float:
        """The part of the compulsory bytes that is output."""
        return sum(flow.bytes for flow in self.ledger if flow.written)

    @property
    def intensity(self) -> float | None:
        """FLOP/byte; None where no byte moves."""
        return self.flop / self.bytes if self.bytes else None


class ShapeError(UsageError):
    """A size is missing, unknown, or no number of the right kind.

    Attributes:
        missing: the size that is missing; None where something else is wrong.
    """

    def __init__(self, message: str, missing: str | None = None) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True)
class Shape:
    """The sizes of an operation, read with checks.

    Attributes:
        op: name of the operation, for messages.
        values: sizes and element types by name.
    """

    op: str
    values: Mapping[str, Value]

    def number(self, key: str, default: float | None = None) -> float:
        """A size that is positive and finite (0 only where the default is 0).

        Raises:
            ShapeError: if it is missing, no number, negative or out of range.
        """
        value = self.values.get(key)
        if value is None:
            if default is None:
                msg = f"{self.op} needs {key}"
                raise ShapeError(msg, key)
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            msg = f"{key} of {self.op} is {str(value)[:40]!r}, expected a number"
            raise ShapeError(msg)
        if not 0 <= value < LARGEST or (value == 0 and default != 0):
            msg = f"{key} of {self.op} is {value:g}, expected a positive number below 2^63"
            raise ShapeError(msg)
        return float(value)

    def size(self, key: str, default: int | None = None) -> int:
        """A size that is a whole number."""
        value = self.number(key, default)
        if value != int(value):
            msg = f"{key} of {self.op} is {value:g}, expected a whole number"
            raise ShapeError(msg)
        # Integers keep their exact value: floats would round above 2^53.
        exact = self.values.get(key)
        return exact if isinstance(exact, int) else int(value)

    def flag(self, key: str) -> bool:
        """Whether an option is on; absent is off. Accepts true, false, 0, 1 and these as text."""
        value = self.values.get(key)
        text = "false" if value is None else str(value).strip().lower()
        if text in ("true", "1", "yes", "on", ""):
            return True
        if text in ("false", "0", "no", "off"):
            return False
        msg = f"{key} of {self.op} is {text[:40]!r}, expected true or false"
        raise ShapeError(msg)

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """One of a few words; the first is the default."""
        text = str(self.values.get(key) or allowed[0]).strip().lower()
        if text not in allowed:
            msg = f"{key} of {self.op} is {text[:40]!r}, expected {' or '.join(allowed)}"
            raise ShapeError(msg)
        return text

    def dtype(self, key: str = "dtype", default: str | None = None) -> Dtype:
        """An element type; ``a``, ``b``, ``c`` ... fall back to ``dtype``.

        Raises:
            ShapeError: if it is missing or unknown.
        """
        value = self.values.get(key) or self.values.get("dtype") or default
        if value is None:
            msg = f"{self.op} needs dtype"
            raise ShapeError(msg, "dtype")
        found = dtype(str(value))
        if found is None:
            msg = f"{key} of {self.op} is {str(value)[:40]!r}, which is no element type ncuroof knows"
            raise ShapeError(msg)
        return found
