"""Number formats: what decides them, and what stays ambiguous and is said to be."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from tests.readers.text_helpers import Read, read_text

from ncuroof.errors import UsageError
from ncuroof.readers import _numbers
from ncuroof.readers._numbers import NumberFormat, decide_from, to_float
from ncuroof.testing.text_forms import LONG, SECTION, csv_text


@pytest.fixture(autouse=True)
def unforced() -> Iterator[None]:
    yield
    _numbers.force(None)


@pytest.mark.parametrize(
    ("texts", "decimal", "thousands"),
    [
        (["12.5", "3"], ".", ","),
        (["1,234.56"], ".", ","),
        (["2,508,800"], ".", ","),  # two groups can only be groups
        (["2.508.800"], ",", "."),
        (["96,19", "117.344"], ",", "."),  # 96,19 settles what 117.344 means
        (["96.19", "117.344"], ".", ","),
        (["0,125"], ",", "."),  # nobody writes 0125 with a separator
        (["1 234,5"], ",", " "),
        (["1\u202f234\u202f567", "0,5"], ",", " "),
        (["1'234'567", "2.5"], ".", "'"),
        (["12,34,567.5"], ".", ","),  # Indian grouping
        (["1234,5"], ",", "."),
        (["1.5e+06"], ".", ","),
        (["7", "12345"], ".", ","),
    ],
)
def test_decided(texts: list[str], decimal: str, thousands: str) -> None:
    decision = decide_from(texts)
    assert decision.format == NumberFormat(decimal, thousands)
    assert decision.doubt is None


@pytest.mark.parametrize("texts", [["117.344"], ["1,234"], ["117.344", "2.500"]])
def test_ambiguous_is_said(texts: list[str]) -> None:
    assert "--number-format" in (decide_from(texts).doubt or "")


def test_contradictions_are_said() -> None:
    decision = decide_from(["12.5", "13.5", "1.234.567"])
    assert decision.format == NumberFormat(".", ",")
    assert "contradict" in (decision.doubt or "")


@pytest.mark.parametrize(
    ("text", "form", "value"),
    [
        ("1,234.5", NumberFormat(".", ","), 1234.5),
        ("-1.234,5", NumberFormat(",", "."), -1234.5),
        ("1\u00a0234,5", NumberFormat(",", " "), 1234.5),
        ("1'234.5", NumberFormat(".", "'"), 1234.5),
        ("1\u2019234.5", NumberFormat(".", "'"), 1234.5),
        ("12,34,567", NumberFormat(".", ","), 1234567.0),
        ("4.0e-05", NumberFormat(".", ","), 4.0e-05),
        ("(!) 12.5", NumberFormat(".", ","), 12.5),
        (" 12.5 ", NumberFormat(".", ","), 12.5),
        ("12.5 (1; 2; 9.5)", NumberFormat(".", ","), 12.5),  # --print-metric-instances values
        ("38 {372}", NumberFormat(".", ","), 38.0),  # copied from the window, 372 instances
        ("n/a", NumberFormat(".", ","), None),
        ("nan", NumberFormat(".", ","), None),
        ("(!) nan", NumberFormat(".", ","), None),
        ("-inf", NumberFormat(".", ","), None),
        ("no data", NumberFormat(".", ","), None),
        ("", NumberFormat(".", ","), None),
        ("CachePreferNone", NumberFormat(".", ","), None),
    ],
)
def test_one_number(text: str, form: NumberFormat, value: float | None) -> None:
    assert _numbers.number(text, form) == value


def test_a_group_of_another_size_is_refused_rather_than_misread() -> None:
    values, refused = to_float(pl.Series(["1,234", "1,5", "12,3456", None]), NumberFormat(".", ","))
    assert values.to_list() == [1234.0, None, None, None]
    assert refused == 2


def test_words_are_text_and_missing_values_are_not() -> None:
    texts = pl.Series(["PolicySpread", "n/a", "(!) n/a", "1.5", None, "NaN", "{449}", "no data", ""])
    values, _ = to_float(texts, NumberFormat(".", ","))
    kept = _numbers.split_text(texts, values)
    assert kept.to_list() == ["PolicySpread", *[None] * 8]


def long_file(*rows: tuple[str, str, str]) -> Read:
    who = ["0", "1", "a.out", "h", "k(int)", "1", "7", "(1, 1, 1)", "(1, 1, 1)", "0", "8.0", SECTION]
    return read_text(csv_text([LONG, *([*who, *row] for row in rows)]))


def test_a_byte_count_with_one_separator_is_whole() -> None:
    read = long_file(("dram__bytes.sum", "byte", "117.344"), ("l1tex__t_bytes.sum", "byte", "2.250"))
    assert read.value(0, "dram__bytes.sum") == 117344
    assert read.metrics[0, "dram__bytes.sum"]["value_int"] == 117344
    assert "number-format" not in read.kinds()


def test_a_percentage_with_three_decimals_is_no_thousand() -> None:
    read = long_file(("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "66.667"))
    assert read.value(0, "sm__throughput.avg.pct_of_peak_sustained_elapsed") == 66.667


def test_what_stays_open_becomes_a_note_and_an_option_settles_it() -> None:
    row = ("gpu__time_duration.avg", "us", "117.344")
    read = long_file(row)
    assert read.value(0, row[0]) == pytest.approx(117.344e3)
    assert [n.kind for n in read.notes] == ["number-format"]
    _numbers.force("1.234,5")
    read = long_file(row)
    assert read.value(0, row[0]) == pytest.approx(117344e3)
    assert read.notes == []


def test_the_rest_of_the_file_settles_a_table() -> None:
    # The first run holds only an ambiguous number, the second one shows that this machine writes decimal commas.
    who = ["0", "1", "a.out", "h", "k(int)", "1", "7", "(1, 1, 1)", "(1, 1, 1)", "0", "8.0", SECTION]
    runs = csv_text([LONG, [*who, "a__x.avg", "us", "117.344"], LONG, [*who, "a__x.avg", "us", "96,19"]])
    read = read_text(runs)
    assert read.value(0, "a__x.avg") == pytest.approx(117344e3)
    assert read.value(1, "a__x.avg") == pytest.approx(96.19e3)
    assert read.notes == []


def test_an_unknown_format_name_is_refused() -> None:
    with pytest.raises(UsageError, match="known are"):
        _numbers.force("roman")
