from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser

import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.samples import empty, hostile, typical

from ncuroof.reporters import RenderOptions
from ncuroof.reporters._suite import covered
from ncuroof.reporters.html import render
from ncuroof.reporters.text import render as render_text

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@cache
def page(sample):
    return render(sample(), RenderOptions(limit=0))


class Reader(HTMLParser):
    """Elements with their attributes, text outside scripts, and whether every element is closed."""

    VOID = frozenset({"meta", "br", "link", "img", "input"})

    def __init__(self, text):
        super().__init__()
        self.elements, self.stack, self.text, self.scripts = [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "script":
            self.scripts.append(data)
        elif not self.stack or self.stack[-1] != "style":
            self.text += data


def test_it_is_whole():
    for sample in (typical, hostile, empty):
        assert Reader(page(sample)).stack == []


def test_it_asks_no_network():
    text = page(typical)
    addresses = {a for a in re.findall(r"https?://[^\s\"'`)\\<>]+", text) if not a.startswith("http://www.w3.org/")}
    # What remains are names inside Vega's code: a schema, a bug report, and the editor that our menu does not offer.
    assert all(re.match(r"https://(vega\.github\.io|github\.com/vega)/", a) for a in addresses), addresses
    for host in ("cdn", "jsdelivr", "unpkg", "googleapis", "gstatic", "cloudflare"):
        assert not re.search(rf"//[\w.-]*{host}", text)
    for tag, attributes in Reader(text).elements:
        assert not {"src", "srcset", "action", "data"} & attributes.keys(), (tag, attributes)
        assert tag != "link"
        assert attributes.get("href", "#").startswith("#")


def test_only_our_two_scripts_may_run():
    reader = Reader(page(hostile))
    policy = next(a["content"] for tag, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    _, *code = [s for s in reader.scripts if s]
    assert [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in code] == allowed
    assert len(allowed) == 2


def test_nothing_from_a_report_becomes_markup():
    reader = Reader(page(hostile))
    assert {tag for tag, _ in reader.elements} <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "div", "label", "select", "option",
        "article", "header", "strong", "span", "a", "details", "summary", "table", "thead", "tbody", "tr", "th", "td",
        "code", "br", "ul", "li", "footer", "script", "noscript",
    }  # fmt: skip
    handlers = [name for _, attributes in reader.elements for name in attributes if name.startswith("on")]
    assert handlers == []
    assert "</script><img src=x onerror=alert(1)>" in reader.text


def data(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))


def test_data_are_all_there_and_hold_no_markup():
    raw = re.search(r'id="data">(.*?)</script>', page(hostile), re.DOTALL).group(1)
    assert not set("<>&") & set(raw)
    (picture,) = data(page(typical))
    assert len(picture["spec"]["datasets"]["points"]) == 2


def test_table_findings_roofs_and_notes():
    text = re.sub(r"\s+", " ", Reader(page(typical)).text)
    for expected in (
        "Roofline of run.ncu-rep",
        "6 launches · 820 µs GPU time · 4 warnings, 1 info, 1 note",
        "60 µs at stakeR001 l2-residentwarning · Nsight Compute agrees",
        "gemm 2048×8192×8192 fp16",
        "~87 % DRAM",
        "788 TFLOP/s",
        "measured, table of eight GPUs",
        "D006 caches flushed",
        "run.ncu-rep: the file ends early",
        "R001 could not judge 4 of 6 kernels",
    ):
        assert expected in text, expected


def test_findings_link_to_rows_that_exist():
    reader = Reader(page(typical))
    ids = {a["id"] for _, a in reader.elements if "id" in a}
    links = {a["href"][1:] for tag, a in reader.elements if tag == "a"}
    assert links
    assert links <= ids


