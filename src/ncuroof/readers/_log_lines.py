"""Recognises lines of ncu's text output: kernels, sections, tables, rule messages. Knows nothing of their meaning."""

from __future__ import annotations

import itertools
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
_NVTX = re.compile(r"^NVTX (?:Push/Pop Stack for Thread (?P<thread>\d+)|Start/End Ranges)")
_NVTX_DOMAIN = re.compile(r"^<(?P<domain>[^<>]+)>$")
_NVTX_RANGE = re.compile(r"^<\d+,\s?(?P<name>.*)>$")
# A value: one word, or a number with blanks between its digits, or a spelling of "no value" with a blank.
_VALUE = re.compile(r"^(?:\S+|\(!\) \S+|no data|[-+]?\d[\d \u00a0\u202f.,']*)$")
_UNIT_LIKE = re.compile(
    r"^(?:%|[A-Za-z]+/[A-Za-z]+|[KMGT]?byte|[num]?s(?:econd)?|[KMG]?hz|cycle|inst|block|thread|warp)$"
)
_SIMPLE = (("section", _SECTION), ("rule", _RULE), ("process", _PROCESS), ("device", _DEVICE), ("nvtx", _NVTX))
INTERESTING = re.compile(
    rb"\)\s?x\s?\(\d|, Context \d|Section:|Table Name\s*:|^[^\n]{0,12}\[\d+\] \S|, Invocations \d"
    rb"|^[^\n]{0,6}\s{2,}Device \d+",
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
    if not text or text.startswith("==") or _DASHES.match(text):
        return ("blank" if not text else "mark" if text[0] == "=" else "dashes"), {}
    if (")x(" in text or ") x (" in text or ", Context " in text or ", Invocations " in text) and (
        match := _KERNEL.match(text)
    ):
        parts = match.groupdict()
        sized = parts["grid"] is not None
        dated = parts["date"] is not None and parts["context"] is not None
        if sized or dated or (parts["context"] is not None and parts["stream"] is not None):
            return "kernel", parts
    for kind, pattern in _SIMPLE:
        if match := pattern.match(text):
            return kind, match.groupdict()
    return "text", {}


def spans(line: Line) -> list[tuple[int, int]]:
    """Where the columns of a table lie, from its line of dashes."""
    return [m.span() for m in re.finditer(r"-+", line.raw) if m.start() >= line.indent]


def split_row(line: Line, columns: list[tuple[int, int]], *, prefixed: bool) -> list[str] | None:
    """The cells of a table row: name, unit, and one value or three; None if the line is no row of this table.

    Columns are taken from the line of dashes. Where blanks were squeezed since, the row is taken apart by its blanks.

    Args:
        line: the line.
        columns: where the dashes lie.
        prefixed: whether the line of dashes has a comment's or quote's mark before it, so that rows have it too.
    """
    raw = line.raw.expandtabs() if "\t" in line.raw else line.raw
    before = raw[: columns[0][0]].strip()
    gaps = [raw[a:b] for (_, a), (b, _) in itertools.pairwise(columns)]
    if not any(g.strip() for g in gaps) and (not before or prefixed):
        cells = [raw[a:b].strip() for a, b in columns[:-1]] + [raw[columns[-1][0] :].strip()]
        # Somebody's remark behind a value is not part of it.
        cells[-1] = cells[-1] if _VALUE.match(cells[-1]) else re.split(r"\s{2,}", cells[-1])[0]
        if cells[0] and not re.search(r"\s", cells[1]) and all(_VALUE.match(c) for c in cells[2:]):
            return cells
    return _by_blanks(line.text if prefixed else raw.strip(), len(columns))


def _by_blanks(text: str, count: int) -> list[str] | None:
    cells = re.split(r"\s{2,}", text)
    if cells[-1] != "no data" and " " in cells[-1] and not cells[-1].startswith("(!)"):
        cells[-1:] = cells[-1].split()
    values = cells[len(cells) - (count - 2) :]
    head = cells[: len(cells) - (count - 2)]
    if len(head) not in (1, 2) or len(values) != count - 2 or not all(_VALUE.match(v) for v in values):
        return None
    if len(head) == 1 and head[0].count(" ") and _UNIT_LIKE.match(head[0].rsplit(" ", 1)[1]):
        head = head[0].rsplit(" ", 1)
    return [head[0], head[1] if len(head) > 1 else "", *values]


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
