"""Long tables of ncu (``--csv`` with the details page or ``--metrics``): one row per kernel and metric, each with its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ncuroof.model import Chunk
from ncuroof.readers import _numbers
from ncuroof.readers._csv_header import Header, split_record
from ncuroof.readers._csv_parse import parse
from ncuroof.readers._display_names import is_metric_name, metric_name
from ncuroof.readers._reading import (
    GPU_NAME,
    INVOCATIONS,
    MESSAGE_TYPES,
    Reading,
    launches,
    metric_rows,
    rule_rows,
)
from ncuroof.readers._units import base_unit, counts_whole
from ncuroof.tables import METRICS, empty

if TYPE_CHECKING:
    from collections.abc import Callable

_SAMPLE_ROWS = 200_000
_CARRY_LIMIT = 8 << 20
_KEYS = ("id", "process", "kernel", "function", "context", "stream", "device", "grid", "block")
_WHO = (
    "kernel",
    "function",
    "mangled",
    "process",
    "process_text",
    "context",
    "stream",
    "device",
    "gpu",
    "cc",
    "grid",
    "block",
)
_WHAT = ("section", "item", "metric", "unit")
_RULE = ("rule", "rule_type", "rule_text", "speedup_type", "speedup")
_EXTREMES = {"minimum": ":min", "maximum": ":max"}


class LongTable:
    """Turns blocks of records of one long table into chunks; a kernel is never split between two."""

    def __init__(self, header: Header, reading: Reading, further: Callable[[], _numbers.Evidence]) -> None:
        self.header = header
        self.reading = reading
        self.summary = header.kind == "summary"
        self._further = further
        self._format: _numbers.NumberFormat | None = None
        self._carry = b""
        self._names: dict[tuple[Any, ...], tuple[str, str | None, float, bool]] = {}
        at = header.at
        self._value = "average" if self.summary else "value"
        # With an id the id tells kernels apart; without one, everything else that describes a launch does.
        self._key = ["id", *(k for k in ("process",) if k in at)] if "id" in at else [k for k in _KEYS if k in at]
        used = {*self._key, *(k for k in (*_WHAT, *_RULE, self._value, *_EXTREMES, "invocations", "cc") if k in at)}
        self._used = {k: at[k] for k in used}

    def feed(self, records: bytes, *, last: bool) -> Chunk | None:
        """The kernels of some whole records and of those kept back before; ``last`` says that no more follow."""
        if self._carry:
            records, self._carry = self._carry + records, b""
        if not records.strip():
            return None
        if not records.endswith(b"\n"):
            records += b"\n"
        frame = self._parse(records)
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
        return self._chunk(records, frame, ordinal, first)

    def _parse(self, records: bytes) -> pl.DataFrame:
        """The columns that all rows are needed of, and each row's line number."""
        frame = parse(records, self.header, self._used.values(), row_index="line")
        frame = frame.rename({f"c{i}": k for k, i in self._used.items()})
        if "id" in self._used:
            return frame.filter(pl.col("id").str.contains(r"^\s*\d[\d.,' ]*$"))
        return frame.filter(pl.any_horizontal(pl.col(k).fill_null("") != "" for k in self._key))

    def _kernels(self, frame: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """For each row the number of its kernel within the block, and for each kernel its first row."""
        runs = frame.select(pl.struct(self._key).rle_id()).to_series()
        starts = np.flatnonzero(np.diff(runs.to_numpy(), prepend=-1))
        keys = frame.select(self._key)[starts]
        repeated = keys.is_duplicated()
        what = [k for k in ("section", "item", "metric", "rule", "rule_text") if k in frame.columns]
        if "id" in self._key and not repeated.any():
            return runs.to_numpy(), starts
        # The same key in several runs: either rows in another order, or several launches that cannot be told apart by it.
        # A metric that comes again begins another launch.
        turn = frame.select(pl.int_range(pl.len()).over([*self._key, *what]).alias("turn")).to_series()
        if "id" in self._key and turn.max():
            return runs.to_numpy(), starts
        groups = frame.select(*self._key).with_columns(turn.alias("_turn"))
        table = groups.unique(maintain_order=True).with_row_index("_number")
        number = groups.join(table, on=groups.columns, how="left", nulls_equal=True, maintain_order="left")[
            "_number"
        ].to_numpy()
        _, first = np.unique(number, return_index=True)
        return number, first

    def _offset(self, records: bytes, frame: pl.DataFrame, row: int) -> int | None:
        """Where the line of a row begins; None if rows are not lines."""
        lines = _line_starts(records)
        line = int(frame["line"][row])
        return int(lines[line]) if line < len(lines) else None

    def _chunk(self, records: bytes, frame: pl.DataFrame, ordinal: np.ndarray, first: np.ndarray) -> Chunk:
        index = self.reading.take(len(first))
        frame = frame.with_columns(pl.Series("result_index", index.to_numpy()[ordinal]))
        values = frame.filter(pl.col("metric").fill_null("") != "")
        metrics = self._metrics(values)
        gpu = None
        named = values.filter(pl.col("metric") == GPU_NAME)
        if named.height:
            texts = named.select("result_index", pl.col(self._value).alias("gpu")).unique("result_index", keep="last")
            gpu = index.to_frame().join(texts, on="result_index", how="left", maintain_order="left")["gpu"]
        who = self._who(records, frame, first)
        if self.summary:
            metrics = pl.concat([metrics, *self._summary(who, values, index)])
        return Chunk(launches(self.reading, who, index, gpu), metrics, self._rules(frame))

    def _who(self, records: bytes, frame: pl.DataFrame, first: np.ndarray) -> dict[str, pl.Series]:
        """What describes each launch, from the line of its first row."""
        at = {k: i for k, i in self.header.at.items() if k in (*_WHO, "shown_name", "invocations")}
        lines = _line_starts(records)
        wanted = frame["line"].gather(first).to_numpy()
        picked = b"".join(records[lines[i] : lines[i + 1]] for i in wanted.tolist())
        rows = parse(picked, self.header, {*at.values(), *self.header.nvtx})
        who = {k: rows[f"c{i}"] for k, i in at.items()}
        if "kernel" not in who and "shown_name" in who:
            who["kernel"] = who["shown_name"]
        if self.header.nvtx:
            joined = pl.concat_str([f"c{i}" for i in self.header.nvtx], separator=" ", ignore_nulls=True)
            who["nvtx"] = rows.select(joined).to_series()
        return who

    def _metrics(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Metric rows: names mapped, values scaled, one row for each kernel and metric."""
        if not rows.height:
            return empty(METRICS)
        keys = [k for k in (*_WHAT, "cc") if k in rows.columns]
        table = self._vocabulary(rows, keys)
        rows = rows.join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")
        if self.reading.want is not None:
            rows = rows.filter(pl.col("_name").is_in([*self.reading.want, GPU_NAME]))
            if not rows.height:
                return empty(METRICS)
        if self._format is None:
            self._format = self._decide(rows)
        frame = self._scaled(rows, self._value, "")
        if self._shared(table):
            frame = _most_exact(frame)
        parts = [metric_rows(self.reading, frame)]
        for column, suffix in _EXTREMES.items():
            if self.summary and column in rows.columns:
                parts.append(metric_rows(self.reading, self._scaled(rows, column, suffix)))
        return pl.concat(parts)

    def _vocabulary(self, rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        """The distinct (section, item, metric, unit, CC) of some rows with metric name, base unit and factor."""
        counted = rows.group_by(keys, maintain_order=True).len()
        names, units, factors, own = [], [], [], []
        for row in counted.iter_rows(named=True):
            key = tuple(row[k] for k in keys)
            known = self._names.get(key)
            if known is None:
                known = self._names[key] = self._name(row)
            names.append(known[0])
            units.append(known[1])
            factors.append(known[2])
            own.append(known[3])
            if not known[3] and known[0] == row["metric"] and not is_metric_name(known[0]):
                self.reading.unknown[known[0]] = self.reading.unknown.get(known[0], 0) + row["len"]
        return counted.select(keys).with_columns(
            pl.Series("_name", names, dtype=pl.String),
            pl.Series("_unit", units, dtype=pl.String),
            pl.Series("_factor", factors, dtype=pl.Float64),
            pl.Series("_own", own, dtype=pl.Boolean),
        )

    def _name(self, row: dict[str, Any]) -> tuple[str, str | None, float, bool]:
        """Metric name, base unit, factor, and whether the metric was given by its own name."""
        base, factor = base_unit(row.get("unit"))
        printed = row["metric"].strip()
        if is_metric_name(printed):
            return printed, base, factor, True
        # With --print-metric-name label-name the name follows the label.
        last = printed.split()[-1].strip("()[]") if printed else printed
        if "__" in last and is_metric_name(last):
            return last, base, factor, True
        cc = None
        try:
            cc = float((row.get("cc") or "").replace(",", "."))
        except ValueError:
            pass
        known = metric_name(row.get("section"), row.get("item"), printed, row.get("unit"), cc)
        return known or row["metric"], base, factor, False

    def _shared(self, table: pl.DataFrame) -> bool:
        """Whether two kinds of rows give the same metric: the details page repeats some."""
        return bool(table["_name"].is_duplicated().any())

    def _decide(self, rows: pl.DataFrame) -> _numbers.NumberFormat:
        sample = rows.head(_SAMPLE_ROWS)
        kinds = sample.group_by("_name", "unit") if "unit" in sample.columns else sample.group_by("_name")
        table = kinds.len().drop("len")
        units = table["unit"].to_list() if "unit" in table.columns else [None] * table.height
        names = table["_name"].to_list()
        table = table.with_columns(
            pl.Series("_whole", [counts_whole(n, u) for n, u in zip(names, units, strict=True)], dtype=pl.Boolean),
            pl.Series("_percent", [base_unit(u)[0] == "%" for u in units], dtype=pl.Boolean),
        )
        on = [c for c in ("_name", "unit") if c in table.columns]
        sample = sample.join(table, on=on, how="left", nulls_equal=True)
        evidence = _numbers.gather(
            sample[self._value], sample["_whole"].fill_null(False), sample["_percent"].fill_null(False)
        )
        return self.reading.number_format(evidence, self._further)

    def _scaled(self, rows: pl.DataFrame, column: str, suffix: str) -> pl.DataFrame:
        assert self._format is not None  # noqa: S101  for the type checker: decided before
        texts = rows[column]
        values, refused = _numbers.to_float(texts, self._format)
        self.reading.refused += refused
        frame = rows.select(
            "result_index",
            (pl.col("_name") + suffix).cast(pl.Categorical).alias("metric")
            if suffix
            else pl.col("_name").alias("metric"),
            (values * pl.col("_factor")).alias("value"),
            pl.col("_unit").alias("unit"),
            _numbers.split_text(texts, values).alias("text"),
            texts.alias("_printed"),
            pl.col("_own"),
            pl.col("_factor"),
        )
        whole = frame["_printed"].str.contains(r"^\d[\d.,' \u00a0\u202f]*$") & (frame["_factor"] == 1.0)
        integral = (values == values.floor()) & (values < 2.0**63)
        if self._format.thousands != "." and self._format.decimal == ".":
            whole = whole & ~frame["_printed"].str.contains(".", literal=True)
        else:
            whole = whole & ~frame["_printed"].str.contains(self._format.decimal, literal=True)
        digits = frame["_printed"].str.replace_all(r"[^\d]", "")
        exact = pl.select(pl.when(whole & integral).then(digits)).to_series().cast(pl.UInt64, strict=False)
        return frame.with_columns(exact.alias("value_int"), pl.col("metric").cast(pl.Categorical))

    def _summary(self, who: dict[str, pl.Series], values: pl.DataFrame, index: pl.Series) -> list[pl.DataFrame]:
        """How many launches each row of a summary stands for."""
        self.reading.note(
            "summary",
            "the file is a summary (--print-summary): each row stands for all launches of a kernel with the same grid and "
            f"block; values are averages, ':min' and ':max' the extremes, {INVOCATIONS} the number of launches.",
        )
        counts = who.get("invocations")
        if counts is None and "invocations" in values.columns:
            counts = index.to_frame().join(
                values.select("result_index", "invocations").unique("result_index"), on="result_index", how="left"
            )["invocations"]
        if counts is None:
            return []
        form = self._format or _numbers.NumberFormat(".", ",")
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
        form = self._format or _numbers.NumberFormat(".", ",")
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


def _most_exact(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each kernel and metric: with a value, by its own name, with the most digits; else the last."""
    digits = frame["_printed"].str.count_matches(r"\d")
    ranked = frame.with_columns(
        (pl.col("value").is_not_null() | pl.col("text").is_not_null()).alias("_has"), digits.alias("_digits")
    ).with_row_index("_row")
    kept = ranked.sort(["_has", "_own", "_digits", "_row"]).unique(["result_index", "metric"], keep="last").sort("_row")
    return kept.drop("_has", "_digits", "_row")


def record_fields(line: str, header: Header) -> list[str]:
    """The fields of a record line, or none."""
    return split_record(line, header.delimiter) or []
