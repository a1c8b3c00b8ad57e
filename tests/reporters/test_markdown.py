from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.builders import analysis, finding, kernel
from tests.reporters.hostile import NAMES
from tests.reporters.samples import hostile, typical

from ncuroof.reporters import RenderOptions
from ncuroof.reporters.markdown import LARGEST, code, prose, render

GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def text_of(markdown):
    """What a renderer shows of a paragraph; fails where it finds any markup but the code element of our own."""
    (_, inline, _) = GFM.parse(markdown)
    shown = ""
    for token in inline.children:
        if token.type in {"text", "text_special"}:
            shown += token.content
        else:
            assert (token.type, token.content) in {("html_inline", "<code>"), ("html_inline", "</code>")}, token
    return shown.replace("\u200b", "")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_hostile_names_show_as_text(name):
    for escaped in (prose(name), code(name, 300)):
        text_of("x " + escaped + " x")
        assert "\n" not in escaped
        assert "|" not in escaped
        assert "`" not in escaped


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60))
def test_punctuation_shows_as_itself(text):
    assert text_of("x" + prose(text) + "x") == f"x{text}x"
    assert text_of("x" + code(text, 100) + "x") == f"x{text}x"


@pytest.mark.parametrize("text", ["@someone", "#12", "https://example.invalid", "www.example.invalid", "GH-7"])
def test_github_makes_no_mention_or_link(text):
    shown = html.unescape(prose(text))
    assert shown != text
    assert shown.replace("\u200b", "") == text


def test_tables():
    out = render(typical(), RenderOptions())
    tokens = GFM.parse(out)
    assert sum(t.type == "table_open" for t in tokens) == 3
    assert "| 1 | 49 % | 400 µs | 1 | compute-bound | 87 % | fp16 | gemm 2048×8192×8192 fp16 <code>Kernel" in out
    assert "| \\~87 % DRAM |" in out
    assert "| 60 µs | R001 l2-resident | warning (Nsight agrees) | #3 <code>softmax</code> | Reads 64 MiB" in out


def test_every_row_has_as_many_cells_as_its_head():
    rows = [line for line in render(hostile(), RenderOptions()).splitlines() if line.startswith("|")]
    widths = {line.count("|") for line in rows}
    assert widths == {5, 6, 9}  # roofs, findings, kernels: one more bar than cells


def test_limit_counts_the_rest():
    kernels = [kernel(grid_x=i) for i in range(1, 6)]
    out = render(analysis(kernels, [finding(i) for i in range(5)]), RenderOptions(limit=2))
    assert "and 3 more kernels." in out
    assert "and 3 more findings." in out


def test_stays_under_the_limit_of_a_job_summary():
    name = "<" * 600
    kernels = [kernel(kernel_name=f"{i}{name}", grid_x=i + 1) for i in range(400)]
    a = analysis(kernels, [finding(i, message=name, advice=name + str(i)) for i in range(400)])
    out = render(a, RenderOptions(limit=0))
    assert 100_000 < len(out.encode()) <= LARGEST
    assert "more findings." in out


def test_title():
    assert render(typical(), RenderOptions(title="Nightly *")).startswith("## Nightly &#42;\n")
