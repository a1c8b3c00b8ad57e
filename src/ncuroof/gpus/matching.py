"""Which variant a device is: by name, compute capability, SM count and memory size; says where that is not enough."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.gpus.table import variants

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncuroof.gpus.table import Gpu

# A driver reports less than the nominal size: memory kept by ECC and firmware (T4 14.75 of 16 GiB, B300 267.7 of 288).
MEMORY_LOW, MEMORY_HIGH = 0.88, 1.03

_PREFIX = re.compile(
    r"^(nvidia|geforce|tesla|quadro(?= gv)|amd|instinct|graphics device|jetson(?= (orin|xavier|thor)))\b[ :-]*",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"[a-z]+[0-9]+[a-z0-9]*|[a-z]+|[0-9]+[a-z]*")


@dataclass(frozen=True)
class Match:
    """What a device was found to be.

    Attributes:
        kind: exact, ambiguous or unknown.
        gpu: the variant, where exact.
        candidates: the variants that remain, where ambiguous.
        reason: one clause for people.
    """

    kind: str
    gpu: Gpu | None
    candidates: tuple[Gpu, ...]
    reason: str


def plain_name(gpu_name: str) -> str:
    """A device name without maker and brand, single spaces: ``NVIDIA GeForce RTX 4090`` → ``RTX 4090``."""
    name = " ".join(gpu_name.split())
    while True:
        shorter = _PREFIX.sub("", name)
        if shorter == name:
            return name
        name = shorter


def match(
    gpu_name: str | None,
    cc: tuple[int, int] | None = None,
    sm_count: int | None = None,
    dram_size_bytes: float | None = None,
) -> Match:
    """The variant of a device.

    Args:
        gpu_name: as the driver gives it. Without a name nothing is exact, because the table does not hold every GPU;
            variants that fit compute capability and SM count are candidates.
        cc: compute capability.
        sm_count: SMs.
        dram_size_bytes: DRAM size in byte as the driver gives it (up to 12 % below the nominal size).

    An argument that is None excludes nothing; one that contradicts a variant excludes it.
    """
    if not gpu_name:
        return _nameless(cc, sm_count, dram_size_bytes)
    name = plain_name(gpu_name)
    named = [gpu for gpu in variants() if any(p.fullmatch(name) for p in gpu.names)]
    if not named:
        return Match("unknown", None, (), f"no GPU of the table is called {gpu_name}")
    left = [gpu for gpu in named if _fits(gpu, cc, sm_count, dram_size_bytes)]
    if len(left) == 1:
        return Match("exact", left[0], (), f"{gpu_name} is {left[0].name}")
    if left:
        names = ", ".join(gpu.name for gpu in left)
        return Match("ambiguous", None, tuple(left), f"{gpu_name} may be any of: {names}")
    names = ", ".join(gpu.name for gpu in named)
    facts = [
        *([f"CC {cc[0]}.{cc[1]}"] if cc else []),
        *([f"{sm_count} SMs"] if sm_count is not None else []),
        *([f"{dram_size_bytes / 2**30:.1f} GiB"] if dram_size_bytes is not None else []),
    ]
    return Match("unknown", None, (), f"{gpu_name} with {', '.join(facts)} is none of: {names}")


def _fits(gpu: Gpu, cc: tuple[int, int] | None, sm_count: int | None, dram_size_bytes: float | None) -> bool:
    """Whether nothing that is known contradicts a variant."""
    return (
        (cc is None or gpu.cc is None or gpu.cc == cc)
        and (sm_count is None or gpu.sms is None or gpu.sms == sm_count)
        and (dram_size_bytes is None or MEMORY_LOW <= dram_size_bytes / gpu.memory_bytes <= MEMORY_HIGH)
    )


def _nameless(cc: tuple[int, int] | None, sm_count: int | None, dram_size_bytes: float | None) -> Match:
    if cc is None or sm_count is None:
        return Match("unknown", None, (), "the report names no GPU")
    fitting = tuple(gpu for gpu in variants() if gpu.cc == cc and _fits(gpu, cc, sm_count, dram_size_bytes))
    if not fitting:
        return Match("unknown", None, (), f"the report names no GPU, and none of the table has {sm_count} SMs")
    names = ", ".join(gpu.name for gpu in fitting)
    reason = f"the report names no GPU; CC {cc[0]}.{cc[1]} and {sm_count} SMs fit {names}"
    return Match("ambiguous", None, fitting, reason)


def tokens(text: str) -> tuple[str, ...]:
    """The words of a GPU's name, lower case, for a forgiving comparison."""
    return tuple(_TOKENS.findall(text.lower()))


def find(query: str) -> Match:
    """The variant a person means: an id, a full or partial name, or a device name.

    ``H100`` names a family: it gives the family's default variant as an exact match whose ``candidates`` are the
    others, so that a caller can say so. ``H100-PCIe``, ``a100 80 sxm`` and ``RTX 4080`` are exact.
    """
    wanted = query.strip().lower()
    for gpu in variants():
        if wanted in (gpu.id, gpu.name.lower()):
            return Match("exact", gpu, (), gpu.name)
    words = tokens(query)
    # "4080" is the RTX 4080, not every name that holds the number; "RTX" alone is no family.
    whole = any(character.isdigit() for character in query)
    family = [gpu for gpu in variants() if whole and tokens(gpu.family)[-len(words) :] == words]
    device = match(query)
    if device.gpu is not None and not family:
        return device
    found = [*family, *(gpu for gpu in device.candidates if gpu not in family)]
    found = found or [gpu for gpu in variants() if _says(gpu, words)]
    if len(found) == 1:
        return Match("exact", found[0], (), found[0].name)
    defaults = [gpu for gpu in found if gpu.default]
    if len(defaults) == 1 and len({gpu.family for gpu in found}) == 1:
        others = tuple(gpu for gpu in found if gpu is not defaults[0])
        return Match("exact", defaults[0], others, f"{query} is taken as {defaults[0].name}")
    if found:
        return Match("ambiguous", None, tuple(found), f"{query} may be any of: {_some(gpu.id for gpu in found)}")
    return Match("unknown", None, (), f"no GPU of the table is called {query}")


def _some(names: Iterable[str], most: int = 8) -> str:
    """The first names, and how many more there are."""
    every = list(names)
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def _says(gpu: Gpu, wanted: tuple[str, ...]) -> bool:
    """Whether every word of the query begins a word of the GPU's name or id.

    A number is whole: H20 does not begin H200, and a GPU of that name is another one.
    """
    words = set(tokens(gpu.name)) | set(tokens(gpu.id))
    return bool(wanted) and all(any(_begins(w, word) for word in words) for w in wanted)


def _begins(start: str, word: str) -> bool:
    cut_number = start[-1:].isdigit() and word[len(start) : len(start) + 1].isdigit()
    return word.startswith(start) and not cut_number
