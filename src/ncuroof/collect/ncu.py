"""Finds Nsight Compute's command line tool and tells its version."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ncuroof.collect._data import toml
from ncuroof.errors import CollectError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = "ncu"
PATTERNS = (
    "usr/local/cuda/bin",
    "usr/local/cuda-*/bin",
    "usr/local/cuda*/nsight-compute-*",
    "usr/local/NVIDIA-Nsight-Compute*",
    "opt/nvidia/nsight-compute/*",
    "opt/nvidia/hpc_sdk/*/*/profilers/Nsight_Compute*",
    "usr/lib/nsight-compute*",
    "opt/cuda/bin",
    "opt/cuda/nsight_compute*",
)
"""Folders below the root in which installers of CUDA, of Nsight Compute and of distributions put it."""
ASK_SECONDS = 60
_VERSION = re.compile(r"Version (\d{4})\.(\d+)(?:\.(\d+))?")


class NcuMissingError(CollectError):
    """There is no ncu on this machine."""


@dataclass(frozen=True, order=True)
class Version:
    """Year and number of a release, such as 2025.1."""

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year}.{self.number}"

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read ``2025.1`` or ``2025.1.0.0``."""
        year, number = text.split(".")[:2]
        return cls(int(year), int(number))


@dataclass(frozen=True)
class Ncu:
    """The tool that was found.

    Attributes:
        path: the executable.
        version: its release; None if it does not tell.
        how: where it was found, for messages.
    """

    path: Path
    version: Version | None
    how: str

    @property
    def note(self) -> str | None:
        """What to tell the user about the version, if anything."""
        oldest, newest = supported()
        if self.version is None:
            return f"{NAME} does not tell its version; it is driven as {newest}"
        if self.version > newest:
            return f"Nsight Compute {self.version} is newer than any known here; it is driven as {newest}"
        if self.version < oldest:
            return f"Nsight Compute {self.version} is older than {oldest}, the oldest that can be driven"
        return None

    @property
    def driven_as(self) -> Version:
        """The version whose options are used."""
        _, newest = supported()
        return newest if self.version is None else min(self.version, newest)


def supported() -> tuple[Version, Version]:
    """Return the oldest and the newest version whose options are known."""
    table = toml("options.toml")
    return Version.parse(table["oldest"]), Version.parse(table["newest"])


def find(environment: Mapping[str, str], *, explicit: Path | None = None, root: Path = Path("/")) -> Ncu:
    """Find ``ncu``: the one named, else the first on PATH, else below CUDA_HOME, else the newest installed.

    Args:
        environment: environment variables (PATH, CUDA_HOME, CUDA_PATH, CONDA_PREFIX).
        explicit: use this executable.
        root: folder that stands for the root of the file system.

    Raises:
        NcuMissingError: if there is none.
        CollectError: if the one named cannot be run, or if it is too old.
    """
    found = [_ask(path, how) for path, how in _candidates(environment, explicit, root)]
    usable = [ncu for ncu in found if ncu is not None]
    if not usable:
        raise (NcuMissingError if explicit is None else CollectError)(_missing(explicit))
    # PATH and CUDA_HOME are the user's choice; among what merely is installed the newest knows the most GPUs.
    chosen = next((ncu for ncu in usable if ncu.how != "installed"), None) or max(
        usable, key=lambda ncu: ncu.version or Version(0, 0)
    )
    oldest, _ = supported()
    if chosen.version is not None and chosen.version < oldest:
        msg = f"{chosen.note}. Install a current Nsight Compute, or name another one with --ncu."
        raise CollectError(msg)
    return chosen


def imagined() -> Ncu:
    """Return a stand-in for a plan where no ncu is installed: the newest version whose options are known."""
    return Ncu(Path(NAME), supported()[1], "none was found here; the plan is for this version")


def _missing(explicit: Path | None) -> str:
    if explicit is not None:
        return f"{explicit.name}, given with --ncu, cannot be run. Name the ncu executable of an installation."
    return (
        "Nsight Compute's ncu was not found on PATH, below CUDA_HOME or in the usual folders. It comes with the CUDA "
        "toolkit (package nsight-compute) or from developer.nvidia.com/nsight-compute; name it with --ncu if it is "
        "elsewhere. Reports that were made on another machine need no ncu: `ncuroof analyze REPORT`."
    )


def _candidates(environment: Mapping[str, str], explicit: Path | None, root: Path) -> Iterator[tuple[Path, str]]:
    if explicit is not None:
        yield explicit, "--ncu"
        return
    on_path = shutil.which(NAME, path=environment.get("PATH", ""))
    if on_path:
        yield Path(on_path), "PATH"
        return
    for variable in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"):
        home = environment.get(variable)
        if home:
            folders = [Path(home) / "bin", *sorted(Path(home).glob("nsight-compute*"), reverse=True)]
            yield from ((folder / NAME, variable) for folder in folders if (folder / NAME).is_file())
    for pattern in PATTERNS:
        for folder in sorted(root.glob(pattern), reverse=True):
            if (folder / NAME).is_file():
                yield folder / NAME, "installed"


def _ask(path: Path, how: str) -> Ncu | None:
    """Run ``ncu --version``; None if that is not possible."""
    try:
        answer = subprocess.run(  # noqa: S603  the user's own ncu
            [str(path), "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASK_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(answer.stdout + answer.stderr)
    if match is None and answer.returncode != 0:
        return None
    return Ncu(path, Version(int(match[1]), int(match[2])) if match else None, how)
