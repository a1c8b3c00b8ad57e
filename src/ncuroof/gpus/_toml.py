"""Reads the data files of this package and refuses rows that are not whole."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Any

from ncuroof.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def load(*parts: str) -> dict[str, Any]:
    """The content of a TOML file of this package.

    Raises:
        RegistryError: if it is not valid TOML.
    """
    file = resources.files("ncuroof.gpus").joinpath(*parts)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        msg = f"gpus/{'/'.join(parts)} is no valid TOML: {error}"
        raise RegistryError(msg) from error


def require(row: Mapping[str, Any], allowed: Iterable[str], needed: Iterable[str], where: str) -> None:
    """Check the keys of a row.

    Raises:
        RegistryError: naming the row and every key that is missing or unknown.
    """
    missing = [key for key in needed if key not in row]
    unknown = sorted(set(row) - set(allowed))
    faults = [f"{key} is missing" for key in missing] + [f"{key} is no key of such a row" for key in unknown]
    if faults:
        msg = f"{where}: " + "; ".join(faults)
        raise RegistryError(msg)
