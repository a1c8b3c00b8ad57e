"""Reads the counter tables: which metrics become which column of the kernels table, and in which order of preference.

The tables are ``quantities/*.toml``, one ``[[quantity]]`` per column. A quantity lists *candidates*, best first; the
first one whose metrics a result holds gives the value and its ``source`` label. A candidate is structured, never a
formula string::

    add      = ["metric", ["metric", 2.0], ["metric", 1.0, "optional"]]   weighted sum; an optional term may be absent
    any      = ["metric", "metric"]      one candidate per name, in that order: other names of the same thing
    count    = ["base", ["base", 2.0]]   totals of counters, in whatever form the report holds them: base.sum, else
                                         base.sum.per_cycle_elapsed × elapsed cycles, else base.sum.per_second × time
    function = "name"                    what fits none of these: a function of functions.py, with ``needs``, ``args``
    factor   = 32.0                      multiplies the sum
    times    = ["@quantity", "metric"]   further factors; ``@`` marks another quantity
    divide   = ["@quantity", "metric"]
    cc       = [["7.0", "9.0"]]          compute capabilities it holds for, inclusive ranges
    ncu      = [["2020.1", "2024.3"]]    ncu versions it holds for, inclusive ranges
    source   = "counter"                 how the value was obtained; ``inherit`` takes the label of its first quantity
    differs  = "..."                     why its value may be more than 2 % away from the others'; all others agree
    cite     = "..."                     where the metric's meaning was read or how it was checked
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ncuroof.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INHERIT = "inherit"
MADE = "opcode:"
"""What names begin with that no report holds: :mod:`ncuroof.metrics.opcodes` makes them from counts per instruction."""
CYCLES_OF_UNIT = {
    "smsp": "smsp_cycles",
    "sm": "sm_cycles",
    "lts": "lts_cycles",
    "l1tex": "sm_cycles",
    "dram": "dram_cycles",
}
"""The quantity that holds one instance's elapsed cycles, by the unit that a counter's name begins with."""


@dataclass(frozen=True)
class Term:
    """One operand: a metric, or (``quantity``) another quantity; ``weight`` and ``optional`` matter in sums only."""

    name: str
    weight: float = 1.0
    optional: bool = False
    quantity: bool = False


@dataclass(frozen=True)
class Candidate:
    """One way of obtaining a quantity; see the module's documentation for the fields."""

    source: str
    add: tuple[Term, ...] = ()
    factor: float = 1.0
    times: tuple[Term, ...] = ()
    divide: tuple[Term, ...] = ()
    cc: tuple[tuple[int, int], ...] = ()
    ncu: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    function: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict, hash=False)
    needs: tuple[Term, ...] = ()
    differs: str = ""
    cite: str = ""

    @property
    def operands(self) -> tuple[Term, ...]:
        """Every metric and quantity that the value may depend on."""
        return (*self.add, *self.times, *self.divide, *self.needs)


@dataclass(frozen=True)
class Quantity:
    """One column of the kernels table.

    Attributes:
        name, unit, meaning: as in the table's schema. A name that begins with ``_`` is an intermediate, not a column.
        candidates: in order of preference.
        positive: whether a value of zero or less means that the profiler did not measure (durations, peaks, clocks).
        clamp: limits the value is held to.
        kind: ``number`` (Float64), ``flag`` (Boolean) or ``text`` (String).
        sourced: whether a ``*_source`` column stands beside it.
    """

    name: str
    unit: str
    meaning: str
    candidates: tuple[Candidate, ...]
    positive: bool = False
    clamp: tuple[float, float] | None = None
    kind: str = "number"
    sourced: bool = False

    @property
    def is_text(self) -> bool:
        """Whether its values are strings."""
        return self.kind == "text"

    @property
    def hidden(self) -> bool:
        """Whether it is an intermediate that gets no column."""
        return self.name.startswith("_")


def parse_term(raw: object) -> Term:
    """A term as written in TOML: a name, or a list of name, weight and ``optional``."""
    name, weight, optional = raw, 1.0, False
    if isinstance(raw, list):
        name, weight, *rest = raw
        optional = rest == ["optional"]
        if rest and not optional:
            msg = f"a term that ends in {rest!r}; only 'optional' is allowed there"
            raise RegistryError(msg)
    if not isinstance(name, str) or not isinstance(weight, (int, float)):
        msg = f"{raw!r} is no term"
        raise RegistryError(msg)
    return Term(name.removeprefix("@"), float(weight), optional, name.startswith("@"))


def parse_cc(text: str) -> int:
    """``"8.6"`` as 86."""
    major, minor = text.split(".")
    return 10 * int(major) + int(minor)


def parse_version(text: str) -> tuple[int, ...]:
    """``"2025.1"`` as (2025, 1)."""
    return tuple(int(part) for part in text.split("."))


def _forms(candidate: Candidate) -> Iterable[Candidate]:
    """The candidates behind ``count``: the total, the rate per cycle × cycles, the rate per second × time."""
    unit = candidate.add[0].name.split("__")[0]
    forms: list[tuple[str, str | None, str]] = [(".sum", None, candidate.source)]
    if unit in CYCLES_OF_UNIT:
        forms.append((".sum.per_cycle_elapsed", CYCLES_OF_UNIT[unit], "rate×cycles"))
    forms.append((".sum.per_second", "duration_s", "rate×time"))
    for suffix, by, source in forms:
        times = candidate.times if by is None else (*candidate.times, Term(by, quantity=True))
        yield replace(
            candidate,
            add=tuple(replace(term, name=term.name + suffix) for term in candidate.add),
            times=times,
            source=source,
        )


