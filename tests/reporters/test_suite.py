"""What findings cover together, and where Nsight Compute says something else, in the output."""

from __future__ import annotations

import json

import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.hostile import NAMES

from ncuroof import pipeline, reporters
from ncuroof.config import Config
from ncuroof.reporters import RenderOptions
from ncuroof.testing import ReportBuilder, RuleItem

TIME = "gpu__time_duration.sum"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
SAID = "This kernel achieves an average of 10.0 threads being active per cycle."


def rendered(name, of, **options):
    return " ".join(reporters.choose(name).render(of, RenderOptions(**options)).split())


def suite(name="spmv"):
    kernels = [kernel(kernel_name=n, duration_s=d) for n, d in ((name, 4e-3), ("b", 3e-3), ("c", 3e-3))]
    return analysis(kernels, [finding(0, code="M001", name="uncoalesced"), finding(1, code="W003", name="divergence")])


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_what_the_findings_cover(form):
    assert "these 2 findings cover 70 % of the GPU time: M001 uncoalesced on spmv, W003 divergence on b" in rendered(
        form, suite()
    )
    one = analysis([kernel(duration_s=1e-3, kernel_name=n) for n in "ab"], [finding(0)])
    assert "this finding covers 50 % of the GPU time: R001 l2-resident on a" in rendered(form, one)
    assert "cover" not in rendered(form, analysis([kernel()], [finding(0)]))


def test_json_holds_the_whole_suite():
    document = json.loads(reporters.choose("json").render(suite(), RenderOptions()))
    assert [(r["kernel"], r["code"], r["share"]) for r in document["suite"]] == [
        ("spmv", "M001", pytest.approx(0.4)),
        ("b", "W003", pytest.approx(0.3)),
    ]
    assert document["nsight_findings"] == []


@pytest.mark.parametrize("hostile", NAMES.values(), ids=NAMES)
def test_hostile_kernel_names(hostile):
    text = reporters.choose("text").render(suite(hostile), RenderOptions())
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "<script" not in reporters.choose("markdown").render(suite(hostile), RenderOptions())


@pytest.fixture
def both_sides(tmp_path):
    builder = ReportBuilder()
    for name, threads, item in (
        ("agreed", 10.0, RuleItem("ThreadDivergence", SAID)),
        ("ours", 10.0, RuleItem("ThreadDivergence", None)),
        ("theirs", 32.0, RuleItem("ThreadDivergence", SAID)),
    ):
        builder.kernel(name, {TIME: 1e6, THREADS: threads}, grid=(64, 1, 1), block=(256, 1, 1), rules=(item,))
    path = builder.write(tmp_path / "r.ncu-rep")
    return pipeline.analyze(pipeline.load([path]), Config(select=("W003",)))


def test_disagreement_is_said_in_verbose_only(both_sides):
    plain = rendered("text", both_sides)
    assert "Nsight Compute" not in plain
    verbose = rendered("text", both_sides, verbose=True)
    assert (
        "Where ncuroof and Nsight Compute disagree W003 divergence and ThreadDivergence: both on 1 launch, "
        "ncuroof alone on 1 launch (ours), Nsight Compute alone on 1 launch (theirs)" in verbose
    )
    assert f"Nsight Compute alone thread-divergence: thread-divergence, 1 launch, most time in theirs {SAID}" in verbose


def test_json_holds_what_nsight_alone_says(both_sides):
    document = json.loads(reporters.choose("json").render(both_sides, RenderOptions()))
    assert [(f["code"], f["kernel"]) for f in document["nsight_findings"]] == [("NCU:thread-divergence", "theirs")]
    assert {f["voice"] for f in document["findings"]} == {"both", "ncuroof"}


def two_reports():
    kernels = [
        kernel(kernel_name="a", duration_s=4e-3, source="one.ncu-rep"),
        kernel(kernel_name="a", duration_s=2e-3, source="two.ncu-rep"),
        kernel(kernel_name="b", duration_s=3e-3, source="two.ncu-rep"),
        kernel(kernel_name="c", duration_s=1e-3, source="two.ncu-rep"),
    ]
    found = {"code": "M001", "name": "uncoalesced", "time_at_stake_s": 1e-3}
    return analysis(kernels, [finding(0, **found), finding(1, **found), finding(2, **found)])


def test_several_reports_show_findings_by_kernel_and_cause():
    text = reporters.choose("text").render(two_reports(), RenderOptions())
    block = text.partition("By kernel and cause, most GPU time first\n")[2].partition("\n\n")[0]
    assert [line.split() for line in block.splitlines()] == [
        ["share", "so", "far", "at", "stake", "finding", "kernel"],
        ["60", "%", "60", "%", "2", "ms", "M001", "uncoalesced", "a", "×2", "in", "2", "reports"],
        ["30", "%", "90", "%", "1", "ms", "M001", "uncoalesced", "b"],
    ]
    markdown = reporters.choose("markdown").render(two_reports(), RenderOptions())
    assert "| 60 % | 60 % | 2 ms | M001 uncoalesced | <code>a</code> ×2 in 2 reports |" in markdown
    assert "By kernel and cause" not in reporters.choose("text").render(suite(), RenderOptions())


def test_the_table_is_cut_where_asked():
    text = reporters.choose("text").render(two_reports(), RenderOptions(limit=1))
    assert "… and 1 more (--limit 0 shows all)" in text.partition("By kernel")[2].partition("\n\n")[0]
