"""Finds plug-in modules (readers, rules, reporters) by scanning their folder, and fails loudly.

One file is one reader, rule or output format; nothing else needs an edit. The price of a scan is silence, so a module
that cannot be imported or lacks an attribute of its contract stops the load with a message that names the file.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from ncuroof.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType


def scan(package: str, contract: Mapping[str, type | tuple[type, ...]], *, unique: Sequence[str]) -> list[ModuleType]:
    """Import every public module of ``package`` and check it against ``contract``.

    Args:
        package: dotted name of the package whose modules are plug-ins; names that begin with ``_`` are helpers.
        contract: attribute name to the type(s) it must have; ``object`` accepts anything.
        unique: attributes whose values must differ between modules.

    Returns:
        The modules, sorted by name.

    Raises:
        RegistryError: naming the module and everything that is wrong with it.
    """
    home = importlib.import_module(package)
    modules = []
    for info in sorted(pkgutil.iter_modules(home.__path__), key=lambda i: i.name):
        if info.name.startswith("_"):
            continue
        name = f"{package}.{info.name}"
        try:
            module = importlib.import_module(name)
        except Exception as error:
            msg = f"{name} cannot be imported: {error}"
            raise RegistryError(msg) from error
        faults = [
            f"{attribute} is missing" if not hasattr(module, attribute) else f"{attribute} is no {kind}"
            for attribute, kind in contract.items()
            if not hasattr(module, attribute) or not isinstance(getattr(module, attribute), kind)
        ]
        if faults:
            msg = f"{name}: " + "; ".join(faults)
            raise RegistryError(msg)
        modules.append(module)
    for attribute in unique:
        seen: dict[object, str] = {}
        for module in modules:
            value = getattr(module, attribute)
            if value in seen:
                msg = f"{module.__name__} and {seen[value]} both have {attribute} = {value!r}"
                raise RegistryError(msg)
            seen[value] = module.__name__
    return modules
