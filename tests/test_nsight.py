"""Nsight Compute's own findings: which of them are any, what they are worth, and where both sides say the same."""

from __future__ import annotations

import fnmatch
import re

import polars as pl
import pytest

from ncuroof import nsight, pipeline, rules, tables
from ncuroof.config import Config
from ncuroof.testing import ReportBuilder, RuleItem

TIME = {"gpu__time_duration.sum": 1e6}
DIVERGED = {"smsp__thread_inst_executed_per_inst_executed.ratio": 10.0}
SAYS_DIVERGED = RuleItem("ThreadDivergence", "This kernel achieves an average of 10.0 threads being active per cycle.")
SMALL = (
    "The grid for this launch is configured to execute only 1 blocks, which is less than the GPU's 24 multiprocessors."
)


def analysed(tmp_path, *items, metrics=None, mode="merge", select=("W003",)):
    builder = ReportBuilder().kernel("k", TIME | (metrics or {}), grid=(64, 1, 1), block=(256, 1, 1), rules=items)
    path = builder.write(tmp_path / "r.ncu-rep")
    return pipeline.analyze(pipeline.load([path]), Config(select=select, nsight=mode))


def test_one_finding_with_both_voices(tmp_path):
    analysis = analysed(tmp_path, SAYS_DIVERGED, metrics=DIVERGED)
    (found,) = analysis.findings.to_dicts()
    assert (found["code"], found["voice"]) == ("W003", "both")
    assert found["message"].startswith("10 of 32 threads")
    theirs = found["evidence"][-1]
    assert theirs["metric"] == "Nsight Compute ThreadDivergence"
    assert theirs["source"] == SAYS_DIVERGED.text
    assert analysis.nsight.is_empty()


def test_what_they_alone_say_is_apart_by_default(tmp_path):
    analysis = analysed(tmp_path, SAYS_DIVERGED)
    assert analysis.findings.is_empty()
    (alone,) = analysis.nsight.to_dicts()
    assert (alone["code"], alone["name"], alone["severity"], alone["voice"]) == (
        "NCU:thread-divergence",
        "thread-divergence",
        "info",
        "nsight",
    )
    assert alone["kernel"] == "k"
    assert analysis.nsight.schema == tables.schema(tables.ANOMALIES)


def test_show_puts_them_among_the_findings_and_hide_nowhere(tmp_path):
    shown = analysed(tmp_path, SAYS_DIVERGED, mode="show")
    assert shown.findings["voice"].to_list() == ["nsight"]
    assert shown.nsight is None
    hidden = analysed(tmp_path, SAYS_DIVERGED, metrics=DIVERGED, mode="hide")
    assert hidden.findings["voice"].to_list() == ["ncuroof"]
    assert hidden.nsight is None


@pytest.mark.parametrize(
    ("speedup", "stake"),
    [
        (("global", 87.5), 0.875e-3),  # a reduction of the runtime of 1 ms by 87.5 %
        (("global", 0.0), 0.0),
        (("local", 87.5), None),
        (None, None),
    ],
)
def test_time_at_stake_follows_from_a_global_speedup(tmp_path, speedup, stake):
    item = RuleItem("LaunchConfiguration", "4 threads per block. Consequently", title="Block Size", speedup=speedup)
    alone = analysed(tmp_path, item).nsight
    assert alone["time_at_stake_s"].to_list() == [pytest.approx(stake) if stake is not None else None]
    assert alone["evidence"][0][0]["value"] == (speedup[1] if speedup else None)


@pytest.mark.parametrize("kind", ["ok", "none", "error"])
def test_good_news_and_failed_rules_are_no_findings(tmp_path, kind):
    item = RuleItem("ThreadDivergence", "something", message_type=kind)
    assert analysed(tmp_path, item, RuleItem("Occupancy", None), mode="show").findings.is_empty()


@pytest.mark.parametrize(
    "item",
    [
        RuleItem("MemoryL2Compression", "The optional metric x.pct could not be found. Collecting it would help."),
        RuleItem("PCSamplingData", "Sampling metrics were enabled, but no samples could be collected."),
    ],
)
def test_messages_about_the_collection_are_no_findings(tmp_path, item):
    assert analysed(tmp_path, item, mode="show").findings.is_empty()


@pytest.mark.parametrize(
    ("rule", "title", "text", "ours"),
    [
        ("SOLBottleneck", "Small Grid", "This kernel grid is too small to fill the device.", ["T002"]),
        (
            "SOLBottleneck",
            None,
            "This kernel exhibits low compute throughput and memory bandwidth utilization",
            ["T007"],
        ),
        ("LaunchConfiguration", None, SMALL, ["T002"]),
        ("LaunchConfiguration", "Tail Effect", "1 full waves and a partial wave of 159 blocks", ["T003"]),
        ("Occupancy", "Occupancy Limiters", "theoretical occupancy (75.0%) is limited by registers", ["T005"]),
        ("CPIStallBarrier", None, "20.5 cycles being stalled waiting for sibling warps", ["T008"]),
        ("SomethingNew", "Whatever", "of 2031", []),
    ],
)
def test_what_speaks_of_what(tmp_path, rule, title, text, ours):
    analysis = analysed(tmp_path, RuleItem(rule, text, title=title))
    found = nsight.findings(analysis.kernels, analysis.dataset.rules)
    assert found["ours"].to_list() == [ours]


