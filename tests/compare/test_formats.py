"""What a comparison looks like: text, JSON, Markdown, annotations; also with hostile names."""

from __future__ import annotations

import json
import re

import pytest
from tests.builders import analysis, kernel
from tests.reporters.hostile import NAMES

from ncuroof.compare import compare, formats
from ncuroof.compare.formats import _lines
from ncuroof.errors import UsageError
from ncuroof.reporters import RenderOptions


def example():
    """One of each: slower, faster, the same, not comparable, new, gone."""
    base = [
        kernel(kernel_name="slower", duration_s=1e-3),
        kernel(kernel_name="faster", duration_s=4e-3),
        *[kernel(kernel_name="same", duration_s=d) for d in (1e-3, 1.01e-3)],
        kernel(kernel_name="clocks", duration_s=2e-3, clock_control="base"),
        kernel(kernel_name="gone", duration_s=5e-3),
    ]
    head = [
        kernel(kernel_name="slower", duration_s=1.5e-3, traffic_bytes=5.0e8),
        kernel(kernel_name="faster", duration_s=2e-3),
        *[kernel(kernel_name="same", duration_s=d) for d in (1.004e-3, 1e-3, 1.01e-3)],
        kernel(kernel_name="clocks", duration_s=3e-3, clock_control="none"),
        kernel(kernel_name="fresh", duration_s=7e-3),
    ]
    return compare(analysis(base), analysis(head))


def rendered(name, comparison, **options):
    return formats.choose(name).render(comparison, RenderOptions(**options))


def test_text_says_what_changed_and_why_the_rest_was_not_compared():
    text = rendered("text", example())
    blocks = dict(block.split("\n", 1) for block in text.strip().split("\n\n") if "\n" in block)
    assert blocks["Regressed"].startswith("   +50 %  slower\n          1 ms → 1.5 ms; 8.7 % → 11 % of its roof;")
    assert "bytes 268 MB → 500 MB; work 67.1 MFLOP; latency-bound" in " ".join(blocks["Regressed"].split())
    assert blocks["Improved"].startswith("   -50 %  faster")
    assert "1 kernel, 3 ms: clock control base → none" in blocks["Not comparable"]
    assert "fresh" in blocks["New kernels"]
    assert "gone" in blocks["Gone kernels"]
    more_often = blocks["As fast as before, launched another number of times"]
    assert more_often == "  same ×2 → ×3, 2.01 ms → 3.01 ms"
    # compared: 1 + 4 + 2.01 ms, then 1.5 + 2 + 3.014 ms.
    assert " ".join(text.split()).endswith(
        "1 regressed, 1 improved, 1 indistinguishable, 1 not comparable, 1 new, 1 gone; "
        "findings: nothing new or fixed; "
        "GPU time of what could be compared 7.01 ms → 6.51 ms (-7.1 %, with 4 → 5 launches)"
    )
    assert max(map(len, text.splitlines())) <= 80


def test_verbose_text_also_lists_what_did_not_change():
    text = rendered("text", example(), verbose=True)
    assert "Indistinguishable" in text
    # Spreads of 0.74 % and 0.59 % on 1 and 2 degrees of freedom: variance (10 * 0.015^2 + 1.24e-4) / 13 = 1.826e-4,
    # error sqrt(1.826e-4 * (1 / 2 + (pi / 2) / 3)) = 0.01367, times t(13) = 4.22: 0.0577.
    assert "changes above 5.9 % count (2 and 3 launches)" in " ".join(text.split())
    assert "×2 → ×3" in text


def test_lists_are_cut_where_asked():
    kernels = [kernel(kernel_name=f"k{i}", duration_s=1e-3) for i in range(30)]
    slower = [kernel(kernel_name=f"k{i}", duration_s=2e-3) for i in range(30)]
    comparison = compare(analysis(kernels), analysis(slower))
    assert "… and 10 more (--limit 0 shows all)" in rendered("text", comparison)
    assert "more" not in rendered("text", comparison, limit=0)
    assert rendered("markdown", comparison, limit=5).count("<code>") == 5


