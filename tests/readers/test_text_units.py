"""Every unit seen in public files, value by value, in three locales; and the grammar behind it."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import pytest
from tests.readers.text_helpers import read_text

from ncuroof.readers._units import base_unit, counts_whole
from ncuroof.testing.text_forms import LONG, SECTION, csv_text

if TYPE_CHECKING:
    from pathlib import Path

# Printed unit, base unit, what one printed unit is in base units. ncu scales by powers of 1000: a configuration of
# 32768
# byte is printed as 32.77 Kbyte. Times are in ns; rates per second; "cycle/nsecond" is how older versions print Ghz.
UNITS = (
    ("%", "%", 1),
    ("%/Kbyte", "%/byte", 1e-3),
    ("%/register", "%/register", 1),
    ("Gbyte", "byte", 1e9),
    ("Gbyte/s", "byte/s", 1e9),
    ("Gbytes", "byte", 1e9),
    ("Ghz", "hz", 1e9),
    ("Kbyte", "byte", 1e3),
    ("Kbyte/block", "byte/block", 1e3),
    ("Kbyte/cycle", "byte/cycle", 1e3),
    ("Kbytes", "byte", 1e3),
    ("Mbyte", "byte", 1e6),
    ("Mbyte/s", "byte/s", 1e6),
    ("Mbytes", "byte", 1e6),
    ("Mhz", "hz", 1e6),
    ("SM", "SM", 1),
    ("Tbyte/s", "byte/s", 1e12),
    ("block", "block", 1),
    ("branches", "branch", 1),
    ("byte", "byte", 1),
    ("byte/block", "byte/block", 1),
    ("byte/cycle", "byte/cycle", 1),
    ("byte/s", "byte/s", 1),
    ("byte/second", "byte/s", 1),
    ("byte/sector", "byte/sector", 1),
    ("bytes", "byte", 1),
    ("cluster", "cluster", 1),
    ("cycle", "cycle", 1),
    ("cycle/nsecond", "hz", 1e9),
    ("cycle/usecond", "hz", 1e6),
    ("hz", "hz", 1),
    ("inst", "inst", 1),
    ("inst/cycle", "inst/cycle", 1),
    ("inst/warp", "inst/warp", 1),
    ("ms", "ns", 1e6),
    ("msecond", "ns", 1e6),
    ("ns", "ns", 1),
    ("nsecond", "ns", 1),
    ("pass", "pass", 1),
    ("register/thread", "register/thread", 1),
    ("request", "request", 1),
    ("sample", "sample", 1),
    ("sector", "sector", 1),
    ("sector/cycle", "sector/cycle", 1),
    ("sector/ms", "sector/s", 1e3),
    ("sector/ns", "sector/s", 1e9),
    ("sector/request", "sector/request", 1),
    ("sector/s", "sector/s", 1),
    ("sector/us", "sector/s", 1e6),
    ("sectors", "sector", 1),
    ("thread", "thread", 1),
    ("us", "ns", 1e3),
    ("usecond", "ns", 1e3),
    ("warp", "warp", 1),
    # Not in the corpus of text files, but printed by some version or locale.
    ("s", "ns", 1e9),
    ("second", "ns", 1e9),
    ("Khz", "hz", 1e3),
    ("Tbyte", "byte", 1e12),
    ("Gbyte/second", "byte/s", 1e9),
    ("µs", "ns", 1e3),
    ("KB", "byte", 1e3),
    ("MiB", "byte", 2**20),
    ("GB/s", "byte/s", 1e9),
    ("inst/ns", "inst/s", 1e9),
)
# The same 1234.5 in three locales, beside a number that settles the format.
LOCALES = {
    "C": ("1234.5", "0.25"),
    "en": ("1,234.5", "0.25"),
    "de": ("1.234,5", "0,25"),
    "fr": ("1\u202f234,5", "0,25"),
}


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(("printed", "base", "factor"), UNITS)
def test_each_unit_in_each_locale(printed: str, base: str, factor: float, locale: str) -> None:
    value, other = LOCALES[locale]
    who = ["0", "1", "a.out", "h", "k(int)", "1", "7", "(1, 1, 1)", "(1, 1, 1)", "0", "8.0", SECTION]
    read = read_text(csv_text([LONG, [*who, "a__x.avg", printed, value], [*who, "a__y.avg", "", other]]))
    assert read.value(0, "a__x.avg") == pytest.approx(1234.5 * factor, rel=1e-15)
    assert read.unit(0, "a__x.avg") == base
    assert read.value(0, "a__y.avg") == 0.25


@pytest.mark.parametrize("unit", [None, "", "(!)", "  "])
def test_no_unit(unit: str | None) -> None:
    assert base_unit(unit) == (None, 1.0)


@pytest.mark.parametrize("unit", ["Mode", "foo", "foo/bar", "Gizmo", "issue slots"])
def test_an_unknown_unit_is_kept_and_never_scaled(unit: str) -> None:
    assert base_unit(unit) == (unit, 1.0)


def test_what_can_only_be_whole() -> None:
    assert counts_whole("dram__bytes.sum", "byte")
    assert counts_whole("gpu__time_duration.sum", "nsecond")
    assert counts_whole("launch__grid_size", "")
    assert not counts_whole("dram__bytes.sum", "Kbyte")  # scaled values have fractions
    assert not counts_whole("sm__cycles_active.avg", "cycle")  # averages too
    assert not counts_whole("dram__bytes.sum.per_second", "byte/s")


def test_every_unit_of_the_corpus_is_in_the_table(corpus: Path) -> None:
    known = {u for u, _, _ in UNITS} | {""}
    seen = set()
    for path in sorted((corpus / "text").iterdir()):
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        header = re.search(r'^"ID",.*"Metric Unit".*$', text, re.MULTILINE)
        if header:
            rows = csv.DictReader(io.StringIO(text[header.start() :]))
            seen |= {
                row["Metric Unit"] for row in rows if row.get("Metric Name") and row.get("Metric Value") is not None
            }
        seen |= set(re.findall(r"^\"?[\w.:]+__[\w.:]+ \[([^\]\n]+)\]", text, re.MULTILINE))
    assert seen - known == set()
