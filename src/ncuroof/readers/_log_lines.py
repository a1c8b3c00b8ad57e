"""Recognises the lines of ncu's text output: kernels, sections, tables, rule messages. Knows nothing of what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# People paste logs into comments and quotes, and viewers number their lines.
_PREFIX = re.compile(r"^\s*(?://+|#|>+|\*|\d{1,6}:)?(?P<rest>.*?)\s*$")
_KERNEL = re.compile(
    r"^(?P<kernel>\S.*?)\s*"
    r"(?:\((?P<grid>[\d.,']+, ?[\d.,']+, ?[\d.,']+)\)\s?x\s?\((?P<block>[\d.,']+, ?[\d.,']+, ?[\d.,']+)\))?"
    r"(?:, (?P<date>\d{4}-[A-Za-z]{3}-\d{1,2} \d{1,2}:\d{2}:\d{2}))?"
    r"(?:, Context (?P<context>\d+))?(?:, Stream (?P<stream>\d+))?(?:, Device (?P<device>\d+))?"
    r"(?:, CC (?P<cc>\d+\.\d+))?(?:, Invocations (?P<invocations>[\d.,' \u00a0\u202f]+))?$"
)
_PROCESS = re.compile(r"^\[(?P<process>\d+)\] (?P<name>.*?)(?:@\S+)?$")
_DEVICE = re.compile(r"^(?:(?P<gpu>\S.*?), )?Device (?P<device>\d+)(?:, CC (?P<cc>\d+\.\d+))?$")
_SECTION = re.compile(r"^(?:Section|Table Name)\s*:\s*(?P<section>\S.*)$")
_TABLE_TEXT = re.compile(r"^Table Description\s*:")
_DASHES = re.compile(r"^-{3,}(?: -{2,})*$")
_RULE = re.compile(r"^(?P<kind>OPT|WRN|INF|ERR|OK)(?:\s{2,}(?P<text>\S.*)?)?$")
_SPEEDUP = re.compile(
    r"^(?:Est\.|Estimated) (?:(?P<type>Local|Global) )?Speedup: (?P<percent>[\d.,]+)\s?%\s*(?P<rest>.*)$", re.IGNORECASE
)
_NVTX_THREAD = re.compile(r"^NVTX Push/Pop Stack for Thread (?P<thread>\d+)")
_NVTX_OTHER = re.compile(r"^NVTX Start/End Ranges")
_NVTX_DOMAIN = re.compile(r"^<(?P<domain>[^<>]+)>$")
_NVTX_RANGE = re.compile(r"^<\d+,\s?(?P<name>.*)>$")
_ROW = re.compile(
    r"^(?P<metric>\S(?:.*?\S)?)(?:\s{2,}(?P<unit>[^\s\d(][^\s]*))?\s{1,}(?P<value>(?:\(!\)\s)?\S+|no data)$"
)
INTERESTING = re.compile(
    rb"\)\s?x\s?\(\d|, Context \d|Section:|Table Name\s*:|^[^\n]{0,12}\[\d+\] \S|, Invocations \d|^[^\n]{0,6}\s{2,}Device \d+",
    re.MULTILINE,
)
"""Finds lines that can begin something; blocks without any hold only other programs' output."""


@dataclass(frozen=True)
class Line:
    """A line of a log.

    Attributes:
        kind: ``kernel``, ``process``, ``device``, ``section``, ``dashes``, ``rule``, ``nvtx``, ``blank``, ``mark`` or
            ``text``.
        text: without prefix and surrounding blanks.
        indent: number of blanks before it.
        parts: what the line consists of.
    """

    kind: str
    text: str
    indent: int
    raw: str
    parts: dict[str, str | None] = field(default_factory=dict)


def classify(raw: str) -> Line:
    """What a line is."""
    match = _PREFIX.match(raw)
    rest = match["rest"] if match else raw
    text = rest.strip()
    start = raw.find(text) if text else len(raw)
    line = _classify(text)
    return Line(line[0], text, start, raw, line[1])


