"""What a report's container says, without decoding its results: for ``ncuroof doctor`` and for looking at a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf.internal import api_implementation

from ncuroof.ncurep.container import walk
from ncuroof.ncurep.session import merge

if TYPE_CHECKING:
    import mmap


@dataclass(frozen=True)
class ReportInfo:
    """Facts about a report file; nothing in it is private to the user.

    Attributes:
        format_version: of the file header; None where it says none.
        blocks: number of blocks.
        entries: number of entries by kind: source, kernel, range, cmdlist, graph, topology, unknown.
        strings: size of the string table.
        ncu_version, cuda_version, driver_version: as the session says; None where it does not.
        gpus: names of the devices.
        origin: ``profiled`` or ``reconstructed``.
    """

    format_version: int | None
    blocks: int
    entries: dict[str, int]
    strings: int
    ncu_version: str | None
    cuda_version: str | None
    driver_version: str | None
    gpus: tuple[str, ...]
    origin: str


def describe(data: bytes | mmap.mmap, name: str) -> ReportInfo:
    """Describe a report.

    Args:
        data: the whole report, decompressed.
        name: how to call it in errors.

    Raises:
        DamagedError: for a broken or cut file.
    """
    layout = walk(data, name)
    facts = merge(layout)
    return ReportInfo(
        format_version=layout.version,
        blocks=layout.blocks,
        entries=dict(Counter(entry.kind for entry in layout.entries)),
        strings=len(layout.strings),
        ncu_version=facts.ncu_version,
        cuda_version=facts.cuda_version,
        driver_version=facts.driver_version,
        gpus=tuple(device.name or "" for device in facts.devices),
        origin=facts.origin,
    )


def protobuf_backend() -> str:
    """Name of the implementation that protobuf runs on: ``upb`` (its C core), or ``python``, about 55 times slower."""
    return str(api_implementation.Type())
