"""Reads and writes the user's roofs: what ``--roofs FILE`` takes and ``ncuroof calibrate`` writes.

::

    [[roof]]
    gpu = "NVIDIA H100 80GB HBM3"     # device name, or the id or name of a variant
    path = "fp16"                     # or: level = "dram" (l2, l1)
    value = 787.6
    unit = "TFLOP/s"                  # GB/s for a level, TOP/s for an integer path; never a count, never bits
    sparsity = "dense"                # or "2:4"; needed for paths of the tensor cores
    source = "highest dense product, cuBLAS 12.4, 2026-05-01"
    kind = "measured"                 # optional: measured (capped by the clock of a run) or user (default: as it is)
"""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING, Any

from ncuroof.errors import ConfigError
from ncuroof.inputs import display_name
from ncuroof.paths import BY_NAME, PATH_NAMES
from ncuroof.roofs import units
from ncuroof.roofs.record import LEVELS, Roof

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

KEYS = ("gpu", "path", "level", "value", "unit", "sparsity", "source", "kind")
KINDS = ("user", "measured")
SPARSITIES = {"dense": True, "2:4": False}
LARGEST = 1e19
"""A roof above this (10 EFLOP/s) is a unit that was mistaken."""


def load(path: Path) -> list[Roof]:
    """The roofs of a file, dense and sparse; sparse ones are never the roof of a dense kernel.

    Raises:
        ConfigError: naming the file, every faulty entry and what is allowed there.
    """
    name = display_name(path)
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        msg = f"{name}: no such file"
        raise ConfigError(msg) from None
    except OSError as error:
        msg = f"{name}: it cannot be read ({error.strerror or error})"
        raise ConfigError(msg) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        msg = f"{name}: no valid TOML ({str(error).splitlines()[0][:120]})"
        raise ConfigError(msg) from None
    rows = content.pop("roof", None)
    if content:
        msg = f"{name}: {next(iter(content))!r} is not known; a roofs file holds [[roof]] entries only"
        raise ConfigError(msg)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        msg = f"{name}: no [[roof]] entry in it"
        raise ConfigError(msg)
    roofs, faults = [], []
    for number, row in enumerate(rows, 1):
        found = _faults(row)
        faults += [f"entry {number}: {fault}" for fault in found]
        if not found:
            roofs.append(_roof(row, name))
    faults += _repeated(roofs)
    if faults:
        msg = f"{name}: " + "; ".join(faults)
        raise ConfigError(msg)
    return roofs


def _faults(row: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with one entry."""
    faults = [f"{key!r} is no key of a roof; known are {', '.join(KEYS)}" for key in row if key not in KEYS]
    faults += [f"{key} is missing or no text" for key in ("gpu", "unit", "source") if not isinstance(row.get(key), str)]
    path, level = row.get("path"), row.get("level")
    if (path is None) == (level is None):
        faults.append("give either path (a compute roof) or level (a bandwidth roof)")
    elif path is not None and path not in PATH_NAMES:
        faults.append(f"path {path!r} is not known; known are {', '.join(PATH_NAMES)}")
    elif level is not None and level not in LEVELS:
        faults.append(f"level {level!r} is not known; known are {', '.join(LEVELS)}")
    else:
        faults += _sparsity_faults(row.get("sparsity"), path)
        faults += _value_faults(row.get("value"), row.get("unit"), path)
    if row.get("kind", "user") not in KINDS:
        faults.append(f"kind {row['kind']!r} is not known; known are {', '.join(KINDS)}")
    return faults


def _sparsity_faults(sparsity: object, path: str | None) -> list[str]:
    if sparsity is None:
        if path is None or not BY_NAME[path].tensor:
            return []
        return ['sparsity is missing: "dense" or "2:4" (data sheets often print the double, sparse value)']
    if not isinstance(sparsity, str) or sparsity not in SPARSITIES:
        return [f'sparsity {sparsity!r} is not known; it is "dense" or "2:4"']
    if sparsity != "dense" and (path is None or not BY_NAME[path].sparse):
        return [f"there is no sparse roof for {path or 'a memory level'}"]
    return []


def _value_faults(value: object, unit: object, path: str | None) -> list[str]:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return ["value is missing or no positive number"]
    if not isinstance(unit, str):
        return []
    allowed = _allowed(path)
    if unit not in allowed:
        return [units.why_not(unit, allowed)]
    if not 1.0 <= value * allowed[unit] <= LARGEST:
        return [f"{value:g} {unit} is no rate of a GPU"]
    return []


def _allowed(path: str | None) -> dict[str, float]:
    return units.BYTE_RATES if path is None else units.of_path(path)


def _roof(row: Mapping[str, Any], name: str) -> Roof:
    path = row.get("path")
    return Roof(
        value=float(row["value"]) * _allowed(path)[row["unit"]],
        path=path,
        level=row.get("level"),
        dense=SPARSITIES[row.get("sparsity", "dense")],
        gpu=row["gpu"],
        source=row.get("kind", "user"),
        citation=f"{row['source']} ({name})",
    )


def _repeated(roofs: Iterable[Roof]) -> list[str]:
    seen: set[tuple[object, ...]] = set()
    faults = []
    for roof in roofs:
        key = (roof.gpu.lower(), roof.path, roof.level, roof.dense)
        if key in seen:
            faults.append(f"{roof.gpu} has two roofs for {roof.path or roof.level}")
        seen.add(key)
    return faults


def dump(roofs: Iterable[Roof], comment: str = "") -> str:
    """The text of a roofs file that :func:`load` reads back.

    Args:
        roofs: what to write; ``source`` must be user or measured, ``citation`` becomes the entry's source.
        comment: lines for the top of the file.
    """
    blocks = ["\n".join(f"# {line}".rstrip() for line in comment.splitlines())] if comment else []
    for roof in roofs:
        unit = "GB/s" if roof.path is None else units.tera(roof.path)
        value = roof.value / (1e9 if roof.path is None else 1e12)
        lines = [
            "[[roof]]",
            f"gpu = {_quoted(roof.gpu)}",
            f"path = {_quoted(roof.path)}" if roof.path is not None else f"level = {_quoted(roof.level or 'dram')}",
            f"value = {value!r}",
            f'unit = "{unit}"',
            *(['sparsity = "dense"' if roof.dense else 'sparsity = "2:4"'] if roof.path is not None else []),
            f"source = {_quoted(roof.citation)}",
            f"kind = {_quoted(roof.source)}",
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _quoted(text: str) -> str:
    """A TOML basic string; control characters are escaped, so that a device name cannot break out of it."""
    escaped = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 0x20 or ord(c) == 0x7F else {"\\": "\\\\", '"': '\\"'}.get(c, c) for c in text
    )
    return f'"{escaped}"'
