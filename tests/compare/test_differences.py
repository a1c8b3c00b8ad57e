"""Findings new, fixed and known: over built reports that go through the whole line."""

from __future__ import annotations

import polars as pl
import pytest

from ncuroof import pipeline
from ncuroof.compare import compare
from ncuroof.config import Config
from ncuroof.testing import ReportBuilder, RuleItem

TIME = "gpu__time_duration.sum"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
MS = 1e6
CONFIG = Config(select=("W003",))


def kernel(name, threads=None, *, grid=4096, rules=(), ms=1.0):
    """A kernel of some ms; W003 fires where fewer than 24 threads of a warp are active, and needs that counter."""
    metrics = {TIME: ms * MS} | ({} if threads is None else {THREADS: float(threads)})
    return {"name": name, "metrics": metrics, "grid": (grid, 1, 1), "block": (256, 1, 1), "rules": rules}


def analysed(tmp_path, kernels, config=CONFIG, **session):
    builder = ReportBuilder(**session)
    for k in kernels:
        builder.kernel(**k)
    path = tmp_path / f"{abs(hash(builder.to_bytes()))}.ncu-rep"
    builder.write(path)
    return pipeline.analyze(pipeline.load([path]), config)


def states(comparison):
    return [(r["code"], r["kernel"], r["state"], r["reason"]) for r in comparison.findings.iter_rows(named=True)]


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        (32, 10, [("W003", "k", "new", None)]),
        (10, 32, [("W003", "k", "fixed", None)]),
        (10, 12, [("W003", "k", "known", None)]),
        (32, 32, []),
        (None, 10, [("W003", "k", "new", "could not be judged in base")]),
        (10, None, [("W003", "k", "cannot say", "can no longer be judged")]),
    ],
)
def test_a_finding_on_the_same_launch(tmp_path, was, now, expected):
    comparison = compare(analysed(tmp_path, [kernel("k", was)]), analysed(tmp_path, [kernel("k", now, ms=1.01)]))
    assert states(comparison) == expected


def test_another_gpu_makes_findings_incomparable(tmp_path):
    base = analysed(tmp_path, [kernel("k", 10)], gpu="NVIDIA One")
    head = analysed(tmp_path, [kernel("k", 10)], gpu="NVIDIA Two")
    comparison = compare(base, head)
    assert states(comparison) == [("W003", "k", "cannot say", "GPU NVIDIA One → NVIDIA Two")]
    assert not comparison.known()["known"].any()


def test_another_ncu_release_does_not(tmp_path):
    base = analysed(tmp_path, [kernel("k", 10)], ncu_version="2024.1.0.0")
    head = analysed(tmp_path, [kernel("k", 10)])
    assert [s for *_, s, _ in states(compare(base, head))] == ["known"]


def test_new_kernels_bring_new_findings_and_known_kernels_known_ones(tmp_path):
    base = analysed(tmp_path, [kernel("old", 10, grid=64)])
    head = analysed(tmp_path, [kernel("old", 10, grid=65), kernel("old", 10, grid=66), kernel("fresh", 10)])
    comparison = compare(base, head)
    assert sorted(states(comparison)) == [
        ("W003", "fresh", "new", "the launch is new"),
        ("W003", "old", "known", "found on another launch of this kernel in base"),
    ]
    known = comparison.known()
    assert dict(known.group_by("kernel").agg(pl.col("known").all()).iter_rows()) == {"old": True, "fresh": False}


def test_only_what_is_new_remains(tmp_path):
    base = analysed(tmp_path, [kernel("a", 10), kernel("b", 32)])
    head = analysed(tmp_path, [kernel("a", 10), kernel("b", 8)])
    left = compare(base, head).without_known("main")
    assert left.findings.select("code", "kernel").rows() == [("W003", "b")]
    assert left.findings.schema == head.findings.schema
    said = {n.kind: n.message for n in left.dataset.notes}
    assert said["known-findings"] == "1 known finding hidden: in the baseline main already"
    assert said["baseline"] == "kernels against the baseline main: 2 indistinguishable"


def test_findings_on_a_whole_report_are_known_by_their_rule(tmp_path):
    config = Config(select=("D001",))
    base = analysed(tmp_path, [kernel("k", 32)], config)
    head = analysed(tmp_path, [kernel("k", 32), kernel("other", 32)], config)
    comparison = compare(base, head)
    assert [(c, s) for c, _, s, _ in states(comparison)] == [("D001", "known")]
    assert comparison.known()["known"].all()


def test_repeated_launches_count_once(tmp_path):
    base = analysed(tmp_path, [kernel("k", 32)] * 3)
    head = analysed(tmp_path, [kernel("k", 8)] * 3)
    found = compare(base, head).findings
    assert found.select("state", "launches").rows() == [("new", 3)]
    # 3 launches of 1 ms, of which three quarters of the lanes idle.
    assert found["time_at_stake_s"][0] == pytest.approx(3 * 0.75e-3)


def test_what_nsight_alone_says_is_neither_new_nor_fixed(tmp_path):
    said = (RuleItem("ThreadDivergence", "This kernel achieves an average of 9.6 threads being active per cycle."),)
    show = Config(select=("W003",), nsight="show")
    base = analysed(tmp_path, [kernel("k", 32)], show)
    head = analysed(tmp_path, [kernel("k", 32, rules=said)], show)
    assert head.findings["voice"].to_list() == ["nsight"]
    comparison = compare(base, head)
    assert states(comparison) == []
    assert not comparison.known()["known"].any()
