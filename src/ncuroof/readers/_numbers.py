"""Numbers as people's locales write them: which format a file uses, and text to float for whole columns at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ncuroof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class NumberFormat:
    """A way to write numbers.

    Attributes:
        decimal: the decimal separator, ``.`` or ``,``.
        thousands: the character that groups digits: ``,``, ``.``, ``'``, a space (any kind), or empty for none.
    """

    decimal: str
    thousands: str

    def __str__(self) -> str:
        return f"1{self.thousands}234{self.decimal}5"


FORMATS: dict[str, NumberFormat] = {
    "1234.5": NumberFormat(".", ""),
    "1,234.5": NumberFormat(".", ","),
    "1.234,5": NumberFormat(",", "."),
    "1 234,5": NumberFormat(",", " "),
    "1 234.5": NumberFormat(".", " "),
    "1'234.5": NumberFormat(".", "'"),
    "1'234,5": NumberFormat(",", "'"),
    "1234,5": NumberFormat(",", ""),
}
"""What ``--number-format`` accepts: the number 1234.5 as that format writes it."""

forced: NumberFormat | None = None
"""Set by :func:`force`: the format of every text file read from now on; None decides it from each file."""

# Spaces that locales group digits with; the last is what a Latin-1 no-break space becomes when read as UTF-8.
_SPACES = " \u00a0\u2007\u2009\u202f\ufffd"
_APOSTROPHES = "'\u2019"
_CLASS = {
    "": "",
    ",": ",",
    ".": r"\.",
    " ": f"[{_SPACES}]",
    "'": f"[{_APOSTROPHES}]",
}
_NULLS = (
    "",
    "n/a",
    "na",
    "nan",
    "-nan",
    "+nan",
    "nan(ind)",
    "-nan(ind)",
    "inf",
    "-inf",
    "+inf",
    "infinity",
    "-infinity",
    "no data",
    "none",
    "null",
    "-",
    "--",
    "?",
    "<unavailable>",
    "unavailable",
    "not available",
    "#n/a",
    "#name?",
    "#value!",
    "#num!",
    "#div/0!",
    "#ref!",
)
_LONGEST_NULL = 32
NULL_TEXTS: tuple[str, ...] = tuple(
    dict.fromkeys(
        f"{flag}{form}"
        for n in _NULLS
        for form in (n, n.upper(), n.capitalize(), "NaN", "N/A")
        for flag in ("", "(!) ")
    )
)
"""Spellings of "no value" as they stand in files, for a parser that wants a list."""


def force(name: str | None) -> None:
    """Use one number format for every text file instead of deciding it from the file; None goes back to deciding.

    Raises:
        UsageError: for a name that is not in :data:`FORMATS`.
    """
    global forced  # noqa: PLW0603  one setting of the process, set once by the command line
    if name is not None and name not in FORMATS:
        msg = f"unknown number format {name!r}; known are {', '.join(map(repr, FORMATS))}"
        raise UsageError(msg)
    forced = FORMATS[name] if name is not None else None


@dataclass
class Evidence:
    """What the numbers of a sample say about their format: how many tokens speak for each reading.

    ``whole_*`` and ``percent_*`` count tokens such as ``117.344`` that could be either, by what they count: whole
    things (bytes, instructions), for which a separator can only group, or percentages, which do not reach a thousand.
    """

    decimal_dot: int = 0
    decimal_comma: int = 0
    thousands_dot: int = 0
    thousands_comma: int = 0
    thousands_space: int = 0
    thousands_apostrophe: int = 0
    either_dot: int = 0
    either_comma: int = 0
    whole_dot: int = 0
    whole_comma: int = 0
    percent_dot: int = 0
    percent_comma: int = 0

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(**{k: v + getattr(other, k) for k, v in self.__dict__.items()})


_SIGN = r"^\s*(?:\(!\)\s*)?[-+]?"
_END = r"(?:[eE][-+]?\d+)?\s*(?:[({].*)?$"
_GROUP = f"[{_SPACES}{_APOSTROPHES}]"
_PATTERNS: dict[str, str] = {
    # The last of two different separators is the decimal one; one separator that groups nothing is a decimal one.
    "decimal_dot": _SIGN + rf"(?:\d[\d,{_SPACES}{_APOSTROPHES}]*[,{_SPACES}{_APOSTROPHES}]\d{{3}}\.\d+"
    r"|\d{1,3}\.(?:\d{1,2}|\d{4,})|0\.\d+|\.\d+|\d{4,}\.\d+)" + _END,
    "decimal_comma": _SIGN + rf"(?:\d[\d.{_SPACES}{_APOSTROPHES}]*[.{_SPACES}{_APOSTROPHES}]\d{{3}},\d+"
    r"|\d{1,3},(?:\d{1,2}|\d{4,})|0,\d+|,\d+|\d{4,},\d+)" + _END,
    "thousands_dot": _SIGN + r"\d{1,3}(?:\.\d{2,3})*\.\d{3}(?:\.\d{3}|,\d+)" + _END,
    "thousands_comma": _SIGN + r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:,\d{3}|\.\d+)" + _END,
    "thousands_space": _SIGN + rf"\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?:[.,]\d+)?" + _END,
    "thousands_apostrophe": _SIGN + rf"\d{{1,3}}(?:[{_APOSTROPHES}]\d{{3}})+(?:[.,]\d+)?" + _END,
    "either_dot": _SIGN + r"[1-9]\d{0,2}\.\d{3}" + _END,
    "either_comma": _SIGN + r"[1-9]\d{0,2},\d{3}" + _END,
}


def gather(values: pl.Series, whole: pl.Series | None = None, percent: pl.Series | None = None) -> Evidence:
    """What a sample of number texts says about their format.

    Args:
        values: texts, numbers or not.
        whole: for each, whether it counts whole things.
        percent: for each, whether it is a percentage.
    """
    frame = pl.DataFrame(
        {
            "value": values,
            "whole": whole if whole is not None else pl.Series([False]).new_from_index(0, len(values)),
            "percent": percent if percent is not None else pl.Series([False]).new_from_index(0, len(values)),
        }
    ).filter(pl.col("value").str.contains(r"\d[^\d]+\d|^\s*[.,]\d"))
    if not frame.height:
        return Evidence()
    hits = frame.unique().select(
        "whole", "percent", *(pl.col("value").str.contains(p).alias(k) for k, p in _PATTERNS.items())
    )
    counts = {k: int(hits[k].sum()) for k in _PATTERNS}
    for kind in ("whole", "percent"):
        for name in ("dot", "comma"):
            counts[f"{kind}_{name}"] = int((hits[kind] & hits[f"either_{name}"]).sum())
    return Evidence(**counts)


@dataclass(frozen=True)
class Decision:
    """A number format, and what is doubtful about it.

    Attributes:
        format: the format.
        doubt: a sentence for the user where the file does not settle it; else None.
    """

    format: NumberFormat
    doubt: str | None = None


_REMEDY = "Set --number-format if that is wrong."


def decide(evidence: Evidence) -> Decision:
    """The number format that the evidence speaks for.

    Tokens that can only be read one way decide. Where there are none, a separator in a count of whole things groups
    digits, and one in a percentage is a decimal point. What is left is ambiguous and gets the reading of the C locale.
    """
    if forced is not None:
        return Decision(forced)
    e = evidence
    grouping = " " if e.thousands_space else "'" if e.thousands_apostrophe else None
    dot, comma = e.decimal_dot + e.thousands_comma, e.decimal_comma + e.thousands_dot
    if dot or comma:
        decimal = "." if dot >= comma else ","
        other = "," if decimal == "." else "."
        result = NumberFormat(decimal, grouping or other)
        if dot and comma:
            return Decision(
                result,
                f"numbers of this file contradict each other: {dot} can only have a decimal point, {comma} only "
                f"a decimal "
                f"comma; they were read as {result}. {_REMEDY}",
            )
        return Decision(result)
    return _decide_by_meaning(e, grouping)


def _decide_by_meaning(e: Evidence, grouping: str | None) -> Decision:
    """The format where every number with a separator could be read in two ways."""
    if not e.either_dot and not e.either_comma:
        return Decision(NumberFormat("," if grouping == " " else ".", grouping or ","))
    for_dot = e.percent_dot + e.whole_comma
    for_comma = e.percent_comma + e.whole_dot
    if for_dot != for_comma:
        decimal = "." if for_dot > for_comma else ","
    elif grouping == " ":
        decimal = ","
    else:
        decimal = "."
    result = NumberFormat(decimal, grouping or ("," if decimal == "." else "."))
    if (for_dot > 0) != (for_comma > 0):
        return Decision(result)
    example = "1.234" if e.either_dot else "1,234"
    return Decision(
        result,
        f"numbers such as {example} could mean 1234 or 1 and a fraction, and nothing in this file settles it; "
        f"they were "
        f"read as {result}. {_REMEDY}",
    )


def to_float(texts: pl.Series, form: NumberFormat) -> tuple[pl.Series, int]:
    """Number texts as floats.

    Args:
        texts: texts; anything that is no finite number becomes null.
        form: how they write numbers.

    Returns:
        The values (Float64), and how many were refused because digits are not grouped as the format says.
    """
    values = texts
    refused = 0
    numeric = values.str.contains(r"^\s*(?:\(!\)\s*)?[-+]?[.,]?\d")
    if not numeric.any():
        return pl.Series([None], dtype=pl.Float64).new_from_index(0, len(texts)), 0
    if int(numeric.sum()) < len(texts) // 2:
        # Mostly words (policies, lists of names): only the rest is worth the work.
        places = numeric.fill_null(False).arg_true()
        some, refused = to_float(texts.gather(places), form)
        empty = pl.Series([None], dtype=pl.Float64).new_from_index(0, len(texts))
        return empty.scatter(places, some), refused
    if form.thousands:
        sep = _CLASS[form.thousands]
        found = values.str.contains(sep)
        if found.any():
            # A separator that does not stand before three digits is none: better no value than a wrong one.
            no_sep = (
                f"[^\\d{_SPACES}]"
                if form.thousands == " "
                else f"[^\\d{sep}]"
                if sep[0] != "["
                else f"[^\\d{_APOSTROPHES}]"
            )
            wrong = values.str.contains(
                rf"\d{sep}\d{{0,2}}(?:{no_sep}|$)|\d{sep}\d{{4,}}|{sep}{sep}"
            ) & values.str.contains(r"^\s*[-+]?\d")
            refused = int((wrong & _is_numeric_shape(values)).sum())
            values = (
                values.str.replace_all(sep, "") if sep[0] in "[\\" else values.str.replace_all(sep, "", literal=True)
            )
            if refused:
                values = pl.select(pl.when(~wrong).then(values)).to_series()
    if form.decimal == ",":
        values = values.str.replace(",", ".", literal=True)
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() > texts.null_count():
        rest = values.filter(numbers.is_null() & values.is_not_null())
        if rest.str.contains(r"\d").any():
            trimmed = values.str.strip_prefix("(!)").str.strip_chars()
            # With --print-metric-instances a value is followed by those of its instances in parentheses; the window of
            # the
            # tool copies the number of instances in braces.
            trimmed = trimmed.str.replace(r"^([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*[({].*$", "$1")
            numbers = trimmed.cast(pl.Float64, strict=False)
    finite = numbers.is_finite()
    if not finite.all():
        numbers = pl.select(pl.when(finite).then(numbers)).to_series()
    return numbers, refused


def to_integer(texts: pl.Series, values: pl.Series, factors: pl.Series, form: NumberFormat) -> pl.Series:
    """The values that are printed as whole numbers in their base unit, as integers; null for others."""
    known = values.is_not_null().arg_true()
    if len(known) < len(texts) // 2:
        # Mostly words: only the rest is worth the work.
        empty = pl.Series([None], dtype=pl.UInt64).new_from_index(0, len(texts))
        some = to_integer(texts.gather(known), values.gather(known), factors.gather(known), form)
        return empty.scatter(known, some) if len(known) else empty
    point = texts.str.contains(form.decimal, literal=True) | texts.str.contains_any(["e", "E", "(", "{"])
    whole = ((factors == 1.0) & ~point & (values >= 0) & (values < 2.0**63)).fill_null(False)
    exact = pl.select(pl.when(whole).then(values)).to_series().cast(pl.UInt64)
    large = (whole & (values >= 2.0**53)).fill_null(False).arg_true()
    if len(large):
        digits = texts.gather(large).str.replace_all(r"[^\d]", "").cast(pl.UInt64, strict=False)
        exact = exact.scatter(large, digits)
    return exact


def _is_numeric_shape(values: pl.Series) -> pl.Series:
    return values.str.contains(rf"^\s*[-+]?[\d.,{_SPACES}{_APOSTROPHES}]+(?:[eE][-+]?\d+)?\s*$")


def is_null_text(texts: pl.Series) -> pl.Series:
    """Whether a text is a spelling of "no value"."""
    bare = texts.str.strip_chars().str.to_lowercase().str.strip_prefix("(!)").str.strip_chars()
    return bare.is_in(_NULLS) | bare.str.contains(r"^\{\d+\}$")


def split_text(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """The texts that are neither a number nor a spelling of "no value"; null elsewhere."""
    open_ = (numbers.is_null() & texts.is_not_null()).fill_null(False)
    if not open_.any():
        return pl.Series([None], dtype=pl.String).new_from_index(0, len(texts))
    short = (open_ & (texts.str.len_bytes() <= _LONGEST_NULL)).arg_true()
    nulls = short.filter(is_null_text(texts.gather(short)))
    if len(nulls):
        open_ = open_.scatter(nulls, False)
    return pl.select(pl.when(open_).then(texts)).to_series()


def number(text: str, form: NumberFormat) -> float | None:
    """One number text as a float; None for anything else."""
    value: float | None = to_float(pl.Series([text], dtype=pl.String), form)[0][0]
    return value


def decide_from(texts: Iterable[str]) -> Decision:
    """The number format of a few texts of unknown meaning."""
    return decide(gather(pl.Series(list(texts), dtype=pl.String)))
