"""Dense rates per SM and cycle, from ``architectures.toml``: what a roof from device attributes is made of."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ncuroof.errors import RegistryError
from ncuroof.gpus import _toml
from ncuroof.paths import PATH_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYS = (
    "cc", "class", "names", "rates", "fp16_accumulate", "legacy_mma", "memory_attributes", "source", "verified",
)  # fmt: skip
NEEDED = ("cc", "class", "rates", "source")


@dataclass(frozen=True)
class Architecture:
    """One class of products of a compute capability.

    Attributes:
        cc: compute capability, (major, minor).
        product_class: which products of it.
        names: regular expressions searched in the device name; none: every name.
        rates: path to dense FLOP (integer operations for int paths) per SM and cycle; an FMA counts as two.
        fp16_accumulate: the same with FP16 accumulation, where it differs.
        legacy_mma: the same for ``mma.sync``, where it is slower than the newest tensor instruction.
        memory_attributes: whether memory clock × bus width of the device attributes gives the DRAM bandwidth.
        source: where the rates come from.
    """

    cc: tuple[int, int]
    product_class: str
    names: tuple[re.Pattern[str], ...]
    rates: Mapping[str, float]
    fp16_accumulate: Mapping[str, float]
    legacy_mma: Mapping[str, float]
    memory_attributes: bool
    source: str


def parse_cc(text: str) -> tuple[int, int]:
    """``"9.0"`` as (9, 0)."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def _row(row: Mapping[str, Any]) -> Architecture:
    where = f"gpus/architectures.toml, {row.get('cc', '?')} {row.get('class', '?')}"
    _toml.require(row, KEYS, NEEDED, where)
    for table in ("rates", "fp16_accumulate", "legacy_mma"):
        wrong = [p for p, rate in row.get(table, {}).items() if p not in PATH_NAMES or rate <= 0]
        if wrong:
            msg = f"{where}: {table} has {', '.join(wrong)}, which is no path or not positive"
            raise RegistryError(msg)
    return Architecture(
        cc=parse_cc(row["cc"]),
        product_class=row["class"],
        names=tuple(re.compile(name, re.IGNORECASE) for name in row.get("names", ())),
        rates=row["rates"],
        fp16_accumulate=row.get("fp16_accumulate", {}),
        legacy_mma=row.get("legacy_mma", {}),
        memory_attributes=row.get("memory_attributes", True),
        source=row["source"],
    )


@functools.cache
def architectures() -> tuple[Architecture, ...]:
    """All rows, in file order."""
    return tuple(_row(row) for row in _toml.load("architectures.toml")["architecture"])


@functools.cache
def _unknown_names() -> tuple[re.Pattern[str], ...]:
    """Names of products whose rates no source tells."""
    return tuple(re.compile(name, re.IGNORECASE) for name in _toml.load("architectures.toml")["unknown"])


def architecture(cc: tuple[int, int] | None, gpu_name: str | None) -> Architecture | None:
    """The rates of a device.

    Args:
        cc: compute capability.
        gpu_name: device name; None or a name that fits no row leaves the paths on which all rows of the capability
            agree, because the class decides about the others (half rate, no tensor cores).

    Returns:
        None for an unknown compute capability, and for products whose rates are cut in ways that no source tells.
    """
    rows = [row for row in architectures() if row.cc == cc]
    if not rows or (gpu_name and any(name.search(gpu_name) for name in _unknown_names())):
        return None
    for row in rows:
        if not row.names or (gpu_name and any(name.search(gpu_name) for name in row.names)):
            return row
    return shared(rows)


def shared(rows: Sequence[Architecture]) -> Architecture:
    """What holds for all of these classes of one compute capability: the rates on which they agree."""
    first = rows[0]
    if len(rows) == 1:
        return first
    agreed = {p: r for p, r in first.rates.items() if all(row.rates.get(p) == r for row in rows)}
    label = f"CC {first.cc[0]}.{first.cc[1]}, product class unknown"
    source = "rates on which all product classes agree"
    return Architecture(first.cc, label, (), agreed, {}, {}, first.memory_attributes, source)
