"""Which metrics exist on a GPU: asked of its ncu where possible, else from a table."""

from __future__ import annotations

import csv
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ncuroof.collect._data import text, toml
from ncuroof.collect.gpu import chip_of

if TYPE_CHECKING:
    from ncuroof.collect.ncu import Ncu

ASK_SECONDS = 120
FREE = ("launch__", "device__", "profiler__", "sm__maximum_warps_per_active_cycle_pct")
"""Metrics that ncu knows without a counter; ``--query-metrics`` does not list them unless asked separately."""
FEWEST = 100
"""An answer with fewer metrics than this is no answer: every supported chip has thousands."""
_NAME = re.compile(r"^([a-z][a-z0-9]*__[a-z0-9_]+)\b", re.MULTILINE)


@dataclass(frozen=True)
class Availability:
    """What is known about the metrics of a GPU.

    Attributes:
        present: base names (without ``.sum`` and so on) that exist; None if nothing is known.
        absent: base names known not to exist.
        source: who says so.
    """

    present: frozenset[str] | None
    absent: frozenset[str]
    source: str

    def has(self, metric: str) -> bool:
        """Whether the metric can be asked for; what is not known is taken to exist."""
        base = metric.split(".", 1)[0]
        if base.startswith(FREE):
            return True
        if self.present is None:
            return base not in self.absent
        return base in self.present


def of(ncu: Ncu | None, cc: str | None, device: str | None = None, *, here: bool) -> tuple[Availability, str]:
    """Find out what exists.

    Args:
        ncu: the tool to ask; None asks nobody.
        cc: compute capability, such as ``9.0``; None if unknown.
        device: name of the GPU; None if unknown.
        here: whether the GPU is in this machine, so that ncu can be asked about it by itself.

    Returns:
        The availability, and ncu's answer (empty if it was not asked or did not answer).
    """
    if ncu is not None:
        chip = None if here or cc is None else chip_of(cc)
        if here or chip is not None:
            answer = ask(ncu, chip)
            names = frozenset(_NAME.findall(answer))
            if len(names) >= FEWEST:
                return Availability(names, frozenset(), "ncu --query-metrics"), answer
    return from_table(cc, device), ""


def ask(ncu: Ncu, chip: str | None) -> str:
    """Return what ``ncu --query-metrics`` says; empty if it cannot be asked."""
    command = [str(ncu.path), "--query-metrics", *(["--chips", chip] if chip else [])]
    try:
        answer = subprocess.run(  # noqa: S603  the user's own ncu
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASK_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 else ""


def from_table(cc: str | None, device: str | None = None) -> Availability:
    """Return what the shipped table says of a compute capability; nothing is known for one it does not have.

    Args:
        cc: compute capability; None if unknown.
        device: name of the GPU, for chips that lack what others of their compute capability have.
    """
    table = _table()
    if cc is None or cc not in table:
        return Availability(None, frozenset(), "nothing is known about this GPU")
    own = toml("chips.toml")["column"].values()
    column = next((c["column"] for c in own if c["cc"] == cc and device and re.search(c["names"], device)), cc)
    absent = frozenset(name for name, exists in table[column].items() if not exists)
    return Availability(None, absent, f"table of metrics by chip, CC {column}")


@cache
def _table() -> dict[str, dict[str, bool]]:
    """By compute capability: base name to whether it exists."""
    rows = list(csv.DictReader(text("metrics.csv").splitlines()))
    capabilities = [column for column in rows[0] if column not in ("metric", "kind")]
    return {cc: {row["metric"]: row[cc] == "1" for row in rows} for cc in capabilities}
