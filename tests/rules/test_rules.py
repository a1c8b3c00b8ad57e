"""The loop over the rules: overrides, accepted findings, order."""

from __future__ import annotations

import polars as pl
import pytest
from tests.rules.frames import placed

from ncuroof import rules, tables
from ncuroof.config import Config, KernelException
from ncuroof.errors import ConfigError

H100 = {"roof_bytes_s": 3e12, "roof_flop_s_fp32": 6e13, "flop_fp32": 1e3, "tensor_pct": 0.0, "dram_bytes": 1e3}
SHORT = [
    H100 | {"duration_s": 3.4e-6, "sm_pct": 20.0, "kernel_name": "small"},
    H100 | {"duration_s": 3.3e-6, "kernel_name": "large"},
    H100 | {"duration_s": 4e-6, "sm_pct": 24.0, "kernel_name": "middle"},
]


def found(**choices):
    return rules.run(placed(*SHORT), Config(select=("T001",), **choices)).findings


def test_most_time_at_stake_first():
    assert found()["kernel"].to_list() == ["large", "middle", "small"]
    assert found().schema == tables.schema(tables.ANOMALIES)


def test_unknown_stakes_come_last_most_severe_first():
    frame = placed(*SHORT, H100 | {"duration_s": None})
    findings = rules.run(frame, Config(select=("T001", "D"))).findings
    stakes = findings["time_at_stake_s"].to_list()
    known = [s for s in stakes if s is not None]
    assert known == sorted(known, reverse=True)
    assert stakes[len(known) :] == [None] * (len(stakes) - len(known))


def test_severity_can_be_set_by_code_and_name():
    assert set(found(severity={"T001": "error"})["severity"]) == {"error"}
    assert set(found(severity={"launch-overhead": "info"})["severity"]) == {"info"}


@pytest.mark.parametrize(
    "choices",
    [
        {"severity": {"T999": "error"}},
        {"thresholds": {"T001": {"no_such": 1.0}}},
        {"thresholds": {"no-such": {"x": 1.0}}},
    ],
)
def test_overrides_of_what_does_not_exist_are_refused(choices):
    with pytest.raises(ConfigError):
        found(**choices)


def test_accepted_findings_are_left_out_by_name_and_rule():
    accepted = KernelException(kernel="^(small|large)$", rules=("T",), reason="known")
    assert found(exceptions=(accepted,))["kernel"].to_list() == ["middle"]
    other = KernelException(kernel="small", rules=("R",), reason="known")
    assert found(exceptions=(other,)).height == 3


def test_no_kernels_give_no_findings():
    outcome = rules.run(placed(), Config())
    assert outcome.findings.filter(pl.col("row").is_not_null()).is_empty()


def test_what_is_at_stake_counts_all_launches_of_a_summary():
    (one,) = rules.run(placed(SHORT[0]), Config(select=("T001",))).findings["time_at_stake_s"].to_list()
    (all_of_them,) = (
        rules.run(placed(SHORT[0] | {"invocations": 30.0}), Config(select=("T001",)))
        .findings["time_at_stake_s"]
        .to_list()
    )
    assert all_of_them == pytest.approx(30 * one)
