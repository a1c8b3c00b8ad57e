"""Manual pages on a terminal."""

from __future__ import annotations

import pytest

from ncuroof import rules
from ncuroof.cli.rule import reflow

PAGE = """R999 a: finds.

How it decides
    One sentence that
    goes on:
    (a) first item
        that goes on;
    (b) second.
    After the items.

Thresholds
    limit = 1 x: reason (source)
"""


def test_paragraphs_are_filled_and_items_kept_apart():
    assert reflow(PAGE, 30).splitlines() == [
        "R999 a: finds.",
        "",
        "How it decides",
        "    One sentence that goes on:",
        "    (a) first item that goes",
        "        on;",
        "    (b) second.",
        "    After the items.",
        "",
        "Thresholds",
        "    limit = 1 x: reason",
        "        (source)",
    ]


@pytest.mark.parametrize("rule", rules.rules(), ids=lambda r: r.CODE)
def test_every_page_fits_80_columns_and_loses_no_word(rule):
    page = rules.manual(rule)
    shown = reflow(page, 80)
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.split() == page.split()
