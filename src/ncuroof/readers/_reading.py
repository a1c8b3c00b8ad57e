"""What the text readers share while they read one file: counters, notes, facts of the log, and the launches table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.model import Note, RawReport, Session, Source
from ncuroof.readers import _numbers
from ncuroof.readers._log_facts import LogFacts
from ncuroof.tables import METRICS, NSIGHT_RULES, conform, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ncuroof.inputs import InputFile
    from ncuroof.model import Chunk

GPU_NAME = "device__attribute_display_name"
INVOCATIONS = "summary__invocations"
"""Metric that holds how many launches a row of a summary stands for."""


@dataclass
class Reading:
    """One file on its way.

    Attributes:
        file: the opened file.
        want: metrics that the caller needs; None for all.
        format: name of the reader.
        recognised: why it took the file.
        facts: what the lines around the tables say.
        notes: for the user; complete when the file has been read.
        next_index: index of the next result.
        evidence: what the numbers seen so far say about their format.
        unknown: display names that no metric is known for, with the number of values.
        refused: values that contradict the number format.
        noise: lines that belong to no table.
    """

    file: InputFile
    want: frozenset[str] | None
    format: str
    recognised: str
    facts: LogFacts = field(default_factory=LogFacts)
    session: Session = field(default_factory=Session)
    notes: list[Note] = field(default_factory=list)
    next_index: int = 0
    evidence: _numbers.Evidence = field(default_factory=_numbers.Evidence)
    unknown: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    noise: int = 0

    def note(self, kind: str, message: str) -> None:
        """Add a note, once."""
        note = Note(kind, message, self.file.name)
        if note not in self.notes:
            self.notes.append(note)

    def report(self, chunks: Iterator[Chunk]) -> RawReport:
        """The report that a reader returns."""
        source = Source(self.file.name, self.file.sha256, self.file.size, self.format, self.recognised)
        return RawReport(source, self.session, self.notes, chunks)

    @property
    def taken_for(self) -> str:
        """What the file was taken for and why, as a clause for errors: the guess may be wrong."""
        return f"it was taken for {self.format} because of {self.recognised}"

    def take(self, count: int) -> pl.Series:
        """Indices for ``count`` new results."""
        first = self.next_index
        self.next_index += count
        return pl.Series("result_index", range(first, first + count), dtype=pl.UInt32)

    def number_format(
        self, evidence: _numbers.Evidence, further: Callable[[], _numbers.Evidence]
    ) -> _numbers.NumberFormat:
        """The number format of a table.

        Its own numbers decide. If they do not, those of the tables before it in the file, then ``further``: what can be
        found in the rest of the file. What stays open becomes a note.
        """
        decision = _numbers.decide(evidence)
        if decision.doubt:
            pooled = evidence + self.evidence
            decision = _numbers.decide(pooled)
            if decision.doubt:
                decision = _numbers.decide(pooled + further())
        elif not _has_separators(evidence) and _has_separators(self.evidence):
            decision = _numbers.decide(self.evidence)
        self.evidence = self.evidence + evidence
        if decision.doubt:
            self.note("number-format", decision.doubt[0].upper() + decision.doubt[1:])
        return decision.format

    def finish(self) -> None:
        """Turn what was counted into notes."""
        if self.unknown:
            names = sorted(self.unknown, key=lambda n: (-self.unknown[n], n))
            shown = ", ".join(repr(n) for n in names[:3]) + (", ..." if len(names) > 3 else "")
            self.note(
                "unknown-display-names",
                f"{len(names)} display names stand for no metric that is known and were kept under their own names "
                f"({shown}); profile with --print-metric-name name to have metric names.",
            )
        if self.refused:
            self.note(
                "numbers-refused",
                f"{self.refused} numbers do not fit the number format of the rest and were left out; set "
                f"--number-format if "
                "the format was decided wrongly.",
            )
        for kind, message in self.facts.remarks():
            self.note(kind, message)


def _has_separators(evidence: _numbers.Evidence) -> bool:
    return any(evidence.__dict__.values())


def metric_rows(reading: Reading, frame: pl.DataFrame) -> pl.DataFrame:
    """A metrics table out of a frame that has some of its columns; those it lacks are null."""
    have = set(frame.columns)
    return frame.with_columns(pl.lit(reading.file.sha256).alias("source_sha256")).select(
        c.name if c.name in have or c.name == "source_sha256" else pl.lit(None, dtype=c.dtype).alias(c.name)
        for c in METRICS
    )


def stack(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Metrics tables below one another."""
    filled = [p.with_columns(pl.col("metric").cast(pl.Categorical)) for p in parts if p.height]
    return pl.concat(filled) if filled else empty(METRICS)


def rule_rows(reading: Reading, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """A table of Nsight's rule results out of dictionaries with some of its columns."""
    if not rows:
        return empty(NSIGHT_RULES)
    schema = {c.name: c.dtype for c in NSIGHT_RULES}
    for row in rows:
        row["source_sha256"] = reading.file.sha256
        row.setdefault("focus", [])
    frame = pl.DataFrame(rows, schema={k: v for k, v in schema.items() if any(k in r for r in rows)})
    return conform(frame, NSIGHT_RULES)


MESSAGE_TYPES = {"OPT": "optimization", "WRN": "warning", "INF": "ok", "ERR": "error", "OK": "ok", "NONE": "none"}
"""Rule types as ncu prints them, and what they are called in the tables."""
