"""Every roof the tables hold for a variant, as records: what ``ncuroof roofs`` lists and ``ncuroof bound`` uses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ncuroof import gpus
from ncuroof.gpus.measured import CITATION, KINDS, MATMUL
from ncuroof.model import Note
from ncuroof.paths import PATH_NAMES
from ncuroof.roofs.record import Roof

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.roofs.attach import Devices

TABLE_ORDER = ("user", "measured", "datasheet", "device")
"""Order for a GPU without a report: ``device`` then has only the boost clock, so the data sheet goes before it."""


def of(gpu: gpus.Gpu, user: Sequence[Roof] = ()) -> list[Roof]:
    """All roofs of a variant: the user's, measured, from device attributes, from the data sheet; dense and sparse."""
    found = [replace(roof, source="user") for roof in user if _same(roof.gpu, gpu)]
    measured = gpus.measured().get(gpu.id)
    if measured:
        found.append(
            Roof(measured.bytes_s, None, "dram", True, gpu.id, "measured", f"highest data-moving kernel; {CITATION}")
        )
        found += [
            Roof(peak.flop_s, peak.path, None, True, gpu.id, "measured", f"{KINDS[peak.kind]}; {CITATION}", peak.kind)
            for peak in measured.peaks
        ]
    found += _device(gpu)
    peaks = gpu.source.get("peaks", "")
    if gpu.bytes_s:
        found.append(Roof(gpu.bytes_s, None, "dram", True, gpu.id, "datasheet", gpu.source.get("bandwidth", peaks)))
    found += [Roof(v, p, None, True, gpu.id, "datasheet", peaks) for p, v in gpu.dense.items()]
    found += [
        Roof(v, p, None, False, gpu.id, "datasheet", f"with 2:4 sparsity; {peaks}") for p, v in gpu.sparse.items()
    ]
    return found


def _device(gpu: gpus.Gpu) -> list[Roof]:
    """SMs × dense rate × boost clock, and memory clock × bus width."""
    roofs = []
    device = gpu.source.get("device", "")
    if gpu.nominal_bytes_s:
        cite = f"{(gpu.memory_hz or 0) / 1e6:.0f} MHz × 2 × {gpu.bus_bits} bit / 8; {device}"
        roofs.append(Roof(gpu.nominal_bytes_s, None, "dram", True, gpu.id, "device", cite))
    known = gpus.architecture(gpu.cc, gpu.driver_name or gpu.name)
    if known and gpu.clock_hz and gpu.sms:
        for path in PATH_NAMES:
            if path in known.rates:
                rate = known.rates[path]
                cite = f"{gpu.sms} SMs × {rate:g} × {gpu.clock_hz / 1e6:.0f} MHz; {known.source}"
                roofs.append(Roof(gpu.sms * rate * gpu.clock_hz, path, None, True, gpu.id, "device", cite))
    return roofs


def _same(wanted: str, gpu: gpus.Gpu) -> bool:
    if gpu.driver_name and wanted.lower() == gpu.driver_name.lower():
        return True
    meant = gpus.find(wanted).gpu
    return meant is not None and meant.id == gpu.id


def best(
    roofs: Sequence[Roof],
    *,
    path: str | None = None,
    level: str | None = None,
    source: str | None = None,
    matrix: bool = False,
) -> Roof | None:
    """The roof to use for a path or level: first source in :data:`TABLE_ORDER` that has one, its highest value.

    An FMA sweep may reach more than any matrix product does (H100 FP32: 61.5 against 51.9 TFLOP/s), so a product is
    held against the highest product where one was measured.

    Args:
        roofs: of one variant, see :func:`of`.
        path: compute path; None for a bandwidth.
        level: memory level; ``dram`` where neither is given.
        source: only from this source.
        matrix: whether the roof is for a matrix product.
    """
    level = level or (None if path else "dram")
    for wanted in (source,) if source else TABLE_ORDER:
        fitting = [r for r in roofs if r.dense and r.path == path and r.level == level and r.source == wanted]
        if fitting:
            products = [r for r in fitting if r.kind == MATMUL] if matrix else []
            return max(products or fitting, key=lambda roof: roof.value)
    return None


def each_kind(roofs: Sequence[Roof], path: str, source: str | None = None) -> list[Roof]:
    """The roofs of a path that :func:`best` chooses from: the best one, and those measured in another way, if any."""
    first = best(roofs, path=path, source=source)
    if first is None:
        return []
    kinds = {r.kind: r for r in roofs if r.dense and r.path == path and r.source == first.source}
    if len(kinds) == 1:
        return [first]
    return sorted(kinds.values(), key=lambda roof: list(KINDS).index(roof.kind))


def slope_of(roofs: Sequence[Roof], roof: Roof) -> Roof | None:
    """The DRAM bandwidth that goes with a compute roof: of the same source where there is one."""
    return best(roofs, source=roof.source) or best(roofs)


def notes(known: Devices) -> list[Note]:
    """What the user should know about devices that are not in the table or may be several variants."""
    texts = [text for text in known.table["device_note"].to_list() if text]
    return [
        Note("gpu-not-identified", f"{text[0].upper()}{text[1:]}: no measured or data sheet roof is used for it.")
        for text in dict.fromkeys(texts)
    ]
