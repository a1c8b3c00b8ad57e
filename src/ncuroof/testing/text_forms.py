"""Writes kernels in every text form that people have: wide and long CSV, logs, summaries, copied tables, nsys.

For tests of the readers and for benchmarks. The writers print as ncu does (units scaled by powers of 1000, a fixed
number of decimals, any locale's separators), so that what is read back can be compared within the printed precision.
"""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

IDENTITY = (
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
)
LONG = (*IDENTITY, "Section Name", "Metric Name", "Metric Unit", "Metric Value")
RULES = ("Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup")
SECTION = "Command line profiler metrics"

_SCALES = {
    "byte": (("byte", 1.0), ("Kbyte", 1e3), ("Mbyte", 1e6), ("Gbyte", 1e9), ("Tbyte", 1e12)),
    "ns": (("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)),
    "hz": (("hz", 1.0), ("Khz", 1e3), ("Mhz", 1e6), ("Ghz", 1e9)),
    "byte/s": (("byte/s", 1.0), ("Kbyte/s", 1e3), ("Mbyte/s", 1e6), ("Gbyte/s", 1e9), ("Tbyte/s", 1e12)),
    "byte/block": (("byte/block", 1.0), ("Kbyte/block", 1e3)),
}


@dataclass(frozen=True)
class Value:
    """A metric's value in its base unit; None is "no value", a text is a text."""

    number: float | int | str | None
    unit: str | None = None


@dataclass(frozen=True)
class Kernel:
    """A kernel to be written."""

    name: str
    metrics: dict[str, Value]
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (32, 1, 1)
    process: int = 4321
    context: int = 1
    stream: int = 7
    device: int = 0
    cc: str = "8.0"
    nvtx: str | None = None


@dataclass(frozen=True)
class Style:
    """How numbers are printed.

    Attributes:
        decimal: decimal separator.
        thousands: what groups digits; empty for none.
        decimals: digits behind the decimal separator of numbers that are no integers.
        scaled: whether units are scaled.
        none: what stands for "no value".
    """

    decimal: str = "."
    thousands: str = ","
    decimals: int = 2
    scaled: bool = True
    none: str = "n/a"

    def number(self, value: float | int) -> str:
        """A number as this style prints it."""
        text = str(abs(value)) if isinstance(value, int) else f"{abs(value):.{self.decimals}f}"
        whole, _, fraction = text.partition(".")
        if self.thousands:
            first = len(whole) % 3
            groups = ([whole[:first]] if first else []) + [whole[i : i + 3] for i in range(first, len(whole), 3)]
            whole = self.thousands.join(groups)
        sign = "-" if value < 0 else ""
        return sign + whole + (self.decimal + fraction if fraction else "")

    def printed(self, value: Value, unit: str | None = None) -> tuple[str, str]:
        """Text and unit of a value; scaled as its size wants it, or to ``unit``."""
        if value.number is None:
            return self.none, value.unit or ""
        if isinstance(value.number, str):
            return value.number, value.unit or ""
        scales = _SCALES.get(value.unit or "")
        if scales is None or not self.scaled:
            return self.number(value.number), value.unit or ""
        if unit is None:
            unit, factor = next(((u, f) for u, f in reversed(scales) if abs(value.number) >= f), scales[0])
        else:
            factor = dict(scales)[unit]
        return (self.number(value.number) if factor == 1.0 else self.number(value.number / factor)), unit

    def error(self, value: Value, unit: str) -> float:
        """The largest difference, in the base unit, between a value and what is printed of it."""
        factor = dict(_SCALES.get(value.unit or "", ())).get(unit, 1.0)
        if isinstance(value.number, int) and factor == 1.0:
            return 0.0
        return 0.5 / 10.0**self.decimals * factor


def _sizes(sizes: tuple[int, int, int]) -> str:
    return "({}, {}, {})".format(*sizes)


def _identity(number: int, kernel: Kernel) -> list[str]:
    return [
        str(number),
        str(kernel.process),
        "a.out",
        "127.0.0.1",
        kernel.name,
        str(kernel.context),
        str(kernel.stream),
        _sizes(kernel.block),
        _sizes(kernel.grid),
        str(kernel.device),
        kernel.cc,
    ]


def csv_text(rows: Iterable[Sequence[str]], *, delimiter: str = ",", quoted: bool = True, line_end: str = "\n") -> str:
    """Rows as CSV, every field in quotes as ncu does it, or only where it must be."""
    out = io.StringIO()
    csv.writer(
        out, delimiter=delimiter, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL, lineterminator=line_end
    ).writerows(rows)
    return out.getvalue()


def names_of(kernels: Sequence[Kernel]) -> list[str]:
    """The metrics of all kernels, in order of first appearance."""
    return list(dict.fromkeys(itertools.chain.from_iterable(k.metrics for k in kernels)))


def wide_csv(kernels: Sequence[Kernel], style: Style = Style(), **how: object) -> str:
    """``ncu --csv --page raw``: a row of titles, a row of units, a row per kernel; units scaled per column."""
    names = names_of(kernels)
    nvtx = any(k.nvtx for k in kernels)
    units: dict[str, str] = {}
    for name in names:
        values = [k.metrics[name] for k in kernels if name in k.metrics]
        largest = max(values, key=lambda v: abs(v.number) if isinstance(v.number, (int, float)) else -1.0)
        units[name] = style.printed(largest)[1]
    titles = [
        *IDENTITY[:4],
        *(["thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"] if nvtx else []),
        *IDENTITY[4:],
    ]
    rows: list[list[str]] = [[*titles, *names], [""] * len(titles) + [units[n] for n in names]]
    for number, kernel in enumerate(kernels):
        who = _identity(number, kernel)
        if nvtx:
            who.insert(4, f'{kernel.process}  "{kernel.nvtx}" ' if kernel.nvtx else "")
        cells = []
        for name in names:
            value = kernel.metrics.get(name, Value(None))
            scaled = units[name] if value.unit in _SCALES and units[name] in dict(_SCALES[value.unit]) else None
            cells.append(style.printed(value, scaled)[0])
        rows.append([*who, *cells])
    return csv_text(rows, **how)  # type: ignore[arg-type]


def long_csv(kernels: Sequence[Kernel], style: Style = Style(), *, rules: bool = False, **how: object) -> str:
    """``ncu --csv --metrics ...``: a row per kernel and metric, units scaled per row; ``rules`` adds five titles."""
    rows: list[Sequence[str]] = [(*LONG, *RULES) if rules else LONG]
    for number, kernel in enumerate(kernels):
        for name, value in kernel.metrics.items():
            text, unit = style.printed(value)
            rows.append([*_identity(number, kernel), SECTION, name, unit, text, *([""] if rules else [])])
    return csv_text(rows, **how)  # type: ignore[arg-type]


def log_text(kernels: Sequence[Kernel], style: Style = Style()) -> str:
    """What ncu prints to a terminal."""
    lines: list[str] = []
    process = None
    for kernel in kernels:
        if kernel.process != process:
            process = kernel.process
            lines.append(f"[{process}] a.out@127.0.0.1")
        lines.append(
            f"  {kernel.name} {_sizes(kernel.grid)}x{_sizes(kernel.block)}, Context {kernel.context}, Stream "
            f"{kernel.stream}, "
            f"Device {kernel.device}, CC {kernel.cc}"
        )
        cells = [(n, *reversed(style.printed(v))) for n, v in kernel.metrics.items()]
        lines += [f"    Section: {SECTION}", *table([("Metric Name", "Metric Unit", "Metric Value"), *cells]), ""]
    return "\n".join(lines) + "\n"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as ncu prints a table: the first row is the titles, the first column is left-aligned."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    dashes = "    " + " ".join("-" * w for w in widths)
    lines = [
        "    " + " ".join([r[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(r[1:], widths[1:], strict=True))])
        for r in rows
    ]
    return [dashes, lines[0], dashes, *lines[1:], dashes]


def summary_text(kernels: Sequence[Kernel], style: Style, invocations: int) -> str:
    """``ncu --print-summary per-kernel``: minimum, maximum and average of each metric (here all the same)."""
    lines: list[str] = []
    for kernel in kernels:
        lines.append(
            f"  {kernel.name} {_sizes(kernel.grid)}x{_sizes(kernel.block)}, Device {kernel.device}, CC "
            f"{kernel.cc}, Invocations {invocations}"
        )
        cells = []
        for name, value in kernel.metrics.items():
            text, unit = style.printed(value)
            cells.append((name, unit, text, text, text))
        lines += [
            f"    Section: {SECTION}",
            *table([("Metric Name", "Metric Unit", "Minimum", "Maximum", "Average"), *cells]),
            "",
        ]
    return "\n".join(["[4321] a.out@127.0.0.1", *lines]) + "\n"


def gui_copy(kernels: Sequence[Kernel], style: Style = Style(), *, delimiter: str = ",") -> str:
    """A table copied from the window with rows and columns exchanged."""
    rows = [
        ["ID", *(str(i) for i in range(len(kernels)))],
        ["Function Name", *(k.name.split("(")[0] for k in kernels)],
        ["Original Demangled Name", *(k.name for k in kernels)],
        ["Process", *(f"[{k.process}] a.out" for k in kernels)],
        ["Grid Size", *("{:>5},{:>5},{:>5}".format(*k.grid) for k in kernels)],
        ["Block Size [block]", *("{:>5},{:>5},{:>5}".format(*k.block) for k in kernels)],
    ]
    for name in names_of(kernels):
        values = [k.metrics.get(name, Value(None)) for k in kernels]
        largest = max(values, key=lambda v: abs(v.number) if isinstance(v.number, (int, float)) else -1.0)
        unit = style.printed(largest)[1]
        scaled = unit if largest.unit in _SCALES else None
        rows.append(
            [
                f"{name} [{unit}]" if unit else name,
                *(style.printed(v, scaled if v.number is not None else None)[0] for v in values),
            ]
        )
    return csv_text(rows, delimiter=delimiter, quoted=False)


def nsys_summary(kernels: Sequence[tuple[str, int, int]]) -> str:
    """``nsys stats --report cuda_gpu_kern_sum --format csv`` of (name, total time in ns, launches)."""
    total = sum(t for _, t, _ in kernels) or 1
    rows: list[list[str]] = [
        [
            "Time (%)",
            "Total Time (ns)",
            "Instances",
            "Avg (ns)",
            "Med (ns)",
            "Min (ns)",
            "Max (ns)",
            "StdDev (ns)",
            "Name",
        ]
    ]
    for name, time, count in kernels:
        mean = time / count
        rows.append(
            [
                f"{100 * time / total:.1f}",
                str(time),
                str(count),
                f"{mean:.1f}",
                f"{mean:.1f}",
                str(int(mean)),
                str(int(mean)),
                "0.0",
                name,
            ]
        )
    return csv_text(rows, quoted=False)


@dataclass
class WideRows:
    """A wide table to be grown: titles, units and rows of cells, identity columns included."""

    titles: list[str]
    units: list[str]
    rows: list[list[str]] = field(default_factory=list)


def wide_rows_of(path: Path) -> WideRows:
    """The kernels of any file as a wide table in the raw page's style: whole numbers plain, others with 6 decimals."""
    from ncuroof.inputs import open_input  # noqa: PLC0415
    from ncuroof.readers import choose  # noqa: PLC0415

    file = open_input(path)
    reader, why = choose(file)
    kernels: list[Kernel] = []
    for chunk in reader.read(file, why, None).chunks:
        held: dict[int, dict[str, Value]] = {}
        for row in chunk.metrics.iter_rows(named=True):
            whole = row["value_int"]
            number = row["text"] if row["text"] is not None else whole if whole is not None else row["value"]
            held.setdefault(row["result_index"], {})[str(row["metric"])] = Value(number, row["unit"])
        for row in chunk.launches.iter_rows(named=True):
            sizes = [tuple(row[f"{s}_{a}"] or 1 for a in "xyz") for s in ("grid", "block")]
            kernels.append(
                Kernel(
                    row["kernel_demangled"] or row["kernel_name"] or "kernel",
                    held.get(row["result_index"], {}),
                    sizes[0],  # type: ignore[arg-type]
                    sizes[1],  # type: ignore[arg-type]
                    cc=f"{row['cc_major']}.{row['cc_minor']}",
                )
            )
    table_rows = list(csv.reader(wide_csv(kernels, Style(thousands="", decimals=6, none="no data")).splitlines()))
    return WideRows(table_rows[0], table_rows[1], table_rows[2:])


def grow_wide(path: Path, table_: WideRows, size: int) -> None:
    """Repeat the rows, with new ids, until the file has about ``size`` bytes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text([table_.titles, table_.units]))
        for number in itertools.count():
            row = table_.rows[number % len(table_.rows)]
            file.write(csv_text([[str(number), *row[1:]]]))
            if file.tell() >= size:
                return


def grow_long(path: Path, table_: WideRows, size: int) -> None:
    """The same kernels as a long table, until the file has about ``size`` bytes."""
    width = len(IDENTITY)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text([LONG]))
        for number in itertools.count():
            row = table_.rows[number % len(table_.rows)]
            who = [str(number), *row[1:width]]
            cells = zip(table_.titles[width:], table_.units[width:], row[width:], strict=True)
            file.write(csv_text([*who, SECTION, name, unit, value] for name, unit, value in cells))
            if file.tell() >= size:
                return
