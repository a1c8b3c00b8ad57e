"""Collects kernels out of the lines of a log: what launched them, their metrics, the messages of Nsight's rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.model import Chunk
from ncuroof.readers import _numbers
from ncuroof.readers._display_names import section_ids
from ncuroof.readers._launch_rows import launches
from ncuroof.readers._log_lines import Line, nvtx_part, spans, speedup, split_row
from ncuroof.readers._metric_values import MetricValues
from ncuroof.readers._reading import GPU_NAME, INVOCATIONS, MESSAGE_TYPES, Reading, metric_rows, rule_rows, stack

if TYPE_CHECKING:
    from collections.abc import Callable

_FLUSH_ROWS = 200_000
_WHO = ("kernel", "process", "context", "stream", "device", "gpu", "cc", "grid", "block", "nvtx")
_HEADINGS = ("Metric Name", "Name ", "Metric ")


@dataclass
class _Kernel:
    who: dict[str, str | None]
    invocations: str | None = None
    rows: list[tuple[str | None, str, str, list[str]]] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)
    thread: str | None = None
    domain: str = "<default domain>"
    ranges: list[str] = field(default_factory=list)
    seen: set[tuple[str | None, str]] = field(default_factory=set)


class LogKernels:
    """Takes lines one after another and gives chunks of complete kernels."""

    def __init__(self, reading: Reading, further: Callable[[], _numbers.Evidence]) -> None:
        self.reading = reading
        self.values = MetricValues(reading, further)
        self._done: list[_Kernel] = []
        self._rows = 0
        self._kernel: _Kernel | None = None
        self._context: dict[str, str | None] = {}
        self._section: str | None = None
        self._columns: list[tuple[int, int]] | None = None
        self._table_rows = 0
        self._prefixed = False
        self._rule: dict[str, Any] | None = None
        self._rule_indent = 0
        self._in_nvtx = False
        self.anonymous = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is open, so that lines without a mark can be passed over."""
        return self._kernel is None

    def take(self, line: Line) -> Chunk | None:
        """One line; gives a chunk when enough kernels are complete."""
        handler = getattr(self, f"_on_{line.kind}")
        handler(line)
        return self._flush() if self._rows >= _FLUSH_ROWS else None

    def close(self) -> Chunk | None:
        """The kernels that are left."""
        self._end_kernel()
        return self._flush()

    def _on_kernel(self, line: Line) -> None:
        self._end_kernel()
        parts = line.parts
        who = {**self._context, **{k: v for k, v in parts.items() if k in _WHO and v is not None}}
        self._kernel = _Kernel(who, parts.get("invocations"))

    def _on_process(self, line: Line) -> None:
        self._end_kernel()
        self._context = {"process": line.parts["process"]}

    def _on_device(self, line: Line) -> None:
        if self._columns is not None or self._rule is not None:
            self._on_text(line)
            return
        self._end_kernel()
        self._context.update({k: line.parts.get(k) for k in ("device", "cc", "gpu")})

    def _on_section(self, line: Line) -> None:
        self._end_table()
        self._rule = None
        self._in_nvtx = False
        self._section = line.parts["section"]

    def _on_dashes(self, line: Line) -> None:
        self._rule = None
        self._in_nvtx = False
        columns = spans(line)
        self._prefixed = not line.raw.lstrip().startswith("-")
        if len(columns) not in (3, 5):
            self._end_table()
        elif self._columns is None:
            self._columns, self._table_rows = columns, 0
        elif self._table_rows:
            self._end_table()
        else:
            self._columns = columns

    def _on_rule(self, line: Line) -> None:
        self._end_table()
        if self._kernel is None:
            return
        kind = line.parts["kind"] or ""
        section = self._section or ""
        self._rule = {
            "section_id": section_ids().get(section, section or None),
            "item": len(self._kernel.rules),
            "message_type": MESSAGE_TYPES.get(kind, kind.lower()),
            "text": line.parts.get("text") or "",
        }
        self._rule_indent = line.indent
        self._kernel.rules.append(self._rule)

    def _on_blank(self, line: Line) -> None:
        self._rule = None

    def _on_mark(self, line: Line) -> None:
        """A line of ncu about itself: it can stand anywhere, even within a table."""

    def _on_nvtx(self, line: Line) -> None:
        self._end_table()
        self._rule = None
        self._in_nvtx = True
        if self._kernel is not None and line.parts.get("thread"):
            self._kernel.thread = line.parts["thread"]

    def _on_text(self, line: Line) -> None:
        if self._rule is not None:
            if line.indent > self._rule_indent or self._rule_indent == 0:
                self._rule["text"] += (" " if self._rule["text"] else "") + line.text
                return
            self._rule = None
        if self._in_nvtx:
            self._nvtx(line)
            return
        if self._columns is None or line.text.startswith(_HEADINGS):
            return
        cells = split_row(line, self._columns, prefixed=self._prefixed)
        if cells is None:
            return
        self._table_rows += 1
        self._row(cells)

    def _row(self, cells: list[str]) -> None:
        name, unit, values = cells[0], cells[1], cells[2:]
        key = (self._section, name)
        if self._kernel is None or (self._kernel.who.get("kernel") is None and key in self._kernel.seen):
            # A table without a kernel line before it: pasted without it, or the log was cut at its beginning.
            section, columns, count = self._section, self._columns, self._table_rows
            self._end_kernel()
            self._section, self._columns, self._table_rows = section, columns, count
            self._kernel = _Kernel(dict(self._context))
            self.anonymous += 1
        self._kernel.seen.add(key)
        if unit == "(!)":
            unit = ""
        self._kernel.rows.append((self._section, name, unit, values))
        self._rows += 1

    def _nvtx(self, line: Line) -> None:
        part = nvtx_part(line.text)
        if part is None or self._kernel is None:
            return
        if part[0] == "domain":
            self._kernel.domain = part[1] if part[1] != "default domain" else "<default domain>"
        else:
            self._kernel.ranges.append(f'"{self._kernel.domain}:{part[1]}:none:none:none:none:none:none"')

    def _end_table(self) -> None:
        self._columns = None
        self._table_rows = 0

    def _end_kernel(self) -> None:
        self._end_table()
        self._section = None
        self._rule = None
        self._in_nvtx = False
        kernel, self._kernel = self._kernel, None
        if kernel is not None and (kernel.rows or kernel.rules):
            if kernel.ranges:
                kernel.who["nvtx"] = f"{kernel.thread or ''}  " + "  ".join(kernel.ranges)
            self._done.append(kernel)

    def _flush(self) -> Chunk | None:
        kernels, self._done, self._rows = self._done, [], 0
        if not kernels:
            return None
        index = self.reading.take(len(kernels))
        who = {k: pl.Series([one.who.get(k) for one in kernels], dtype=pl.String) for k in _WHO}
        parts = [self._metrics(kernels, index, count) for count in (1, 3)]
        parts.append(self._invocations(kernels, index))
        gpu = _sizes_and_gpu(kernels, who)
        rules = [
            {"result_index": number, **_with_speedup(rule, self.values.format)}
            for number, one in zip(index.to_list(), kernels, strict=True)
            for rule in one.rules
        ]
        frame = launches(self.reading, {k: v for k, v in who.items() if v.null_count() < len(v)}, index, gpu)
        return Chunk(frame, stack(parts), rule_rows(self.reading, rules))

    def _metrics(self, kernels: list[_Kernel], index: pl.Series, count: int) -> pl.DataFrame:
        """Metrics of the tables with so many values in a row: one, or minimum, maximum and average."""
        columns: dict[str, list[Any]] = {k: [] for k in ("result_index", "section", "metric", "unit", "cc", "value")}
        extremes: dict[str, list[str]] = {"minimum": [], "maximum": []} if count == 3 else {}
        for number, one in zip(index.to_list(), kernels, strict=True):
            for section, name, unit, values in one.rows:
                if len(values) != count:
                    continue
                for column, value in zip(
                    columns.values(), (number, section, name, unit, one.who.get("cc"), values[-1]), strict=True
                ):
                    column.append(value)
                for column, value in zip(extremes.values(), values, strict=False):
                    column.append(value)
        schema = {"result_index": pl.UInt32, **dict.fromkeys([*columns, *extremes], pl.String)}
        schema["result_index"] = pl.UInt32
        return self.values.metrics(pl.DataFrame({**columns, **extremes}, schema=schema))

    def _invocations(self, kernels: list[_Kernel], index: pl.Series) -> pl.DataFrame:
        given = [(i, one.invocations) for i, one in zip(index.to_list(), kernels, strict=True) if one.invocations]
        if not given:
            return metric_rows(self.reading, pl.DataFrame(schema={"result_index": pl.UInt32, "metric": pl.Categorical}))
        self.reading.note(
            "summary",
            "the file holds summaries (--print-summary): each of their rows stands for all launches of a kernel "
            "with the "
            f"same grid and block; values are averages, ':min' and ':max' the extremes, {INVOCATIONS} the number "
            f"of launches.",
        )
        values, _ = _numbers.to_float(pl.Series([v.strip() for _, v in given]), self.values.format)
        frame = pl.DataFrame(
            {
                "result_index": pl.Series([i for i, _ in given], dtype=pl.UInt32),
                "metric": [INVOCATIONS] * len(given),
                "value": values,
            }
        ).with_columns(pl.col("metric").cast(pl.Categorical))
        return metric_rows(self.reading, frame)


def _sizes_and_gpu(kernels: list[_Kernel], who: dict[str, pl.Series]) -> pl.Series | None:
    """Fill in grid and block from the launch statistics, where the kernel's line has none; give back GPU names."""
    for side, label in (("grid", "Grid Size"), ("block", "Block Size")):
        if who[side].null_count():
            filled = [
                given or next((values[-1] for _, name, _, values in one.rows if name == label), None)
                for given, one in zip(who[side].to_list(), kernels, strict=True)
            ]
            # The statistics hold the product of the three dimensions only: exact for launches with one.
            who[side] = pl.Series(
                [g if g is None or ("," in g and " " in g) else None for g in filled], dtype=pl.String
            )
    names = [next((values[-1] for _, name, _, values in one.rows if name == GPU_NAME), None) for one in kernels]
    return pl.Series(names, dtype=pl.String) if any(names) else None


def _with_speedup(rule: dict[str, Any], form: _numbers.NumberFormat) -> dict[str, Any]:
    kind, percent, text = speedup(rule["text"])
    value = _numbers.number(percent, form) if percent else None
    return {**rule, "text": text or None, "speedup_type": kind, "speedup_pct": value}
