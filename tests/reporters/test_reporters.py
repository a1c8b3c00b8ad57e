"""What holds for every output format."""

from __future__ import annotations

import re

import pytest
from tests.reporters.hostile import MARKUP
from tests.reporters.samples import empty, hostile, typical

from ncuroof.errors import UsageError
from ncuroof.reporters import RenderOptions, choose, reporters

NAMES = [r.NAME for r in reporters()]
PLAIN = [name for name in NAMES if name != "html"]  # the page runs a JavaScript engine and has its own tests


def test_all_formats_are_here():
    assert set(NAMES) >= {
        "text", "concise", "full", "json", "json-lines", "github", "gitlab", "sarif", "junit", "markdown", "html",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_registry(name):
    reporter = choose(name)
    assert name == reporter.NAME
    assert re.fullmatch(r"\.[a-z]+", reporter.SUFFIX)
    assert reporter.DESCRIPTION.endswith(".")
    assert len(reporter.DESCRIPTION) <= 110
    assert reporter.__doc__


def test_unknown_format_lists_the_known():
    with pytest.raises(UsageError, match=r"yaml.*concise.*text"):
        choose("yaml")


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("sample", [typical, hostile, empty])
def test_output_encodes_ends_in_a_newline_and_is_the_same_twice(name, sample):
    text = choose(name).render(sample(), RenderOptions(verbose=True))
    assert text.endswith("\n")
    text.encode("utf-8")
    assert text == choose(name).render(sample(), RenderOptions(verbose=True))


@pytest.mark.parametrize("name", PLAIN)
def test_nothing_from_a_report_drives_a_terminal(name):
    text = choose(name).render(hostile(), RenderOptions(verbose=True, limit=0))
    assert {c for c in text if not c.isprintable()} <= {"\n", "\u200b"}  # Markdown breaks mentions with U+200B
    assert "::error::injected" not in [line[:17] for line in text.splitlines()]


@pytest.mark.parametrize("name", PLAIN)
def test_colour_only_when_asked_for(name):
    assert "\x1b" not in choose(name).render(typical(), RenderOptions(color=False))


@pytest.mark.parametrize("name", ["text", "full", "concise"])
def test_colour_leaves_the_text_as_it_is(name):
    plain = choose(name).render(typical(), RenderOptions())
    colored = choose(name).render(typical(), RenderOptions(color=True))
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[\d*m", "", colored) == plain


@pytest.mark.parametrize("name", ["junit", "markdown"])
def test_markup_is_escaped(name):
    assert MARKUP not in choose(name).render(hostile(), RenderOptions(limit=0))


def test_limit():
    assert [RenderOptions(limit=n).cap(20) for n in (None, 0, 5)] == [20, None, 5]
