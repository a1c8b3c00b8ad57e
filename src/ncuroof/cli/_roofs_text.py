"""How ``ncuroof roofs`` and ``ncuroof bound`` print tables: plain text, at most 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ncuroof.paths import PATH_NAMES
from ncuroof.roofs import known, units
from ncuroof.roofs.comparison import Roofline, crossing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.gpus import Gpu, Match
    from ncuroof.roofs.record import Roof

WIDTH = 80

KIND_WORDS = {"matmul": "matrix product", "fma": "FMA sweep"}
"""How a peak was measured, in a word for tables."""


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows as lines with aligned columns; the first row is the heading. A last column that is too long is cut."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        line = "  ".join(cells).rstrip()
        lines.append(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…")
    return lines


def wrap(text: str, indent: str = "") -> list[str]:
    """A paragraph of at most 80 columns."""
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def rate(roof: Roof) -> str:
    """The value of a roof with its unit."""
    if roof.path is None:
        # Bandwidths are compared in GB/s, whatever their size.
        return f"{roof.value / 1e9:,.0f} GB/s"
    return f"{units.digits(roof.value / 1e12)} {units.tera(roof.path)}"


def others(query: str, match: Match) -> str:
    """The sentence that says which variant a name was taken for; empty where there was no choice."""
    if match.gpu is None or not match.candidates:
        return ""
    names = ", ".join(gpu.id for gpu in match.candidates)
    return f"{query} is taken as {match.gpu.name}; others of that name: {names}."


def overview(gpus: Sequence[Gpu], roofs: Sequence[Sequence[Roof]], path: str) -> list[str]:
    """One line a GPU: what `ncuroof roofs` lists."""
    rows = [["GPU", "CC", "SMs", "GiB", "GB/s", path, "ridge", "source"]]
    for gpu, own in zip(gpus, roofs, strict=True):
        flats: list[Roof | None] = [*known.each_kind(own, path)]
        for flat in flats or [None]:
            slope = known.slope_of(own, flat) if flat else known.best(own)
            rows.append(
                [
                    gpu.id,
                    f"{gpu.cc[0]}.{gpu.cc[1]}" if gpu.cc else "-",
                    str(gpu.sms or "-"),
                    f"{gpu.memory_bytes / 2**30:g}",
                    f"{slope.value / 1e9:,.0f}" if slope else "-",
                    units.digits(flat.value / 1e12) if flat else "-",
                    units.digits(flat.value / slope.value) if flat and slope else "-",
                    _origin(flat) if flat else (slope.source if slope else "-"),
                ]
            )
    return table(rows, right=(1, 2, 3, 4, 5, 6))


def _origin(roof: Roof) -> str:
    """Source of a roof, and how it was measured."""
    return f"{roof.source}, {KIND_WORDS[roof.kind]}" if roof.kind else roof.source


def detail(gpu: Gpu, own: Sequence[Roof], source: str | None = None) -> list[str]:
    """Every roof of one GPU, or, where there is none (from ``source``), a line that says so."""
    facts = [
        gpu.chip,
        *([f"CC {gpu.cc[0]}.{gpu.cc[1]}"] if gpu.cc else []),
        *([f"{gpu.sms} {'SMs' if gpu.vendor == 'nvidia' else 'compute units'}"] if gpu.sms else []),
        f"{gpu.memory_bytes / 2**30:g} GiB",
        *([f"L2 {gpu.l2_bytes / 2**20:g} MiB"] if gpu.l2_bytes else []),
        *([f"{gpu.clock_hz / 1e6:.0f} MHz"] if gpu.clock_hz else []),
    ]
    lines = wrap(f"{gpu.name} ({gpu.id}): {', '.join(facts)}") + (wrap(gpu.note) if gpu.note else []) + [""]
    if not own:
        return lines + wrap(f"no {source} roofs" if source else "no roofs: the report's own attributes are used")
    rows = [["roof", "source", "value", "ridge", "from"]]
    for roof in sorted(own, key=lambda r: (r.path is not None, _rank(r), not r.dense)):
        slope = known.slope_of(own, roof) if roof.path else None
        at = units.digits(roof.value / slope.value) if slope and roof.dense else ""
        name = roof.path or f"{roof.level} bandwidth"
        rows.append([name if roof.dense else f"{name} 2:4", roof.source, rate(roof), at, _brief(roof)])
    lines += table(rows, right=(2, 3))
    lines += ["", "ridge: FLOP/byte, with the bandwidth of the same source.", "Sources:"]
    for text in dict.fromkeys(gpu.source.values()):
        lines += wrap(text, "  ")
    return lines


def _rank(roof: Roof) -> tuple[int, int]:
    sources = known.TABLE_ORDER
    return (PATH_NAMES.index(roof.path) if roof.path else -1, sources.index(roof.source))


def _brief(roof: Roof) -> str:
    text = roof.citation.split(";")[0]
    return "" if roof.source == "datasheet" else text


def comparison(path: str, named: Sequence[tuple[Gpu, Sequence[Roof]]], source: str | None) -> list[str]:
    """Several GPUs on one path: roofs, ridge points, and where each pair crosses.

    A path that was measured in two ways has a row for each, and a pair of GPUs is compared in each way that both have.
    """
    rows = [[path, "GB/s", units.tera(path), "ridge", "source"]]
    lines: list[tuple[str, Roofline]] = []
    for gpu, own in named:
        pairs = rooflines(own, path, source)
        if not pairs:
            rows.append([gpu.name, "-", "-", "-", "not known"])
        for flat, slope in pairs:
            line = Roofline(gpu.name, flat.value, slope.value)
            lines.append((flat.kind, line))
            where = _origin(flat) if flat.source == slope.source else f"{_origin(flat)}, {slope.source}"
            rows.append(
                [
                    gpu.name,
                    f"{slope.value / 1e9:,.0f}",
                    units.digits(flat.value / 1e12),
                    units.digits(line.ridge),
                    where,
                ]
            )
    result = table(rows, right=(1, 2, 3))
    for kind, one, other in pairs_of(lines):
        sentence = relation(one, other)
        result += wrap(f"{KIND_WORDS[kind]}: {sentence}" if kind else sentence)
    return result


def pairs_of(lines: Sequence[tuple[str, Roofline]]) -> list[tuple[str, Roofline, Roofline]]:
    """Every two GPUs, once for each way of measuring that both have; where they share none, their highest rooflines.

    Args:
        lines: way of measuring (or empty) and roofline, GPU by GPU.

    Returns:
        The way where it tells the comparisons of this pair apart, else empty, and the two rooflines.
    """
    own: dict[str, dict[str, Roofline]] = {}
    for kind, line in lines:
        own.setdefault(line.name, {})[kind] = line
    names = list(own)
    found = []
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            shared = [kind for kind in own[one] if kind in own[other]]
            several = len(own[one]) > 1 or len(own[other]) > 1
            found += [(kind if several else "", own[one][kind], own[other][kind]) for kind in shared]
            if not shared:
                first, second = (max(own[name].values(), key=lambda line: line.flop_s) for name in (one, other))
                found.append(("", first, second))
    return found


def roofline(own: Sequence[Roof], path: str, source: str | None) -> tuple[Roof, Roof] | None:
    """Flat part and slope of one GPU on one path; None where either is unknown."""
    pairs = rooflines(own, path, source)
    return max(pairs, key=lambda pair: pair[0].value) if pairs else None


def rooflines(own: Sequence[Roof], path: str, source: str | None) -> list[tuple[Roof, Roof]]:
    """Flat part and slope of one GPU on one path, for each way in which the flat part was measured."""
    flats = known.each_kind(own, path, source)
    slope = known.best(own, source=source) if source else (known.slope_of(own, flats[0]) if flats else None)
    return [(flat, slope) for flat in flats] if slope else []


def relation(one: Roofline, other: Roofline) -> str:
    """One sentence on which roofline is higher where."""
    at = crossing(one, other)
    if at is None:
        higher, lower = (one, other) if (one.bytes_s, one.flop_s) >= (other.bytes_s, other.flop_s) else (other, one)
        return f"{higher.name} is nowhere below {lower.name}."
    left, right = (one, other) if one.bytes_s > other.bytes_s else (other, one)
    return f"They cross at {units.digits(at)} FLOP/byte: left of it {left.name} is higher, right of it {right.name}."
