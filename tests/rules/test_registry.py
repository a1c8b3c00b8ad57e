"""The catalogue as a whole: pages, thresholds, needs; nothing a counter can hold makes a rule fail."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest
from tests.conftest import ROOT
from tests.rules.frames import COLUMNS, placed

from ncuroof import rules, tables
from ncuroof.config import Config
from ncuroof.rules import Limit, _context

HEADINGS = ("What it does", "Why it matters", "How it decides", "What to do", "When it is wrong")
PLACEMENT = {c.name for c in tables.PLACEMENT}

every_rule = pytest.mark.parametrize("rule", rules.rules(), ids=lambda r: r.CODE)


def test_the_catalogue_is_there():
    codes = [r.CODE for r in rules.rules()]
    assert len(codes) >= 40
    assert codes == sorted(set(codes))
    assert {c[0] for c in codes} <= set(rules.FAMILIES)


@every_rule
def test_manual_page(rule):
    page = rule.__doc__
    assert page.startswith(f"{rule.CODE} {rule.NAME}: ")
    found = [line for line in page.splitlines() if line and not line.startswith(" ")]
    assert found[1:] == list(HEADINGS)
    assert all(len(line) <= 120 for line in page.splitlines())
    assert rules.summary(rule).endswith(".")


@every_rule
def test_thresholds_say_why_and_where_from(rule):
    for name, limit in rule.LIMITS.items():
        assert isinstance(limit, Limit), name
        assert limit.unit, name
        assert len(limit.reason) > 3, name
        assert len(limit.source) > 3, name


@every_rule
def test_needs_are_columns_that_exist(rule):
    known = set(COLUMNS) | PLACEMENT
    for need in rule.NEEDS:
        for column in (need,) if isinstance(need, str) else need:
            assert column in known


@every_rule
def test_every_rule_has_a_test(rule):
    text = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests" / "rules").glob("test_*.py"))
    assert f'"{rule.CODE}"' in text


def scattered(count: int, seed: int) -> pl.DataFrame:
    """Kernels with anything in any column: null, zero, tiny, ordinary, huge."""
    random = Random(seed)  # noqa: S311  data for a test
    rows = []
    for _ in range(count):
        row = {}
        for column, dtype in COLUMNS.items():
            if random.random() < 0.3:
                continue
            if column.startswith("roof_") and dtype == pl.Float64():
                row[column] = random.choice([1e9, 1e12, 1e15])  # attach gives positive roofs
            elif dtype == pl.Float64():
                row[column] = random.choice([0.0, 1e-9, 1.0, 30.0, 99.0, 300.0, 1e6, 1e12]) * random.random()
            elif column in {"op_m", "op_n", "op_k"}:
                row[column] = random.randint(1, 9000)
            elif column in {"kernel_name", "op_sweep", "source_sha256"}:
                row[column] = random.choice(["a", "gemm_64x64_nn", "c"])
        row["duration_s"] = random.choice([None, 0.0, 2e-6, 1e-5, 1e-4, 1.0])
        row["cc_major"] = random.choice([6, 7, 8, 9, 10, 12])
        rows.append(row)
    return placed(*rows)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_counter_makes_a_rule_fail_or_promise_more_than_there_is(seed):
    kernels = scattered(80, seed)
    findings = rules.run(kernels, Config()).findings
    assert findings.schema == tables.schema(tables.ANOMALIES)
    assert findings.height > 100
    stakes = findings.drop_nulls("row").join(kernels.select("row", "gpu_time_s"), on="row", how="left")
    assert stakes["time_at_stake_s"].is_nan().sum() == 0
    assert stakes["time_at_stake_s"].is_infinite().sum() == 0
    assert stakes.filter(pl.col("time_at_stake_s") < 0).is_empty()
    too_much = stakes.filter(pl.col("time_at_stake_s") > pl.col("gpu_time_s") * (1 + 1e-9))
    assert too_much.select("code", "message", "time_at_stake_s", "gpu_time_s").rows() == []
    values = findings["evidence"].list.explode().struct.field("value")
    assert values.is_null().sum() == findings.filter(pl.col("evidence").list.len() == 0).height


@every_rule
def test_kernels_of_which_nothing_is_known(rule):
    outcome = rules.run(placed({"duration_s": None}, {}), Config(select=(rule.CODE,)))
    assert outcome.findings.filter(pl.col("severity") != "note").is_empty()


def test_context_columns_stay_inside():
    kernels = placed({"duration_s": 1e-4})
    assert set(_context.SCHEMA) <= set(_context.add(kernels).columns)
    assert not any(c.startswith("_") for c in rules.run(kernels, Config()).findings.columns)
