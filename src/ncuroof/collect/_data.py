"""Reads the tables in ``data/``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from ncuroof.errors import RegistryError


@cache
def toml(name: str) -> dict[str, Any]:
    """Return a TOML table of this package.

    Raises:
        RegistryError: if it is missing or broken.
    """
    try:
        return tomllib.loads(text(name))
    except tomllib.TOMLDecodeError as error:
        msg = f"collect/data/{name}: {error}"
        raise RegistryError(msg) from error


def text(name: str) -> str:
    """Return the text of a table of this package.

    Raises:
        RegistryError: if it is missing.
    """
    try:
        return files("ncuroof.collect").joinpath("data", name).read_text(encoding="utf-8")
    except OSError as error:
        msg = f"collect/data/{name} cannot be read: {error}"
        raise RegistryError(msg) from error