def test_json_holds_everything():
    document = json.loads(rendered("json", example()))
    assert document["schema"] == "ncuroof-comparison"
    pairs = {p["head"]["name"]: p for p in document["pairs"]}
    assert {n: p["state"] for n, p in pairs.items()} == {
        "slower": "regressed",
        "faster": "improved",
        "same": "indistinguishable",
        "clocks": "not comparable",
    }
    assert pairs["slower"]["change_pct"] == pytest.approx(50.0)
    assert pairs["clocks"]["reason"] == "clock control base → none"
    assert [k["name"] for k in document["new"]] == ["fresh"]
    assert [k["name"] for k in document["gone"]] == ["gone"]
    assert document["totals"]["kernels"]["regressed"] == 1


def test_markdown_has_a_table_row_per_change():
    text = rendered("markdown", example())
    rows = [line for line in text.splitlines() if line.startswith("|") and "<code>" in line]
    assert len(rows) == 5  # slower, faster, same, fresh, gone
    assert rows[2].startswith("| 2 → 3 | 2.01 ms → 3.01 ms | ")
    assert rows[0].startswith("| +50 % | 1 ms → 1.5 ms | 10 % |")
    assert "| 1 | 3 ms | clock control base → none |" in text


def test_github_annotates_regressions_as_errors():
    lines = rendered("github", example()).splitlines()
    assert lines[0].startswith("::error title=+50 %25 time%3A slower::1 ms → 1.5 ms (+50 %25); ")
    assert lines[1] == "::warning title=1 kernel not comparable::3 ms GPU time: clock control base → none"
    assert lines[-1].startswith("ncuroof: 1 regressed, 1 improved")


def test_github_shows_ten_and_counts_the_rest():
    kernels = [kernel(kernel_name=f"k{i}", duration_s=1e-3) for i in range(30)]
    slower = [kernel(kernel_name=f"k{i}", duration_s=2e-3) for i in range(30)]
    lines = rendered("github", compare(analysis(kernels), analysis(slower))).splitlines()
    assert len(lines) == 11
    assert lines[-1].endswith("not shown as annotations: 20 errors")


@pytest.mark.parametrize("name", [f.NAME for f in formats.formats()])
@pytest.mark.parametrize("hostile", NAMES.values(), ids=NAMES)
def test_hostile_names_stay_names(name, hostile):
    base = [kernel(kernel_name=hostile, duration_s=1e-3, gpu_name=hostile), kernel(kernel_name="x" + hostile)]
    head = [
        kernel(kernel_name=hostile, duration_s=3e-3, gpu_name=hostile),
        kernel(kernel_name="y" + hostile),
        kernel(kernel_name="z", gpu_name=hostile),
    ]
    base.append(kernel(kernel_name="z", gpu_name="other"))
    text = rendered(name, compare(analysis(base), analysis(head)), verbose=True)
    assert text.endswith("\n")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)
    if name == "json":
        json.loads(text)
    if name == "markdown":
        assert "<img" not in text
        assert "<script" not in text
        assert len({line.count(" | ") for line in text.splitlines() if "<code>" in line and "→" in line}) <= 1
    if name == "github":
        assert all(line.startswith(("::error title=", "::warning title=", "ncuroof: ")) for line in text.splitlines())


def test_nothing_to_show():
    empty = compare(analysis([]), analysis([]))
    for each in formats.formats():
        assert each.render(empty, RenderOptions()).endswith("\n")
    assert rendered("text", empty) == "no kernel in common; findings: nothing new or fixed\n"


def test_an_unknown_format_is_refused():
    with pytest.raises(UsageError, match="github, json, markdown, text"):
        formats.choose("sarif")


@pytest.mark.parametrize(
    ("percent", "shown"), [(-0.04, "0.0 %"), (0.0, "0.0 %"), (0.04, "0.0 %"), (-0.06, "-0.1 %"), (0.06, "+0.1 %")]
)
def test_no_change_has_no_sign(percent, shown):
    assert _lines.change({"change_pct": percent}) == shown