def test_an_occupancy_message_may_speak_of_two_things(tmp_path):
    text = (
        "This kernel's theoretical occupancy (75.0%) is limited by the number of required registers. "
        "The difference between calculated theoretical (75.0%) and measured achieved occupancy (50.1%)"
    )
    analysis = analysed(tmp_path, RuleItem("Occupancy", text, title="Occupancy Limiters"))
    assert nsight.findings(analysis.kernels, analysis.dataset.rules)["ours"].to_list() == [["T005", "T006"]]


def test_their_time_at_stake_is_used_where_we_have_none():
    ours = pl.DataFrame(
        [{"code": "T009", "row": 0, "voice": "ncuroof", "evidence": []}],
        schema={c: tables.schema(tables.ANOMALIES)[c] for c in ("code", "row", "voice", "evidence")},
    )
    ours = tables.conform(ours, tables.ANOMALIES)
    theirs = tables.conform(
        pl.DataFrame({"code": ["NCU:X"] * 2, "row": [0, 0], "time_at_stake_s": [1e-3, 2e-3]}), tables.ANOMALIES
    ).with_columns(rule_id=pl.lit("X"), ours=pl.Series([["T009"], ["T009", "T007"]]))
    merged, alone = nsight.merge(ours, theirs)
    assert merged["time_at_stake_s"].to_list() == [2e-3]
    assert alone.is_empty()


def test_agreement_and_both_kinds_of_disagreement(tmp_path):
    path = tmp_path / "r.ncu-rep"
    few, all_threads = TIME | DIVERGED, TIME | {"smsp__thread_inst_executed_per_inst_executed.ratio": 32.0}
    silent = RuleItem("ThreadDivergence", None)
    builder = ReportBuilder()
    for name, metrics, item in (
        ("agreed", few, SAYS_DIVERGED),
        ("ours", few, silent),
        ("theirs", all_threads, SAYS_DIVERGED),
        ("neither", all_threads, silent),
        ("unjudged", TIME, SAYS_DIVERGED),
    ):
        builder.kernel(name, metrics, grid=(64, 1, 1), block=(256, 1, 1), rules=(item,))
    builder.write(path)
    analysis = pipeline.analyze(pipeline.load([path]), Config(select=("W003",)))
    table = nsight.agreement(analysis)
    assert table.select("kernel", "code", "rule_id", "who").rows() == [
        ("agreed", "W003", "ThreadDivergence", "both"),
        ("ours", "W003", "ThreadDivergence", "ncuroof"),
        ("theirs", "W003", "ThreadDivergence", "nsight"),
    ]


def test_several_of_their_rules_agree_if_one_does(tmp_path):
    # Our T002 needs the grid and the SMs; LaunchConfiguration says so too, SOLBottleneck speaks of latency instead.
    sms = {"device__attribute_multiprocessor_count": 132, "launch__waves_per_multiprocessor": 0.1}
    items = (RuleItem("LaunchConfiguration", SMALL, title="Small Grid"), RuleItem("SOLBottleneck", None))
    builder = ReportBuilder(attributes={"multiprocessor_count": 132}).kernel(
        "k", TIME | sms, grid=(8, 1, 1), block=(256, 1, 1), rules=items
    )
    analysis = pipeline.analyze(pipeline.load([builder.write(tmp_path / "r.ncu-rep")]), Config(select=("T002",)))
    assert analysis.findings["voice"].to_list() == ["both"]
    assert nsight.agreement(analysis).select("rule_id", "who").rows() == [("LaunchConfiguration", "both")]


def test_every_entry_names_existing_rules_of_ours():
    speaking, silent = nsight.voices()
    codes = {r.CODE for r in rules.rules()}
    assert all(code in codes for v in speaking for code in v.ours)
    assert all(v.name for v in speaking)
    assert silent


def test_every_message_of_the_corpus_is_taken_by_an_entry(corpus):
    dataset = pipeline.load_all([corpus / "reports"]).dataset
    speaking, silent = nsight.voices()
    said = dataset.rules.filter(pl.col("message_type").is_in(nsight.SPEAKING) & pl.col("text").is_not_null())
    for rule_id, title, text in said.select("rule_id", "title", "text").iter_rows():
        message = f"{title or ''}: {text}"
        taken = [v for v in (*speaking, *silent) if fnmatch.fnmatchcase(rule_id, v.rule) and v.says.search(message)]
        assert taken, (rule_id, title, text)


def test_nothing_of_the_corpus_is_lost_or_said_twice(corpus):
    dataset = pipeline.load_all([corpus / "reports"]).dataset
    analysis = pipeline.analyze(dataset, Config())
    theirs = nsight.findings(analysis.kernels, dataset.rules)
    plain = pipeline.analyze(dataset, Config(nsight="hide"))
    assert analysis.findings.height == plain.findings.height
    assert 0 < analysis.nsight.height < theirs.height
    told = analysis.findings.filter(pl.col("voice") == "both")["evidence"].explode().struct.field("metric")
    assert told.str.starts_with("Nsight Compute ").sum() >= theirs.height - analysis.nsight.height
    # No path of the machine that measured: failed rules quote some.
    assert not [m for m in theirs["message"] if re.search(r"/home/|[A-Z]:\\\\Users", m)]
