from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

COLLECTORS = Path(__file__).resolve().parents[2] / "collectors"


@pytest.fixture(scope="session")
def torch():
    return pytest.importorskip("torch", reason="the collectors run on PyTorch, which is not installed here")


@pytest.fixture
def collector(torch, monkeypatch):
    """Imports a collector by name, as running it from its folder would."""
    monkeypatch.syspath_prepend(str(COLLECTORS))

    def load(name):
        return importlib.import_module(name)

    yield load
    for name in [path.stem for path in COLLECTORS.glob("*.py")]:
        sys.modules.pop(name, None)