def _classify(text: str) -> tuple[str, dict[str, str | None]]:
    if not text:
        return "blank", {}
    if text.startswith("=="):
        return "mark", {}
    if text[0] == "-" and _DASHES.match(text):
        return "dashes", {}
    if (")x(" in text or ") x (" in text or ", Context " in text or ", Invocations " in text) and (
        match := _KERNEL.match(text)
    ):
        parts = match.groupdict()
        sized = parts["grid"] is not None
        dated = parts["date"] is not None and parts["context"] is not None
        if sized or dated or (parts["context"] is not None and parts["stream"] is not None):
            return "kernel", parts
    for kind, pattern in (("section", _SECTION), ("rule", _RULE), ("process", _PROCESS), ("device", _DEVICE)):
        if match := pattern.match(text):
            return kind, match.groupdict()
    if text.startswith("NVTX") and (match := _NVTX_THREAD.match(text)):
        return "nvtx", match.groupdict()
    if text.startswith("NVTX") and _NVTX_OTHER.match(text):
        return "nvtx", {"thread": None}
    return "text", {}


def spans(line: Line) -> list[tuple[int, int]]:
    """Where the columns of a table lie, from its line of dashes."""
    return [m.span() for m in re.finditer(r"-+", line.raw) if m.start() >= line.indent]


def split_row(line: Line, columns: list[tuple[int, int]]) -> list[str] | None:
    """The cells of a table row: name, unit, and one value or three; None if the line is no row of this table.

    Columns are taken from the line of dashes. Where blanks were squeezed or added since, the row is taken apart by its
    blanks.
    """
    raw = line.raw.expandtabs() if "\t" in line.raw else line.raw
    gaps = [raw[a:b] for (_, a), (b, _) in zip(columns, columns[1:], strict=False)]
    if (
        len(raw.rstrip()) > columns[-2][1]
        and not any(g.strip() for g in gaps)
        and raw[: columns[0][0]].strip(" />#*0123456789:") == ""
    ):
        cells = [raw[columns[0][0] : columns[0][1]].strip()]
        cells += [raw[a:b].strip() for a, b in columns[1:-1]]
        last = raw[columns[-1][0] :].strip()
        cells.append(
            last
            if len(last) <= columns[-1][1] - columns[-1][0] or last.startswith("(!)")
            else last.split("  ")[0].strip()
        )
        if cells[0] and cells[-1]:
            return cells
    return _by_blanks(line.text, len(columns))


def _by_blanks(text: str, count: int) -> list[str] | None:
    if count == 3:
        match = _ROW.match(text)
        return [match["metric"], match["unit"] or "", match["value"]] if match else None
    words = text.split()
    if len(words) < 4:
        return None
    values = words[-3:]
    if not all(re.match(r"^[-+]?[\d.,]+(?:[eE][-+]?\d+)?$|^n/a$|^nan$|^inf$|^no$|^data$", v) for v in values):
        return None
    head = re.split(
        r"\s{2,}", text[: text.rindex(values[0], 0, len(text) - len(values[1]) - len(values[2]) - 1)].strip()
    )
    if len(head) > 1 and not head[-1].count(" "):
        return [" ".join(head[:-1]), head[-1], *values]
    return [" ".join(head), "", *values]


def speedup(text: str) -> tuple[str | None, str | None, str]:
    """Type and percentage of the speedup a rule message begins with, and the rest of the message."""
    match = _SPEEDUP.match(text)
    if not match:
        return None, None, text
    return ("local" if (match["type"] or "").lower() == "local" else "global"), match["percent"], match["rest"]


def nvtx_part(text: str) -> tuple[str, str] | None:
    """A line of an NVTX stack: ``("domain", name)`` or ``("range", name)``; None for any other line."""
    if match := _NVTX_RANGE.match(text):
        return "range", match["name"]
    if match := _NVTX_DOMAIN.match(text):
        return "domain", match["domain"]
    return None
