"""Imports go one way: a module imports only from layers below its own, and no module is a grab bag."""

from __future__ import annotations

import ast

import pytest
from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "ncuroof"
LAYERS = (
    # What everything speaks: errors, names of columns, records, files.
    ("errors", "tables", "paths", "verdict_words", "model", "registry", "quantity_text"),
    ("inputs", "outputs", "annotate", "program_time"),
    # What is known about formats, GPUs, workloads and counters.
    ("ncurep", "gpus", "workloads"),
    ("metrics", "readers", "roofs", "testing"),
    # A kernel under its roof, and tables on disk.
    ("roofline", "verdicts", "annotation_doubt", "store", "expand"),
    # What is wrong with it.
    ("rules", "nsight"),
    # The line from files to an analysis.
    ("reading", "replacing", "explaining", "pipeline"),
    # What is made of analyses.
    ("suite", "compare", "baseline", "gate", "config", "reporters"),
    ("collect",),
    ("cli", "__main__", "__init__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
MODULES = sorted(PACKAGE.rglob("*.py"))


def stage(module: str) -> str:
    """``ncuroof.readers.ncu_rep`` belongs to ``readers``; the package itself to ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imported(path) -> set[str]:
    """Stages that a module imports at run time, anywhere in it; imports for type checkers do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ncuroof":
            if node.module == "ncuroof":
                found |= {a.name for a in node.names if a.name in LEVEL}
            else:
                found.add(stage(node.module))
        elif isinstance(node, ast.Import):
            found |= {stage(a.name) for a in node.names if a.name.split(".")[0] == "ncuroof" and "." in a.name}
    return found


def test_every_module_belongs_to_a_layer():
    stages = {p.relative_to(PACKAGE).parts[0].removesuffix(".py") for p in MODULES}
    assert stages == set(LEVEL)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    upwards = {s for s in imported(path) if LEVEL[s] > LEVEL[own]}
    assert not upwards, f"{own} imports {', '.join(sorted(upwards))}, which stand above it"


def test_no_module_is_called_utils_or_common():
    assert not [p for p in MODULES if p.stem.strip("_") in {"utils", "util", "common", "helpers", "misc"}]


def test_no_module_outgrows_a_screenful_of_thought():
    long = {str(p.relative_to(PACKAGE)): n for p in MODULES if (n := len(p.read_text("utf-8").splitlines())) > 400}
    assert not long
