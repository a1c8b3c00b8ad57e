"""The JSON of ``ncuroof roofs``: SI base units, everything with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ncuroof.cli._roofs_text import pairs_of, rooflines
from ncuroof.paths import PATH_NAMES
from ncuroof.roofs.comparison import Roofline, crossing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.gpus import Gpu
    from ncuroof.roofs.record import Roof


def document(
    gpus: Sequence[Gpu],
    own: Sequence[Sequence[Roof]],
    paths: Sequence[str],
    source: str | None,
    *,
    pairs: bool,
) -> dict[str, Any]:
    """GPUs with their roofs; with ``pairs`` also rooflines and crossings of all pairs, per path."""
    result: dict[str, Any] = {
        "gpus": [
            gpu_of(gpu, [r for r in mine if not paths or r.path in (None, *paths)])
            for gpu, mine in zip(gpus, own, strict=True)
        ]
    }
    if pairs:
        result["paths"] = [
            entry
            for p in paths or PATH_NAMES
            if (entry := _path(p, list(zip(gpus, own, strict=True)), source))["rooflines"]
        ]
    return result


def gpu_of(gpu: Gpu, own: Sequence[Roof]) -> dict[str, Any]:
    """One GPU with these roofs."""
    return {
        "id": gpu.id,
        "name": gpu.name,
        "compute_capability": f"{gpu.cc[0]}.{gpu.cc[1]}" if gpu.cc else None,
        "sms": gpu.sms,
        "memory_bytes": gpu.memory_bytes,
        "l2_bytes": gpu.l2_bytes,
        "clock_hz": gpu.clock_hz,
        "note": gpu.note or None,
        "roofs": [roof_of(roof) for roof in own],
    }


def roof_of(roof: Roof) -> dict[str, Any]:
    """One roof."""
    return {
        "path": roof.path,
        "level": roof.level,
        "value": roof.value,
        "unit": roof.unit,
        "dense": roof.dense,
        "source": roof.source,
        "citation": roof.citation,
        "kind": roof.kind or None,
    }


def _path(path: str, named: Sequence[tuple[Gpu, Sequence[Roof]]], source: str | None) -> dict[str, Any]:
    lines = [
        (flat.kind, Roofline(gpu.id, flat.value, slope.value))
        for gpu, own in named
        for flat, slope in rooflines(own, path, source)
    ]
    return {
        "path": path,
        "rooflines": [
            {
                "gpu": line.name,
                "kind": kind or None,
                "flop_s": line.flop_s,
                "bytes_s": line.bytes_s,
                "ridge_flop_per_byte": line.ridge,
            }
            for kind, line in lines
        ],
        "crossings": [
            {"gpus": [one.name, other.name], "kind": kind or None, "intensity_flop_per_byte": crossing(one, other)}
            for kind, one, other in pairs_of(lines)
        ],
    }
