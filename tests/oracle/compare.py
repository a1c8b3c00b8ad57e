"""Holds an export against the report it was printed from: the same run must give the same answer.

What ncuroof reads out of both is compared cell by cell of what the export prints (:mod:`tests.oracle.exports`), then
quantity by quantity with what the report gives from the metrics that the export prints.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from tests.oracle import tolerance
from tests.oracle.exports import NO_VALUE, Cell, Printed, form_of, kernels_of
from tests.oracle.truth import SIZES, Held, Read, Truth, metrics_of, places_of, read_export, summary_of, truth_of

from ncuroof.errors import InputError
from ncuroof.metrics.catalogue import quantities
from ncuroof.metrics.engine import evaluated
from ncuroof.metrics.matrix import scatter

if TYPE_CHECKING:
    from pathlib import Path

GOOD = ("equal", "derived", "absent")
BAD = ("wrong value", "silent loss", "kernels too many", "kernels too few", "read error")
SHOWN = ("derived off", "noted loss")
OUTCOMES = (*GOOD, *SHOWN, *BAD)
"""
- ``absent``: null, since the export lacks it.
- ``derived``: from other metrics than the report's value, source named; ``derived off``: and more than 2 % from it.
- ``noted loss``: printed, not had, and a note says so; ``silent loss``: no note does.
"""
NAMES = ("kernel_name", "kernel_demangled", "kernel_mangled")
FACTS = ("cc_major", "cc_minor", "process_id", "context_id", "stream_id", "gpu_name")
LOSSES_NOTED = {"numbers-refused", "broken-rows", "cut-file", "ncu-failed"}
MADE_HERE = ("summary__invocations",)
CLOSE = 0.02
"""Two ways of obtaining one quantity agree this well."""


@dataclass
class Outcome:
    """How often what happened in one export, and what was bad, one line each."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, kind: str, what: str = "") -> None:
        """Count one comparison."""
        self.counts[kind] += 1
        if kind in BAD or kind in SHOWN:
            self.faults.append(f"{kind}: {what}")


def compare(export: Path, report: Path) -> Outcome:
    """Everything that an export prints, against its report."""
    outcome = Outcome()
    printed = kernels_of(export)
    if not printed:
        return outcome
    try:
        ours = read_export(export)
    except InputError as error:
        outcome.add("read error", str(error)[:200])
        return outcome
    for _ in range(ours.launches.height - len(printed)):
        outcome.add("kernels too many", f"{ours.launches.height} for {len(printed)}")
    for _ in range(len(printed) - ours.launches.height):
        outcome.add("kernels too few", f"{ours.launches.height} for {len(printed)}")
    if ours.launches.height == len(printed):
        comparison = _Comparison(outcome, export, printed, ours, report)
        comparison.launches()
        comparison.quantities(comparison.cells())
    return outcome


