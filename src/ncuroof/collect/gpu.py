"""Which GPU is here, as far as that can be told without CUDA."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from ncuroof.collect._data import toml

QUERY = ("nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader")
ASK_SECONDS = 30
_DEVICE = re.compile(r"^Device (?P<name>.+) \((?P<chip>[A-Za-z]{2}\w+)\)", re.MULTILINE)


@dataclass(frozen=True)
class Gpu:
    """A GPU: its name, its compute capability such as ``9.0``, and who told."""

    name: str
    cc: str | None
    source: str


def detect() -> list[Gpu]:
    """Return the GPUs that ``nvidia-smi`` lists; none if it is not there or fails."""
    try:
        answer = subprocess.run(  # noqa: S603  fixed command
            QUERY, capture_output=True, text=True, errors="replace", timeout=ASK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if answer.returncode != 0:
        return []
    gpus = []
    for line in answer.stdout.splitlines():
        name, _, capability = line.rpartition(",")
        if name.strip():
            cc = capability.strip()
            gpus.append(Gpu(name.strip(), cc if re.fullmatch(r"\d+\.\d+", cc) else None, "nvidia-smi"))
    return gpus


def from_query(answer: str) -> list[Gpu]:
    """Return the GPUs that the answer of ``ncu --query-metrics`` names."""
    chips = toml("chips.toml")["chip"]
    return [Gpu(m["name"], chips.get(m["chip"].lower()), "ncu --query-metrics") for m in _DEVICE.finditer(answer)]


def chip_of(cc: str) -> str | None:
    """Return the name of a chip with this compute capability, as ``ncu --chips`` takes it; None if unknown."""
    return next((chip for chip, capability in toml("chips.toml")["chip"].items() if capability == cc), None)
