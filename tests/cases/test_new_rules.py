"""Rules on the public reports that gave the reason for them, and on every other one: what each finds, and no more."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest
from tests.conftest import CORPUS

from ncuroof import pipeline
from ncuroof.config import Config

CASES = CORPUS.parent / "cases"


@cache
def findings(path):
    if not path.exists():
        pytest.skip(f"{path.name} is not here; public reports are not part of the repository")
    return pipeline.analyze(pipeline.load([path]), Config(nsight="hide")).findings


def found(code, path):
    return findings(path).filter(pl.col("code") == code)


def loud(path):
    return set(findings(path).filter(pl.col("severity") != "note")["code"])


YANNI = CORPUS / "reports" / "SkeletonSkelettron__Yanni__prof.ncu-rep"


def test_w005_a_debug_build():
    # copyLayers: 64 of 82 warp instructions are MOV; 3 LD and 3 ST, no LDG or STG.
    one = found("W005", YANNI).filter(pl.col("kernel") == "copyLayers")
    assert "78 % of its instructions only move registers" in one["message"][0]
    assert found("W005", YANNI).height == 30  # of 31: one returns before it touches memory
    assert not {"T007", "T008", "T009", "M004"} & loud(YANNI)