class _Comparison:
    """One export and its report, kernel by kernel."""

    def __init__(self, outcome: Outcome, export: Path, printed: list[Printed], ours: Read, report: Path) -> None:
        self.outcome = outcome
        self.form = form_of(export)
        self.where = (self.form, export.parent, export.name.removesuffix(f".{self.form}.gz"))
        self.printed = printed
        self.ours = ours
        self.summary = self.form.startswith("summary")
        self.truth: Truth = summary_of(report) if self.summary else truth_of(report)
        self.places = places_of(self.truth, printed) if self.summary else list(range(len(printed)))

    def launches(self) -> None:
        """Names, sizes and where it ran. What an export does not say may be null; a name and the sizes may not."""
        truth = self.truth.read.launches[self.places]
        for column in (*NAMES, *SIZES, *FACTS):
            if self.summary and column == "process_id":
                continue  # a summary counts the launches of several processes together
            pairs = zip(self.ours.launches[column].to_list(), truth[column].to_list(), strict=True)
            for row, (mine, theirs) in enumerate(pairs):
                self.outcome.add(self._launch(column, row, mine, theirs), f"kernel {row} {column}: {mine}, {theirs}")

    def _launch(self, column: str, row: int, mine: object, theirs: object) -> str:
        if mine == theirs:
            return "equal"
        if mine is None:
            return "silent loss" if column == "kernel_name" or column in SIZES else "absent"
        # ncu prints the function's name for the demangled one when asked to, and where there is no other.
        only_name = self.form == "raw-function.csv" or theirs is None
        if column == "kernel_demangled" and only_name and mine == self.ours.launches["kernel_name"][row]:
            return "equal"
        return "wrong value"

    def cells(self) -> list[dict[str, float]]:
        """Printed values; gives back, for each kernel, the metrics it prints and how far each may be off."""
        mine = self.ours.values
        return [self._kernel(row, mine[row]) for row in range(len(self.printed))]

    def _kernel(self, row: int, mine: dict[str, Held]) -> dict[str, float]:
        truth = self.truth.values[self.places[row]]
        seen: dict[str, list[Cell]] = defaultdict(list)
        for cell in self.printed[row].cells:
            if cell.text.lower() in NO_VALUE:
                continue
            candidates = metrics_of(cell, *self.where)
            # Where a label stands for several metrics, the report tells which one has this value.
            fitting = [m for m in candidates if _fits(truth.get(m), m, cell)]
            for metric in (fitting or candidates)[:1]:
                seen[metric].append(cell)
            if not candidates:
                known = cell.label in mine or any(_fits(held, m, cell) for m, held in mine.items())
                self.outcome.add("equal" if known else "silent loss", f"kernel {row} [{cell.section}] {cell.label}")
        off: dict[str, float] = {}
        for metric, shown in seen.items():
            near = [c for c in shown if _fits(truth.get(metric), metric, c)]
            if near:  # else ncu prints here what the report does not hold
                off[metric] = min(tolerance.of_cell(metric, c) for c in near)
                self._metric(row, metric, near, mine, off[metric])
        for metric, held in mine.items():
            if metric in seen or "__" not in metric or ":m" in metric or metric in MADE_HERE or held == (None, None):
                continue
            right = truth.get(metric)
            if right is None or not _same(held, right, abs(right[0] or 0) * CLOSE):
                self.outcome.add("wrong value", f"kernel {row} {metric}: {held}, not printed, {right}")
        return off

    def _metric(self, row: int, metric: str, cells: list[Cell], mine: dict[str, Held], allowed: float) -> None:
        right = self.truth.values[self.places[row]][metric]
        have = mine.get(metric, (None, None))
        what = f"kernel {row} {metric} {[c.text for c in cells]} {cells[0].unit}: {have}, {right}"
        if have == (None, None):
            noted = LOSSES_NOTED & {n.kind for n in self.ours.notes}
            kept = any(c.label in mine for c in cells)
            self.outcome.add("equal" if kept else "noted loss" if noted else "silent loss", what)
            return
        self.outcome.add("equal" if _same(have, right, allowed) else "wrong value", what)
        if self.summary and right[0] is not None:
            ends = self.truth.extremes[self.places[row]][metric]
            for suffix, text, end in zip((":min", ":max"), (cells[0].minimum, cells[0].maximum), ends, strict=True):
                if text.lower() not in NO_VALUE:
                    held = mine.get(metric + suffix, (None, None))
                    good = _same(held, (end, None), tolerance.of_cell(metric, cells[0], text))
                    self.outcome.add("equal" if good else "wrong value", f"{what} {suffix} {held}, {end}")

    def quantities(self, cells: list[dict[str, float]]) -> None:
        """Canonical quantities against what the report gives from those of its metrics that the export prints."""
        numbers = pl.Series("_row", range(len(self.places)), dtype=pl.UInt32)
        rows = pl.DataFrame([pl.Series("result_index", self.places, dtype=pl.UInt32), numbers])
        shown = pl.DataFrame(
            [(row, metric, off) for row, metrics in enumerate(cells) for metric, off in metrics.items()],
            schema={"_row": pl.UInt32, "metric": pl.String, "_off": pl.Float64},
            orient="row",
        )
        held = self.truth.read.metrics.join(rows, on="result_index").join(shown, on=["_row", "metric"])
        held = held.drop("result_index").rename({"_row": "result_index"})
        # Where it ran is compared already; what follows from it is compared under what the export says of it.
        said = self.ours.launches.select("gpu_name", "cc_major", "cc_minor", "ncu_version").get_columns()
        launches = self.truth.read.launches[self.places].with_columns(numbers.alias("result_index"), *said)
        expected = evaluated(launches, held.select(self.truth.read.metrics.columns))
        found = evaluated(self.ours.launches, self.ours.metrics)
        off = scatter(launches, held.with_columns(pl.col("_off").alias("value")), held["metric"].unique())
        allowed = tolerance.of_quantities(found, off)
        for quantity in quantities():
            name = quantity.name
            if quantity.hidden or quantity.is_text or name == "invocations":
                continue
            for row, place in enumerate(self.places):
                mine, want = float(found.values[name][row]), float(expected.values[name][row])
                right = float(self.truth.full.values[name][place])
                slack = float(allowed[name][row])
                what = f"kernel {row} {name}: {mine:g} [{found.source(name, row)}], from the same metrics {want:g}, "
                what += f"report {right:g} [{self.truth.full.source(name, place)}]"
                if np.isnan(mine):
                    gone = np.isnan(want) or (quantity.positive and abs(want) <= slack)
                    self.outcome.add("absent" if gone else "silent loss", what)
                else:
                    same_way = bool(found.chosen[name][row] == expected.chosen[name][row])
                    self.outcome.add(_kind(mine, want, right, slack, same_way=same_way), what)


def _kind(mine: float, want: float, right: float, slack: float, *, same_way: bool) -> str:
    if same_way and not _near(mine, want, slack):
        return "wrong value"
    if same_way and (np.isnan(right) or _near(mine, right, slack)):
        return "equal"
    if _near(mine, right, slack + CLOSE * abs(right)):
        return "derived"
    if same_way:
        return "derived off"
    return "derived" if _near(mine, want, slack + CLOSE * abs(want)) else "wrong value"


def _near(one: float, other: float, allowed: float) -> bool:
    return abs(one - other) <= allowed + tolerance.ROUNDING * abs(other)


def _fits(right: Held | None, metric: str, cell: Cell) -> bool:
    """Whether a printed cell can be this value, read as plainly as possible: so that labels find their metrics."""
    if right is None:
        return False
    value, text = right
    if value is None:
        return text is not None and text.strip().startswith(cell.text.strip())
    number = cell.text.partition(" (")[0].strip()  # values of instances may follow
    mantissa, _, exponent = number.lower().partition("e")
    digits = "".join(c for c in mantissa if c.isdigit())
    if not digits or not (exponent or "0").lstrip("+-").isdigit():
        return False
    shown = float(f"{'-' if number.startswith('-') else ''}{digits}e{int(exponent or 0) - tolerance.decimals(number)}")
    return _near(shown * tolerance.unit_of(metric, cell.unit)[1], value, tolerance.of_cell(metric, cell))


def _same(have: Held, right: Held, allowed: float) -> bool:
    if right[0] is None:
        return have[1] is not None and right[1] is not None and have[1].strip() == right[1].strip()
    return have[0] is not None and _near(have[0], right[0], allowed)
