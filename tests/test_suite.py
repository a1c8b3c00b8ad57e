"""Findings over many reports by kernel and cause, and how much of the time a few of them cover."""

from __future__ import annotations

import pytest
from tests.builders import analysis, finding, kernel

from ncuroof import suite

KERNELS = [
    kernel(kernel_name="a", duration_s=3e-3, source="one.ncu-rep"),
    kernel(kernel_name="a", duration_s=1e-3, source="two.ncu-rep", grid_x=7),
    kernel(kernel_name="b", duration_s=2e-3, source="two.ncu-rep"),
    kernel(kernel_name="c", duration_s=3e-3, source="two.ncu-rep"),
    kernel(kernel_name="d", duration_s=1e-3, source="two.ncu-rep"),
]  # 10 ms
FINDINGS = [
    finding(0, code="M001", name="uncoalesced", time_at_stake_s=1e-3, severity="info", message="first"),
    finding(1, code="M001", name="uncoalesced", time_at_stake_s=5e-4, severity="warning", message="second"),
    finding(0, code="T007", name="latency-bound", time_at_stake_s=2e-3),
    finding(2, code="M001", name="uncoalesced", time_at_stake_s=None),
    finding(3, code="W003", name="divergence", time_at_stake_s=1e-3),
    finding(4, code="R007", name="near-roof", severity="note"),
    finding(4, code="D006", name="cold-caches", severity="warning"),
    finding(None, code="P001", name="host-gaps"),
]


def test_rows_by_kernel_and_cause_over_reports():
    table = suite.rows(analysis(KERNELS, FINDINGS))
    columns = ("kernel", "code", "launches", "reports", "severity", "message")
    assert table.select(columns).rows() == [
        ("a", "M001", 2, 2, "warning", "first"),
        ("a", "T007", 1, 1, "warning", table["message"][1]),
        ("c", "W003", 1, 1, "warning", table["message"][2]),
        ("b", "M001", 1, 1, "warning", table["message"][3]),
    ]
    assert table["time_s"].to_list() == pytest.approx([4e-3, 3e-3, 3e-3, 2e-3])
    assert table["share"].to_list() == pytest.approx([0.4, 0.3, 0.3, 0.2])
    # The second concerns a launch that the first has counted.
    assert table["covered_share"].to_list() == pytest.approx([0.4, 0.4, 0.7, 0.9])
    assert table["time_at_stake_s"].to_list() == [pytest.approx(1.5e-3), 2e-3, 1e-3, None]
    assert dict(table.schema) == suite.SCHEMA


def test_the_headline_takes_what_adds_most():
    headline = suite.headline(analysis(KERNELS, FINDINGS))
    assert [(r["kernel"], r["code"]) for r in headline.rows] == [("a", "M001"), ("c", "W003"), ("b", "M001")]
    assert headline.share == pytest.approx(0.9)
    two = suite.headline(analysis(KERNELS, FINDINGS), most=2)
    assert two.share == pytest.approx(0.7)


def test_a_finding_twice_on_one_launch_counts_once():
    table = suite.rows(analysis(KERNELS, [FINDINGS[3], FINDINGS[3]]))
    assert table.select("launches", "time_s").rows() == [(1, 2e-3)]


def test_without_durations_or_findings():
    untimed = [kernel(kernel_name="a", duration_s=None), kernel(kernel_name="b", duration_s=None)]
    table = suite.rows(analysis(untimed, [finding(0)]))
    assert table.select("time_s", "share", "covered_share").row(0) == (None, None, None)
    assert suite.headline(analysis(untimed, [finding(0)])) is None
    assert suite.headline(analysis(KERNELS, [])) is None
    assert suite.rows(analysis([], [])).is_empty()


def test_one_kernel_needs_no_headline():
    assert suite.headline(analysis(KERNELS[:2], FINDINGS[:2])) is None