def test_the_same_rule_shares_a_card_and_folds_the_rest():
    kernels = [kernel(grid_x=i + 1) for i in range(10)]
    text = render(analysis(kernels, [finding(i) for i in range(10)]), RenderOptions())
    assert text.count('<article class="finding') == 1
    assert text.count("Measure again with a working set") == 1
    assert "<summary>4 more</summary>" in text


def test_limits():
    kernels = [kernel(grid_x=i + 1) for i in range(5)]
    text = render(analysis(kernels, [finding(i) for i in range(5)]), RenderOptions(limit=2))
    assert text.count('<tr id="k') == 2
    assert "and 3 more kernels not shown here." in text
    assert "and 3 more findings not shown here." in text


def test_five_thousand_kernels_stay_under_ten_megabytes():
    kernels = [
        kernel(kernel_name=f"k{i}", kernel_demangled=f"void n::k{i}<{'float, ' * 60}>(int)", grid_x=i + 1)
        for i in range(5000)
    ]
    text = render(analysis(kernels, [finding(i) for i in range(0, 5000, 2)]), RenderOptions())
    assert len(data(text)[0]["spec"]["datasets"]["points"]) == 5000
    assert len(text.encode()) < 10_000_000


def test_selectors_only_where_there_is_a_choice():
    assert '<select id="gpu">' not in page(typical)
    kernels = [kernel(gpu_name="A", source="1"), kernel(gpu_name="B", source="1"), kernel(gpu_name="B", source="2")]
    text = render(analysis(kernels), RenderOptions())
    assert '<select id="gpu"><option value="0">B</option><option value="1">A</option></select>' in text
    assert '<select id="report"></select>' in text


def test_title_is_escaped():
    assert "<title>a &lt;b&gt;</title>" in render(analysis([kernel()]), RenderOptions(title="a <b>"))


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
@pytest.mark.parametrize("sample", [typical, hostile])
def test_a_browser_without_network_draws_it_and_runs_nothing_else(sample, tmp_path):
    file = tmp_path / "page.html"
    # A name that gets through would show: the policy forbids it and the escape hides it, so take the policy away.
    text = page(sample).replace("alert(1)", "document.title='taken'")
    file.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text), encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1280,900",
        "--virtual-time-budget=8000", "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "<title>taken</title>" not in done.stdout
    assert 'class="marks"' in done.stdout, done.stderr[-2000:]
    assert "DRAM" in done.stdout


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
def test_the_policy_lets_the_chart_through(tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page(typical), encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}",
        "--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert 'class="marks"' in done.stdout
    assert "CONSOLE" not in done.stderr


def test_coverage_is_told_as_in_text():
    # 500, 300 and 200 µs. The findings with most at stake are on the smallest kernel; those that cover most are not.
    a = analysis(
        [kernel(kernel_name=n, duration_s=d) for n, d in (("big", 5e-4), ("middle", 3e-4), ("small", 2e-4))],
        [
            *(finding(2, kernel="small", code=f"M00{i}", name=f"m{i}", time_at_stake_s=1e-4) for i in (1, 2, 3)),
            finding(0, kernel="big", code="T007", name="latency-bound", time_at_stake_s=1e-6),
            finding(1, kernel="middle", code="T007", name="latency-bound", time_at_stake_s=1e-6),
        ],
    )
    told = covered(a)
    assert told.startswith("these 3 findings cover 100 % of the GPU time: T007 latency-bound on big")
    shown = Reader(render(a, RenderOptions())).text
    assert f"T{told[1:]}." in shown
    assert " ".join(told.split()) in " ".join(render_text(a, RenderOptions()).split())
    assert "the first 3" not in shown


def test_a_kernel_named_with_blanks_alone_is_called_unnamed():
    a = analysis([kernel(kernel_name="  ", kernel_demangled=" ")], [finding(0, kernel="  ")])
    text = render(a, RenderOptions())
    assert '<a class="name" href="#k0">#1 (unnamed kernel)</a>' in text
    assert '<span class="name">(unnamed kernel)</span>' in text
