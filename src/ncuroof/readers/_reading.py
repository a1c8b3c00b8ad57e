"""What the text readers share while they read one file: counters, notes, facts of the log, and the launches table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.model import Note, RawReport, Session, Source
from ncuroof.readers import _numbers
from ncuroof.readers._kernel_names import function_name, is_mangled
from ncuroof.readers._log_facts import LogFacts
from ncuroof.readers._nvtx_text import parse_ranges
from ncuroof.tables import LAUNCHES, METRICS, NSIGHT_RULES, NVTX_RANGE, conform, empty

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from ncuroof.inputs import InputFile
    from ncuroof.model import Chunk

GPU_NAME = "device__attribute_display_name"
_DIGITS = r"\d+"
_UINT32 = 1 << 32
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
                f"{self.refused} numbers do not fit the number format of the rest and were left out; set --number-format if "
                "the format was decided wrongly.",
            )
        for kind, message in self.facts.remarks():
            self.note(kind, message)


def _has_separators(evidence: _numbers.Evidence) -> bool:
    return any(evidence.__dict__.values())


def map_unique(values: pl.Series, function: Callable[[str], Any], dtype: Any) -> pl.Series:  # noqa: ANN401
    """``function`` applied to each text of a series, called once per distinct text; null stays null."""
    name = values.name
    distinct = values.drop_nulls().unique()
    table = pl.DataFrame(
        {"_text": distinct, "_value": pl.Series([function(v) for v in distinct.to_list()], dtype=dtype)},
        schema={"_text": pl.String, "_value": dtype},
    )
    joined = values.alias("_text").to_frame().join(table, on="_text", how="left", maintain_order="left")
    return joined["_value"].alias(name)


def dimensions(text: str) -> list[int | None]:
    """Three sizes out of ``(32, 8, 1)``, ``32 x 8 x 1`` or ``32``; None where there is none."""
    import re  # noqa: PLC0415

    inner = text.strip().strip("()[]{}")
    parts = [p for p in re.split(r",\s+|[x×*;]|,(?=\d{1,2}\b(?!,?\d{3}))", inner) if p.strip()]
    if len(parts) == 1 and inner.count(",") == 2:
        parts = inner.split(",")
    sizes: list[int | None] = []
    for part in parts[:3]:
        digits = "".join(re.findall(_DIGITS, part))
        sizes.append(int(digits) if digits and int(digits) < _UINT32 else None)
    if not sizes:
        return [None, None, None]
    return sizes + [1] * (3 - len(sizes))


def whole_number(text: str) -> int | None:
    """The number a text such as ``7`` or ``1,024`` stands for; None if it is none."""
    digits = "".join(c for c in text if c.isdigit())
    if not digits or len(digits) > 19 or not all(c.isdigit() or c in " .,'_" for c in text.strip()):
        return None
    return int(digits)


def _small(text: str) -> int | None:
    number = whole_number(text)
    return number if number is not None and number < _UINT32 else None


def _capability(text: str) -> list[int | None]:
    digits: re.Match[str] | None
    import re  # noqa: PLC0415

    digits = re.match(r"\s*(\d{1,2})[.,](\d{1,2})\s*$", text)
    return [int(digits[1]), int(digits[2])] if digits else [None, None]


def launches(
    reading: Reading, columns: dict[str, pl.Series], index: pl.Series, gpu: pl.Series | None = None
) -> pl.DataFrame:
    """The launches table of some results.

    Args:
        reading: the file.
        columns: texts as printed: ``kernel``, ``function``, ``mangled``, ``process``, ``process_text``, ``context``,
            ``stream``, ``device``, ``gpu``, ``cc``, ``grid``, ``block``, ``nvtx`` (joined); any may be missing.
        index: index of each result.
        gpu: device names found among the metrics.
    """
    data: dict[str, Any] = {"result_index": index}
    names = columns.get("kernel")
    if names is not None:
        names = _blank_to_null(names)
        data["kernel_name"] = map_unique(names, function_name, pl.String)
        mangled = map_unique(names, is_mangled, pl.Boolean)
        both = pl.DataFrame({"n": names, "m": mangled}).select(
            pl.when(~pl.col("m")).then("n").alias("demangled"), pl.when("m").then("n").alias("mangled")
        )
        data["kernel_demangled"], data["kernel_mangled"] = both["demangled"], both["mangled"]
    if "mangled" in columns:
        data["kernel_mangled"] = _blank_to_null(columns["mangled"])
    if "function" in columns:
        data["kernel_name"] = _blank_to_null(columns["function"])
    if "process" in columns:
        data["process_id"] = map_unique(columns["process"], whole_number, pl.UInt64)
    elif "process_text" in columns:
        data["process_id"] = columns["process_text"].str.extract(r"\[(\d+)\]", 1).cast(pl.UInt64, strict=False)
    for ours, theirs in (("context_id", "context"), ("stream_id", "stream")):
        if theirs in columns:
            data[ours] = map_unique(columns[theirs], whole_number, pl.UInt64)
    if "device" in columns:
        data["device_index"] = map_unique(columns["device"], _small, pl.UInt32)
        named = columns["device"].str.contains("[A-Za-z]{3}")
        data["gpu_name"] = pl.select(pl.when(named).then(columns["device"])).to_series()
    for given in (columns.get("gpu"), gpu):
        if given is not None:
            before = data.get("gpu_name")
            given = _blank_to_null(given)
            data["gpu_name"] = given if before is None else pl.select(pl.coalesce(given, before)).to_series()
    if "cc" in columns:
        cc = map_unique(columns["cc"], _capability, pl.List(pl.UInt32))
        data["cc_major"], data["cc_minor"] = cc.list.get(0, null_on_oob=True), cc.list.get(1, null_on_oob=True)
    for side in ("grid", "block"):
        if side in columns:
            sizes = map_unique(columns[side], dimensions, pl.List(pl.UInt32))
            for place, axis in enumerate("xyz"):
                data[f"{side}_{axis}"] = sizes.list.get(place, null_on_oob=True)
    ranges = pl.List(NVTX_RANGE)
    if "nvtx" in columns:
        data["nvtx"] = map_unique(columns["nvtx"], lambda t: parse_ranges(t).ranges, ranges)
        data["nvtx_path"] = map_unique(columns["nvtx"], lambda t: parse_ranges(t).path, pl.String)
    frame = pl.DataFrame({k: v.alias(k) for k, v in data.items()})
    constants: dict[str, Any] = {
        "source": reading.file.name,
        "source_sha256": reading.file.sha256,
        "result_kind": "kernel",
        "origin": "profiled",
        "ncu_version": reading.facts.ncu_version,
        **reading.facts.settings(),
    }
    frame = frame.with_columns(pl.lit(v, dtype=pl.String).alias(k) for k, v in constants.items())
    if "nvtx" not in frame.columns:
        frame = frame.with_columns(pl.lit([], dtype=ranges).alias("nvtx"))
    return conform(frame.with_columns(pl.col("nvtx").fill_null([])), LAUNCHES)


def _blank_to_null(values: pl.Series) -> pl.Series:
    stripped = values.str.strip_chars()
    return pl.select(pl.when(stripped != "").then(stripped)).to_series()


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
