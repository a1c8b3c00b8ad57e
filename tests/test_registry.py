"""The scan for plug-ins is loud: every fault names the module."""

from __future__ import annotations

import sys

import pytest

from ncuroof.errors import RegistryError
from ncuroof.registry import scan

CONTRACT = {"NAME": str, "run": object}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write modules into a fresh package and scan it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name, **modules):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").touch()
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(text, encoding="utf-8")
        sys.modules.pop(name, None)
        return scan(name, CONTRACT, unique=["NAME"])

    return make


def test_modules_are_found_by_name_and_helpers_are_not(package):
    found = package("plug_ok", b="NAME = 'b'\nrun = 1\n", a="NAME = 'a'\nrun = 1\n", _helper="1 / 0\n")
    assert [m.NAME for m in found] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "modules", "words"),
    [
        ("plug_broken", {"a": "import no_such_module_at_all\n"}, "plug_broken.a cannot be imported"),
        ("plug_missing", {"a": "NAME = 'a'\n"}, "plug_missing.a: run is missing"),
        ("plug_type", {"a": "NAME = 1\nrun = 1\n"}, "plug_type.a: NAME is no"),
        ("plug_twice", {"a": "NAME = 'x'\nrun = 1\n", "b": "NAME = 'x'\nrun = 1\n"}, "both have NAME = 'x'"),
    ],
)
def test_faults_stop_the_load(package, name, modules, words):
    with pytest.raises(RegistryError, match=words):
        package(name, **modules)