_CANDIDATE_KEYS = {
    "add",
    "any",
    "count",
    "function",
    "args",
    "needs",
    "factor",
    "times",
    "divide",
    "cc",
    "ncu",
    "source",
    "differs",
    "cite",
}
_QUANTITY_KEYS = {"name", "unit", "meaning", "candidates", "positive", "clamp", "kind", "metric"}


def parse_candidate(raw: Mapping[str, Any]) -> list[Candidate]:
    """The candidates that one TOML table stands for (``any`` and ``count`` give several).

    Raises:
        RegistryError: when it is malformed.
    """
    if unknown := raw.keys() - _CANDIDATE_KEYS:
        msg = f"candidate with unknown keys {sorted(unknown)}"
        raise RegistryError(msg)
    if len(raw.keys() & {"add", "any", "count", "function"}) != 1:
        msg = "a candidate has exactly one of add, any, count and function"
        raise RegistryError(msg)
    base = Candidate(
        source=raw.get("source", "counter"),
        add=tuple(parse_term(t) for t in raw.get("add", raw.get("count", []))),
        factor=float(raw.get("factor", 1.0)),
        times=tuple(parse_term(t) for t in raw.get("times", [])),
        divide=tuple(parse_term(t) for t in raw.get("divide", [])),
        cc=tuple((parse_cc(low), parse_cc(high)) for low, high in raw.get("cc", [])),
        ncu=tuple((parse_version(low), parse_version(high)) for low, high in raw.get("ncu", [])),
        function=raw.get("function"),
        args=raw.get("args", {}),
        needs=tuple(parse_term(t) for t in raw.get("needs", [])),
        differs=raw.get("differs", ""),
        cite=raw.get("cite", ""),
    )
    if "count" in raw:
        return list(_forms(base))
    if "any" in raw:
        return [replace(base, add=(parse_term(name),)) for name in raw["any"]]
    return [base]


def parse_quantity(raw: Mapping[str, Any]) -> Quantity:
    """One ``[[quantity]]`` table.

    Raises:
        RegistryError: naming the quantity and what is wrong with it.
    """
    name = raw.get("name", "?")
    try:
        if unknown := raw.keys() - _QUANTITY_KEYS:
            msg = f"unknown keys {sorted(unknown)}"
            raise RegistryError(msg)
        rows = [{"add": [raw["metric"]]}] if "metric" in raw else raw["candidates"]
        candidates = tuple(c for row in rows for c in parse_candidate(row))
        low_high = raw.get("clamp")
        return Quantity(
            name=name,
            unit=raw["unit"],
            meaning=raw["meaning"],
            candidates=candidates,
            positive=raw.get("positive", False),
            clamp=(float(low_high[0]), float(low_high[1])) if low_high else None,
            kind=raw.get("kind", "number"),
            sourced=any(c.source != "counter" for c in candidates),
        )
    except (RegistryError, KeyError, TypeError, ValueError, IndexError) as error:
        msg = f"metrics: quantity {name}: {error}"
        raise RegistryError(msg) from error


def in_order(quantities: Iterable[Quantity]) -> tuple[Quantity, ...]:
    """Sorted so that each comes after all that its candidates use.

    Raises:
        RegistryError: on a duplicate name, an unknown quantity or a circle.
    """
    by_name: dict[str, Quantity] = {}
    for quantity in quantities:
        if quantity.name in by_name:
            msg = f"metrics: quantity {quantity.name} is defined twice"
            raise RegistryError(msg)
        by_name[quantity.name] = quantity
    done: dict[str, Quantity] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in done:
            return
        if name in trail or name not in by_name:
            what = "needs itself" if name in trail else "does not exist"
            msg = f"metrics: quantity {name} {what} ({' → '.join(trail)})"
            raise RegistryError(msg)
        for candidate in by_name[name].candidates:
            for term in candidate.operands:
                if term.quantity:
                    visit(term.name, (*trail, name))
        done[name] = by_name[name]

    for name in by_name:
        visit(name, ())
    return tuple(done.values())


@cache
def quantities() -> tuple[Quantity, ...]:
    """Every quantity, intermediates included, each after those it is computed from.

    Raises:
        RegistryError: when a table that ships with ncuroof is malformed.
    """
    from ncuroof.metrics.tensor import tensor_quantities  # noqa: PLC0415  it builds on this module

    found: list[Quantity] = []
    folder = resources.files(__package__) / "quantities"
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml"):
            found.extend(parse_quantity(raw) for raw in tomllib.loads(entry.read_text("utf-8"))["quantity"])
    found.extend(tensor_quantities())
    return in_order(found)


@cache
def all_operands() -> frozenset[str]:
    """Every metric name that any candidate uses, those that :mod:`ncuroof.metrics.opcodes` makes included."""
    return frozenset(t.name for q in quantities() for c in q.candidates for t in c.operands if not t.quantity)


@cache
def required_metrics() -> frozenset[str]:
    """Every metric name that any candidate can use: what a reader is asked for."""
    return frozenset(name for name in all_operands() if not name.startswith(MADE))
