"""A second, plain reader of what ncu prints: kernels and printed cells of an export, without ncuroof's readers.

It need not be robust: it knows only how ncu 2024.1 prints, reads the whole file and takes apart nothing that is not
needed to hold ncuroof's answer against the file.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

FORMS = (
    "raw.csv",
    "raw-base.csv",
    "raw-de.csv",
    "raw-fr.csv",
    "raw-function.csv",
    "raw-mangled.csv",
    "details.csv",
    "details-all.csv",
    "details-all-name.csv",
    "summary-kernel.csv",
    "raw.txt",
    "raw-de.txt",
    "details.txt",
    "details-all-label-name.txt",
    "summary-kernel.txt",
)
NO_VALUE = {"", "n/a", "(!) n/a", "nan", "-nan", "inf", "-inf", "no data", "(!) nan", "(!) inf"}
_LAUNCH = re.compile(r"^  (?P<name>\S.*) \((?P<grid>[\d, ]+)\)x\((?P<block>[\d, ]+)\), (?:Context|Device)\b")
_RULER = re.compile(r"^ +(?:-{3,} ?)+$")
_TITLES = ("Metric Name", "Metric Unit", "Metric Value", "Minimum", "Maximum", "Average")


@dataclass(frozen=True)
class Cell:
    """One printed value: where it stands, what it is called there, its unit and its text."""

    section: str
    label: str
    unit: str
    text: str
    minimum: str = ""
    maximum: str = ""


@dataclass
class Printed:
    """One kernel of an export."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cells: list[Cell] = field(default_factory=list)
    launches: int = 1


def form_of(path: Path) -> str:
    """``raw-de.csv`` of ``x.y.raw-de.csv.gz``."""
    return ".".join(path.name.split(".")[-3:-1])


def kernels_of(path: Path) -> list[Printed]:
    """Everything that an export prints."""
    with gzip.open(path, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    if form_of(path).endswith(".txt"):
        return _text(text.splitlines())
    rows = list(csv.reader(io.StringIO(text)))
    return _wide(rows) if form_of(path).startswith("raw") else _long(rows)


def _sizes(text: str) -> tuple[int, ...]:
    """``(1.056, 1, 1)`` or ``(1 056, 1, 1)`` as numbers, whatever groups the digits."""
    return tuple(int(re.sub(r"\D", "", part)) for part in text.strip("() ").split(", "))


def _wide(rows: list[list[str]]) -> list[Printed]:
    titles, units = rows[0], rows[1]
    at = {title: i for i, title in enumerate(titles)}
    first = next(i for i, title in enumerate(titles) if "__" in title)
    found = []
    for row in rows[2:]:
        one = Printed(row[at["Kernel Name"]], _sizes(row[at["Grid Size"]]), _sizes(row[at["Block Size"]]))
        one.cells = [Cell("", titles[i], units[i], row[i]) for i in range(first, len(titles))]
        found.append(one)
    return found


def _long(rows: list[list[str]]) -> list[Printed]:
    head = next((row for row in rows if "Metric Name" in row), None)
    if head is None:
        return []
    at = {title: i for i, title in enumerate(head)}
    key = at.get("ID")
    value = at.get("Metric Value", at.get("Average", -1))
    found: list[Printed] = []
    last = None
    for row in rows:
        # Lines of other kinds stand between the rows: warnings, tables of the topology.
        if len(row) <= value or row is head or not row[0].isdigit() or not row[at["Block Size"]].startswith("("):
            continue
        who = tuple(row[i] for i in range(at["CC"] + 1)) if key is None else row[key]
        if who != last:
            last = who
            found.append(Printed(row[at["Kernel Name"]], _sizes(row[at["Grid Size"]]), _sizes(row[at["Block Size"]])))
            found[-1].launches = int(row[at["Invocations"]]) if "Invocations" in at else 1
        if row[at["Metric Name"]]:
            section = row[at["Section Name"]] if "Section Name" in at else ""
            item = row[at["Body Item Label"]] if "Body Item Label" in at else ""
            extremes = [row[at[k]] if k in at else "" for k in ("Minimum", "Maximum")]
            label = row[at["Metric Name"]]
            found[-1].cells.append(Cell(f"{section}|{item}", label, row[at["Metric Unit"]], row[value], *extremes))
    return found


def _text(lines: list[str]) -> list[Printed]:
    found: list[Printed] = []
    section, titles, edges, inside = "", (), [], False
    for number, line in enumerate(lines):
        launch = _LAUNCH.match(line)
        if launch:
            grid, block = _sizes(launch["grid"]), _sizes(launch["block"])
            found.append(Printed(launch["name"], grid, block))
            times = re.search(r", Invocations ([\d.,]+)$", line)
            found[-1].launches = int(re.sub(r"\D", "", times[1])) if times else 1
            section, inside = "", False
        elif line.startswith("    Section: "):
            section = line[len("    Section: ") :].strip()
        elif _RULER.match(line):
            above = lines[number - 1]
            if "Metric Name" in above:
                edges = [m.span() for m in re.finditer(r"-+", line)]
                titles = tuple(t for t in _TITLES if t in above)
                inside = True
            elif inside:
                inside = False
        elif inside and line.strip() and found:
            _text_row(found[-1].cells, section, titles, edges, line)
        elif not line.strip():
            inside = False
    return found


def _text_row(
    cells: list[Cell], section: str, titles: tuple[str, ...], edges: list[tuple[int, int]], line: str
) -> None:
    name = line[edges[0][0] : edges[0][1]].strip()
    rest = line[edges[0][1] :].split()
    if cells and (not rest or not name):
        # Names and values that are wider than their column go on below.
        last = cells[-1]
        text = last.text + "".join(f" {word}" for word in rest)
        cells[-1] = Cell(last.section, last.label + name, last.unit, text, last.minimum, last.maximum)
        return
    unit = line[edges[1][0] : edges[1][1]].strip()
    values = [line[a:b].strip() for a, b in edges[2:]]
    if len(titles) == len(_TITLES) - 1:
        cells.append(Cell(section, name, unit, values[2], values[0], values[1]))
    else:
        cells.append(Cell(section, name, unit, values[0]))
