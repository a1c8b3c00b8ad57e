"""Our tests against Nsight's own over the public reports, and how much all rules together say."""

from __future__ import annotations

import importlib.util
import sys

import polars as pl
import pytest
from tests.conftest import ROOT

from ncuroof import pipeline
from ncuroof.config import Config
from ncuroof.rules import _context

ALLOWED = 5.0
"""Percent of the kernels both judged on which the two may differ where the thresholds are the same."""


def benchmark():
    spec = importlib.util.spec_from_file_location("rule_agreement", ROOT / "benchmarks" / "rule_agreement.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


script = benchmark()


@pytest.fixture(scope="module")
def analysis(corpus):
    return pipeline.analyze(pipeline.load_all([corpus / "reports"]).dataset, Config(nsight="hide"))


@pytest.mark.parametrize("pair", script.PAIRS, ids=lambda p: p.name)
def test_same_threshold_same_answer(analysis, pair):
    kernels = _context.add(analysis.kernels)
    loud = analysis.findings.filter(pl.col("severity") != "note")
    judged = script._judged(kernels, analysis.dataset.rules, loud, pair)
    tested = judged.filter(pl.col("test").is_not_null())
    assert tested.height >= 10
    differ = tested.filter(pl.col("test") != pl.col("theirs"))
    assert 100 * differ.height / tested.height <= ALLOWED
    # Where they speak and we do not, a guard says why.
    silent = judged.filter(~pl.col("finding") & pl.col("theirs"))
    assert "unexplained" not in dict(script._causes(silent, pair.causes))


def test_few_findings_per_kernel(analysis):
    loud = analysis.findings.filter(pl.col("severity") != "note").drop_nulls("row")
    per = analysis.kernels.select("row").join(loud.group_by("row").len("n"), on="row", how="left")["n"].fill_null(0)
    assert per.median() <= 3
    assert per.quantile(0.9) <= 3
    assert per.max() <= 5
