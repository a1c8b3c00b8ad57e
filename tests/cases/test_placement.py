"""Kernels placed from what is there: the small inputs that went wrong, with the right answer worked out by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.conftest import ROOT

from ncuroof import pipeline, roofline, roofs, store
from ncuroof.cli import _bound
from ncuroof.config import Config
from ncuroof.errors import UsageError
from ncuroof.reading import LoadOptions
from ncuroof.workloads.dtypes import DTYPES
from ncuroof.workloads.formulas import operations

CASES = ROOT.parent / "shared" / "cases"


def case(name: str) -> Path:
    path = CASES / name
    if not path.exists():
        pytest.skip(f"the collected cases are not here (../shared/cases/{name}); they are not part of the repository")
    return path


def analyzed(name: str, **options):
    return pipeline.analyze(pipeline.load([case(name)], LoadOptions(**options)), Config(nsight="hide"))


def test_bound_and_analyze_name_the_same_path_for_the_case():
    """Elementwise FP16 is computed in FP32, as frameworks do it; an MXFP6 product runs on the FP6 tensor path."""
    got = analyzed("structure/el.csv", annotations=case("structure/el.jsonl"), gpu="B200").kernels
    assert got["path"].to_list() == ["fp32", "fp6"]
    for path, op, sizes in (
        ("fp32", "elementwise", ["--n", "33554432", "--dtype", "fp16"]),
        ("fp6", "gemm", ["--m", "4096", "--n", "4096", "--k", "4096", "--dtype", "mxfp6"]),
    ):
        wanted = _bound.asked(op, sizes, None, None)
        (machine,) = _bound.machines(["B200"], wanted, source=None, roofs=None, peak=None, bandwidth=None)
        assert machine.bound.flat.path == path


B200 = {"gpu_name": "NVIDIA B200", "cc_major": 10, "cc_minor": 0, "source_sha256": "0" * 64, "sm_count": 148.0}


def test_bound_and_analyze_name_the_same_path_for_every_operation_and_type():
    rows, expected = [], []
    for op in sorted(operations()):
        sizes = [f"--{key}=64" for key in operations()[op].KEYS]
        if op in {"decode", "prefill"}:
            sizes = ["--model=qwen2.5-7b", "--prompt=64"]
        sizes += ["--groups=2"] if op == "grouped_gemm" else []
        sizes += ["--index-bytes=4"] if op == "spmv" else []
        for element in DTYPES:
            wanted = _bound.asked(op, [*sizes, f"--dtype={element}"], None, None)
            try:
                (machine,) = _bound.machines(["B200"], wanted, source=None, roofs=None, peak=None, bandwidth=None)
            except UsageError:  # no roof of that path on this GPU: the path is told all the same
                path = wanted.paths[-1]
            else:
                path = machine.bound.flat.path if machine.bound.flat else None
            expected.append((op, element, path))
            rows.append({"op": op, "op_dtype": element, "useful_flop": wanted.cost.flop})
    schema = {c.name: c.dtype for c in store.stored_columns()}
    frame = pl.DataFrame([dict.fromkeys(schema) | B200 | row for row in rows], schema=schema)
    placed = roofline.place(roofs.attach(frame))
    assert list(placed.select("op", "op_dtype", "path").iter_rows()) == expected
    assert len(expected) == 16 * 16
    told = {(op, element): path for op, element, path in expected}
    assert told["gemm", "int1"] == "int1"
    assert told["gemm", "mxfp6"] == "fp6"
    assert told["gemv", "bf16"] == "fp32"
    assert told["copy", "fp32"] is None
