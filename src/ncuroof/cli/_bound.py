"""What ``ncuroof bound`` computes, before it is printed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ncuroof.cli._roofs_json import roof_of
from ncuroof.cli._roofs_text import others
from ncuroof.errors import UsageError
from ncuroof.gpus import find
from ncuroof.paths import PATH_NAMES
from ncuroof.roofs import files, known, units
from ncuroof.roofs.bound import Bound
from ncuroof.roofs.record import Roof
from ncuroof.workloads import formulas
from ncuroof.workloads.annotation import number_or_text
from ncuroof.workloads.cost import Cost, Flow, ShapeError
from ncuroof.workloads.matrix import PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ncuroof.workloads.cost import Value

_QUANTITY = re.compile(r"^\s*([0-9.eE+_-]+?)\s*([a-zA-Z/]+)\s*$")


@dataclass(frozen=True)
class Asked:
    """The operation that was asked about.

    Attributes:
        title: how to call it.
        op: its name; None for a bare intensity.
        values: its sizes.
        cost: its work and bytes; for a bare intensity one byte and that many FLOP.
        paths: compute paths it may use, first that has a roof wins.
    """

    title: str
    op: str | None
    values: Mapping[str, Value]
    cost: Cost
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Machine:
    """One machine, and the operation under its roof.

    Attributes:
        name: GPU or "the machine given".
        bound: the placement.
        remark: which variant an unclear name was taken for; empty if clear.
        l2_bytes: size of its L2; None where unknown.
    """

    name: str
    bound: Bound
    remark: str
    l2_bytes: float | None = None

    @property
    def fits_l2(self) -> bool:
        """Whether all compulsory bytes fit in L2, so that a launch may find them there and not read DRAM at all."""
        return self.l2_bytes is not None and 0 < self.bound.bytes <= self.l2_bytes


def asked(op: str | None, arguments: Sequence[str], intensity: float | None, path: str | None) -> Asked:
    """What the command line asks about.

    Raises:
        UsageError: for an unknown operation or path, and for sizes that do not fit.
    """
    if path is not None and path not in PATH_NAMES:
        msg = f"{path!r} is no compute path; choose from {', '.join(PATH_NAMES)}"
        raise UsageError(msg)
    if op is not None and intensity is not None:
        msg = f"--intensity takes the place of an operation: leave out {op} or --intensity"
        raise UsageError(msg)
    if op is None and intensity is None:
        msg = "name an operation (ncuroof bound --list) or give --intensity"
        raise UsageError(msg)
    values = options(arguments)
    if intensity is not None:
        if values:
            msg = f"--{next(iter(values))} is a size of an operation; --intensity takes the place of one"
            raise UsageError(msg)
        if not math.isfinite(intensity) or intensity <= 0:
            msg = f"--intensity is {intensity:g}, expected a positive number of FLOP/byte"
            raise UsageError(msg)
        if path is None:
            msg = "--intensity needs --path: without an operation there is no element type to tell it"
            raise UsageError(msg)
        return Asked(
            f"intensity {intensity:g} FLOP/byte", None, {}, Cost(intensity, (Flow("all", 1.0),), (path,)), (path,)
        )
    name = (op or "").strip().lower().replace("-", "_")
    try:
        cost = formulas.cost(name, values)
    except ShapeError as error:
        if error.missing is None:
            raise
        msg = f"{name} needs --{error.missing}{_meaning(name, error.missing)}"
        raise UsageError(msg) from error
    sizes = " ".join(f"{key}={_written(value)}" for key, value in values.items())
    return Asked(f"{name} {sizes}".strip(), name, values, cost, (path,) if path and cost.paths else cost.paths)


def _meaning(op: str, key: str) -> str:
    """What a size of an operation is, in brackets; empty where that is not told."""
    text = "element type, such as bf16" if key == "dtype" else formulas.operations()[op].KEYS.get(key)
    return f" ({text})" if text else ""


def _written(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def options(arguments: Sequence[str]) -> dict[str, Value]:
    """``--m 8 --causal --scores=materialized`` as sizes; a list is written with commas.

    Raises:
        UsageError: for something that is no option, and for an option that occurs twice.
    """
    values: dict[str, Value] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) < 3:
            msg = f"{word!r} is no option; sizes are written --m 8"
            raise UsageError(msg)
        key, equals, text = word[2:].partition("=")
        key = key.replace("-", "_").lower()
        if not equals:
            text = rest.pop(0) if rest and not rest[0].startswith("--") else "true"
        if key in values:
            msg = f"--{key} is given twice"
            raise UsageError(msg)
        values[key] = [number_or_text(part) for part in text.split(",")] if "," in text else _value(text)
    return values


def _value(text: str) -> Value:
    value = number_or_text(text)
    # 1e6 elements are a whole number.
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**63 else value


def machines(
    names: Sequence[str],
    wanted: Asked,
    *,
    source: str | None,
    roofs: Path | None,
    peak: str | None,
    bandwidth: str | None,
) -> list[Machine]:
    """The machines to place the operation on.

    Raises:
        UsageError: for an unknown GPU or source, a roof that is not known, or a quantity without its unit.
        ConfigError: for a faulty ``roofs`` file.
    """
    if source is not None and source not in known.TABLE_ORDER:
        msg = f"{source!r} is no source of roofs here; choose from {', '.join(known.TABLE_ORDER)}"
        raise UsageError(msg)
    user = files.load(roofs) if roofs else []
    found = [_gpu(name, wanted, user, source) for name in names]
    if (peak is None) != (bandwidth is None) and wanted.paths:
        msg = "a machine of your own needs both --peak and --bandwidth"
        raise UsageError(msg)
    if bandwidth is not None:
        slope = Roof(
            _quantity("--bandwidth", bandwidth, units.BYTE_RATES), None, "dram", True, "given", "user", "given"
        )
        flat = None
        if peak is not None and wanted.paths:
            path = wanted.paths[0]
            allowed = units.of_path(path)
            flat = Roof(_quantity("--peak", peak, allowed), path, None, True, "given", "user", "given")
        found.append(Machine("the machine given", Bound(wanted.cost.flop, wanted.cost.bytes, flat, slope), ""))
    return found


def _gpu(name: str, wanted: Asked, user: Sequence[Roof], source: str | None) -> Machine:
    match = find(name)
    if match.gpu is None:
        msg = f"{match.reason}. `ncuroof roofs` lists all."
        raise UsageError(msg)
    own = known.of(match.gpu, user)
    matrix = wanted.op in PRODUCTS
    flats = [flat for path in wanted.paths if (flat := known.best(own, path=path, source=source, matrix=matrix))]
    slopes = [roof for roof in own if roof.path is None and source in (None, roof.source)]
    if wanted.paths and not flats and not slopes:
        paths = " or ".join(wanted.paths)
        note = f" ({match.gpu.note.rstrip('.')})" if match.gpu.note else ""
        kind = f"{source} " if source else ""
        msg = (
            f"neither a {kind}roof of {paths} nor a {kind}bandwidth is known for {match.gpu.name}{note}; give both, "
            "with --peak and --bandwidth in place of --gpu, or with --roofs"
        )
        raise UsageError(msg)
    if wanted.paths and not flats:
        what = f"{source or ''} roof of {' or '.join(wanted.paths)}".strip()
        msg = f"no {what} is known for {match.gpu.name}; give one with --roofs, or another --path"
        raise UsageError(msg)
    flat = flats[0] if flats else None
    slope = known.best(own, source=source) if source or flat is None else known.slope_of(own, flat)
    if slope is None:
        msg = f"no {source or ''} bandwidth is known for {match.gpu.name}; give one with --roofs".replace("  ", " ")
        raise UsageError(msg)
    bound = Bound(wanted.cost.flop, wanted.cost.bytes, flat, slope)
    return Machine(match.gpu.name, bound, others(name, match), match.gpu.l2_bytes)


def _quantity(option: str, text: str, allowed: Mapping[str, float]) -> float:
    parts = _QUANTITY.match(text)
    try:
        value = float(parts[1]) if parts else math.nan
    except ValueError:
        value = math.nan
    if parts is None or not math.isfinite(value) or value <= 0:
        example = "3.35TB/s" if "GB/s" in allowed else "60TFLOP/s"
        msg = f"{option} is {text!r}, expected a number with its unit, such as {example}"
        raise UsageError(msg)
    if parts[2] not in allowed:
        msg = f"{option}: {units.why_not(parts[2], dict(allowed))}"
        raise UsageError(msg)
    return value * allowed[parts[2]]


def document(wanted: Asked, places: Sequence[Machine]) -> dict[str, Any]:
    """Everything as JSON, SI base units."""
    module = formulas.operations().get(wanted.op) if wanted.op else None
    return {
        "operation": wanted.op,
        "sizes": dict(wanted.values),
        "flop": wanted.cost.flop if wanted.op else None,
        "flop_formula": module.WORK if module else None,
        "bytes": wanted.cost.bytes if wanted.op else None,
        "bytes_formula": module.BYTES if module else None,
        "ledger": [{"what": f.label, "bytes": f.bytes, "written": f.written} for f in wanted.cost.ledger if wanted.op],
        "intensity_flop_per_byte": wanted.cost.intensity,
        "machines": [_place(machine, timed=wanted.op is not None) for machine in places],
    }


def _place(machine: Machine, *, timed: bool) -> dict[str, Any]:
    bound = machine.bound
    return {
        "name": machine.name,
        "path": bound.flat.path if bound.flat else None,
        "roof": roof_of(bound.flat) if bound.flat else None,
        "bandwidth": roof_of(bound.slope),
        "ridge_flop_per_byte": bound.ridge,
        "compute_s": bound.compute_s if timed else None,
        "memory_s": bound.memory_s if timed else None,
        "time_bound_s": bound.time_s if timed else None,
        "attainable_flop_s": bound.attainable_flop_s,
        "percent_of_peak": bound.percent_of_peak,
        "verdict": bound.verdict,
        "near_ridge": bound.near_ridge,
        "fits_l2": machine.fits_l2 if timed and machine.l2_bytes is not None else None,
    }
