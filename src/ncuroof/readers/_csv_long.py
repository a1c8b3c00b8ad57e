"""Long tables of ncu (``--csv``, details page or ``--metrics``): one row per kernel and metric, each with its unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ncuroof.model import Chunk
from ncuroof.readers import _numbers
from ncuroof.readers._csv_header import Header
from ncuroof.readers._csv_parse import parse_lines
from ncuroof.readers._launch_rows import WHO, launches
from ncuroof.readers._metric_values import EXTREMES, MetricValues
from ncuroof.readers._reading import GPU_NAME, INVOCATIONS, MESSAGE_TYPES, Reading, metric_rows, rule_rows, stack

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_CARRY_LIMIT = 8 << 20
_KEYS = ("id", "process", "kernel", "function", "context", "stream", "device", "grid", "block")
_WHAT = ("section", "item", "metric", "unit")
_RULE = ("rule", "rule_type", "rule_text", "speedup_type", "speedup")


@dataclass(frozen=True)
class _Prepared:
    """Parsed records of whole kernels.

    Attributes:
        records: the records, one per line.
        frame: the columns that all rows are needed of.
        ordinal: for each row the number of its kernel.
        first: for each kernel its first row.
    """

    records: bytes
    frame: pl.DataFrame
    ordinal: NDArray[np.int64]
    first: NDArray[np.int64]


class LongTable:
    """Turns blocks of records of one long table into chunks; a kernel is never split between two."""

    def __init__(self, header: Header, reading: Reading, further: Callable[[], _numbers.Evidence]) -> None:
        self.header = header
        self.reading = reading
        self.summary = header.kind == "summary"
        self.values = MetricValues(reading, further)
        self._carry = b""
        at = header.at
        self._value = "average" if self.summary else "value"
        # With an id the id tells kernels apart; without one, everything else that describes a launch does.
        self._key = ["id", *(k for k in ("process",) if k in at)] if "id" in at else [k for k in _KEYS if k in at]
        used = {*self._key, *(k for k in (*_WHAT, *_RULE, self._value, *EXTREMES, "invocations", "cc") if k in at)}
        self._used = {k: at[k] for k in used}

    def begin(self, records: bytes) -> bytes:
        """There is nothing to decide beforehand: each row has its unit."""
        return records

    def prepare(self, records: bytes, *, last: bool) -> _Prepared | None:
        """Parse some whole records and those kept back before; ``last`` says that no more follow.

        May run beside :meth:`finish` of the records before them.
        """
        if self._carry:
            records, self._carry = self._carry + records, b""
        if not records or records.isspace():
            return None
        if not records.endswith(b"\n"):
            records += b"\n"
        records, frame = self._parse(records)
        if not frame.height:
            return None
        ordinal, first = self._kernels(frame)
        if not last:
            start = self._offset(records, frame, int(first[-1]))
            if start is not None and 0 < len(records) - start < _CARRY_LIMIT:
                self._carry = records[start:]
                count = len(first) - 1
                if not count:
                    return None
                keep = ordinal < count
                frame, ordinal, first = frame.filter(pl.Series(keep)), ordinal[keep], first[:count]
        return _Prepared(records, frame, ordinal, first)

    def _parse(self, records: bytes) -> tuple[bytes, pl.DataFrame]:
        """The columns that all rows are needed of, and each row's line number within the records also given back."""
        records, frame = parse_lines(records, self.header, self._used.values(), row_index="line")
        frame = frame.rename({f"c{i}": k for k, i in self._used.items()})
        if "id" in self._used:
            return records, frame.filter(pl.col("id").str.contains(r"^\s*\d[\d.,' ]*$"))
        if not self._key:
            return records, frame.filter(pl.col("metric").fill_null("") != "")
        return records, frame.filter(pl.any_horizontal(pl.col(k).fill_null("") != "" for k in self._key))

    def _kernels(self, frame: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """For each row the number of its kernel within the block, and for each kernel its first row."""
        runs = self._runs(frame)
        starts = np.flatnonzero(np.diff(runs, prepend=-1))
        if not self._key:
            return runs, starts
        repeated = frame.select(self._key)[starts].is_duplicated()
        what = [k for k in ("section", "item", "metric", "rule", "rule_text") if k in frame.columns]
        if "id" in self._key and not repeated.any():
            return runs, starts
        # The same key in several runs: either rows in another order, or several launches that cannot be told apart by
        # it.
        # A metric that comes again begins another launch.
        turn = frame.select(pl.int_range(pl.len()).over([*self._key, *what]).alias("turn")).to_series()
        if "id" in self._key and turn.max():
            return runs, starts
        groups = frame.select(*self._key).with_columns(turn.alias("_turn"))
        table = groups.unique(maintain_order=True).with_row_index("_number")
        number = groups.join(table, on=groups.columns, how="left", nulls_equal=True, maintain_order="left")[
            "_number"
        ].to_numpy()
        _, first = np.unique(number, return_index=True)
        return number, first

    def _runs(self, frame: pl.DataFrame) -> np.ndarray:
        """For each row the number of its run: rows with one key, up to where the run's first metric comes again."""
        if self._key:
            runs = frame.select(pl.struct(self._key).rle_id()).to_series().to_numpy()
        else:
            runs = np.zeros(frame.height, np.uint32)
        starts = np.flatnonzero(np.diff(runs.astype(np.int64), prepend=-1))
        again = np.ones(frame.height, bool)
        for column in ("section", "item", "metric"):
            if column in frame.columns:
                values = frame[column].fill_null("")
                again &= (values == values.gather(starts[runs])).to_numpy()
        again &= (frame["metric"].fill_null("") != "").to_numpy()
        again[starts] = True
        return (np.cumsum(again) - 1).astype(np.uint32)

    def _offset(self, records: bytes, frame: pl.DataFrame, row: int) -> int | None:
        """Where the line of a row begins; None if rows are not lines."""
        lines = _line_starts(records)
        line = int(frame["line"][row])
        return int(lines[line]) if line < len(lines) else None

    def finish(self, prepared: _Prepared) -> Chunk:
        """The kernels of parsed records."""
        records, frame, ordinal, first = prepared.records, prepared.frame, prepared.ordinal, prepared.first
        index = self.reading.take(len(first))
        frame = frame.with_columns(pl.Series("result_index", index.to_numpy()[ordinal]))
        values = frame.filter(pl.col("metric").fill_null("") != "")
        metrics = self.values.metrics(values, self._value)
        gpu = None
        named = values.filter(pl.col("metric") == GPU_NAME)
        if named.height:
            texts = named.select("result_index", pl.col(self._value).alias("gpu")).unique("result_index", keep="last")
            gpu = index.to_frame().join(texts, on="result_index", how="left", maintain_order="left")["gpu"]
        who = self._who(records, frame, first)
        if self.summary:
            metrics = stack([metrics, *self._summary(who, values, index)])
        return Chunk(launches(self.reading, who, index, gpu), metrics, self._rules(frame))

    def _who(self, records: bytes, frame: pl.DataFrame, first: np.ndarray) -> dict[str, pl.Series]:
        """What describes each launch, from the line of its first row."""
        at = {k: i for k, i in self.header.at.items() if k in (*WHO, "shown_name", "invocations")}
        lines = _line_starts(records)
        wanted = frame["line"].gather(first).to_numpy()
        picked = b"".join(records[lines[i] : lines[i + 1]] for i in wanted.tolist())
        _, rows = parse_lines(picked, self.header, {*at.values(), *self.header.nvtx})
        who = {k: rows[f"c{i}"] for k, i in at.items()}
        if "kernel" not in who and "shown_name" in who:
            who["kernel"] = who["shown_name"]
        if self.header.nvtx:
            joined = pl.concat_str([f"c{i}" for i in self.header.nvtx], separator=" ", ignore_nulls=True)
            who["nvtx"] = rows.select(joined).to_series()
        return who

    def _summary(self, who: dict[str, pl.Series], values: pl.DataFrame, index: pl.Series) -> list[pl.DataFrame]:
        """How many launches each row of a summary stands for."""
        self.reading.note(
            "summary",
            "the file is a summary (--print-summary): each row stands for all launches of a kernel with the same "
            "grid and "
            f"block; values are averages, ':min' and ':max' the extremes, {INVOCATIONS} the number of launches.",
        )
        counts = who.get("invocations")
        if counts is None and "invocations" in values.columns:
            counts = index.to_frame().join(
                values.select("result_index", "invocations").unique("result_index"), on="result_index", how="left"
            )["invocations"]
        if counts is None:
            return []
        form = self.values.format
        number, _ = _numbers.to_float(counts, form)
        frame = pl.DataFrame(
            {
                "result_index": index,
                "metric": pl.Series([INVOCATIONS]).new_from_index(0, len(index)).cast(pl.Categorical),
                "value": number,
            }
        )
        return [metric_rows(self.reading, frame)]

    def _rules(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Results of Nsight Compute's own rules, which stand in rows of their own."""
        if "rule" not in frame.columns:
            return rule_rows(self.reading, [])
        rows: list[dict[str, Any]] = []
        count: dict[tuple[int, str], int] = {}
        form = self.values.format
        for row in frame.filter(pl.col("rule").fill_null("") != "").iter_rows(named=True):
            key = (row["result_index"], row["rule"])
            count[key] = count.get(key, -1) + 1
            kind = (row.get("rule_type") or "").strip()
            speedup = row.get("speedup_type") or None
            percent = row.get("speedup")
            rows.append(
                {
                    "result_index": row["result_index"],
                    "rule_id": row["rule"],
                    "section_id": row.get("section"),
                    "item": count[key],
                    "message_type": MESSAGE_TYPES.get(kind, kind.lower() or None),
                    "text": row.get("rule_text") or None,
                    "speedup_type": speedup,
                    "speedup_pct": _numbers.number(percent, form) if percent else None,
                }
            )
        return rule_rows(self.reading, rows)


def _line_starts(records: bytes) -> np.ndarray:
    """Where each line begins, and where the last one ends."""
    ends = np.flatnonzero(np.frombuffer(records, np.uint8) == 10) + 1
    return np.concatenate(([0], ends))
