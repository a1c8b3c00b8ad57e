"""The roofs that a set of kernels was judged by, and where their lines and labels go in a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ncuroof.reporters import _figures as fig

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Record = dict[str, Any]

DRAM = "DRAM"
SAME_ROOF = 1.12
"""Roofs of one path within this ratio are drawn as one line: the clock wanders that much between launches."""
MOST_FLATS, MOST_SLOPES = 8, 3
LABEL_GAP = 13.0
"""Pixels between the labels of two lines; nearer ones share a line of text."""
CHARACTER = 6.2
"""Pixels that a character of a label takes."""


@dataclass(frozen=True)
class Roof:
    """One line of the roof: a flat one of a compute path in FLOP/s, or the slope in byte/s (path :data:`DRAM`).

    ``boost`` marks a flat part that the GPU would have at its highest clock, not at that of the run.
    """

    path: str
    value: float
    source: str
    boost: bool = False


BOOST_APART = 1.05
"""A roof at boost nearer than this to the one at the clock of the run is no line of its own."""


def roofs(groups: Iterable[Record]) -> list[Roof]:
    """The distinct roofs that kernels were judged by; per path, values within 12 % are one line at their median.

    The slopes come first, then the flat parts from the highest down; at most three and eight, those that own most time.
    """
    groups = list(groups)
    values: dict[str, list[tuple[float, float, str]]] = {}
    for g in groups:
        weight = g["total_s"] or 0.0
        if g["roof_bytes_s"]:
            values.setdefault(DRAM, []).append((g["roof_bytes_s"], weight, str(g["roof_bytes_s_source"] or "")))
        if g["roof_flop_s"] and g["path"]:
            values.setdefault(str(g["path"]), []).append((g["roof_flop_s"], weight, str(g["roof_flop_s_source"] or "")))
    found: list[tuple[float, Roof]] = []
    for path, entries in values.items():
        cluster: list[tuple[float, float, str]] = []
        for entry in [*sorted(entries), (math.inf, 0.0, "")]:
            if cluster and entry[0] > SAME_ROOF * cluster[0][0]:
                total = sum(weight for _, weight, _ in cluster)
                found.append((total, Roof(path, *_median(cluster, total))))
                cluster = []
            cluster.append(entry)
    kept = [roof for _, roof in sorted(found, key=lambda f: -f[0])]
    slopes = [r for r in kept if r.path == DRAM][:MOST_SLOPES]
    flats = [r for r in kept if r.path != DRAM][:MOST_FLATS]
    flats += _at_boost(groups, flats)
    return [*sorted(slopes, key=lambda r: -r.value), *sorted(flats, key=lambda r: -r.value)]


def _at_boost(groups: Iterable[Record], flats: Sequence[Roof]) -> list[Roof]:
    """For each path drawn, the flat part at the highest clock, where that lies clearly above the one of the run."""
    found = []
    for path in dict.fromkeys(f.path for f in flats):
        values = sorted(g["roof_boost_flop_s"] for g in groups if g["path"] == path and g["roof_boost_flop_s"])
        highest = max(f.value for f in flats if f.path == path)
        if values and (middle := values[len(values) // 2]) > BOOST_APART * highest:
            found.append(Roof(path, middle, "at the highest clock", boost=True))
    return found


def _median(cluster: Sequence[tuple[float, float, str]], total: float) -> tuple[float, str]:
    """The value, with its source, below and above which half of the weight lies."""
    passed = 0.0
    for value, weight, source in cluster:
        passed += weight
        if passed >= total / 2:
            return value, source
    return cluster[-1][0], cluster[-1][2]


@dataclass
class Drawn:
    """Lines (x, y, x2, y2, width, dash) and labels (x, y, text) in data coordinates: FLOP/byte and FLOP/s."""

    segments: list[Record] = field(default_factory=list)
    ridges: list[Record] = field(default_factory=list)
    flats: list[Record] = field(default_factory=list)
    slopes: list[Record] = field(default_factory=list)


def draw(
    lines: Sequence[Roof],
    box: tuple[float, float, float, float],
    size: tuple[float, float],
    points: Sequence[Record] = (),
) -> Drawn:
    """Lay out the roofs in a logarithmic frame.

    Args:
        lines: from :func:`roofs`.
        box: least and largest x, least and largest y of the frame.
        size: of the frame in pixels.
        points: records with ``intensity`` and ``rate``, which the labels of the slopes keep clear of.

    Returns:
        Lines that reach beyond the frame, so that panning finds no end, and labels that do not cover each other.
    """
    x0, x1, y0, y1 = box
    slopes = [line for line in lines if line.path == DRAM]
    flats = [line for line in lines if line.path != DRAM]
    far_left, far_right = x0 / 1e4, x1 * 1e4
    drawn = Drawn()
    best = slopes[0].value if slopes else None
    for s in slopes:
        end = max((f.value for f in flats if not f.boost), default=s.value * far_right) / s.value
        drawn.segments.append(_segment(far_left, s.value * far_left, end, s.value * end, 1.8))
    solid = [f for f in flats if not f.boost]
    for f in flats:
        start = f.value / best if best else far_left
        drawn.segments.append(
            _segment(start, f.value, far_right, f.value, 1.8 if f is solid[0] else 1.2, boost=f.boost)
        )
    decade = size[1] / math.log10(y1 / y0)
    for f in flats:
        text = f"{f.path}{' at boost' if f.boost else ''} {fig.si(f.value, 'FLOP/s')}"
        if drawn.flats and decade * math.log10(drawn.flats[-1]["y"] / f.value) < LABEL_GAP:
            drawn.flats[-1]["text"] += f" · {text}"
        else:
            drawn.flats.append({"x": x1, "y": f.value, "text": text})
        if best and not f.boost:
            here = f.value / best
            last = next((r for r in reversed(drawn.ridges) if r["text"]), None)
            near = last is not None and decade * math.log10(last["y"] / f.value) < LABEL_GAP
            drawn.ridges.append({"x": here, "y": f.value, "text": "" if near else f"I* {fig.number(here)}"})
    top = max((f.value for f in flats), default=y1)
    places = [_pixel(p["intensity"], p["rate"], box, size) for p in points]
    for number, s in enumerate(slopes):
        text = f"{DRAM} {fig.si(s.value, 'byte/s')}"
        drawn.slopes.append({"text": text, **_label_place(s.value, (text, number), box, size, places=places, top=top)})
    return drawn


def _segment(x: float, y: float, x2: float, y2: float, width: float, *, boost: bool = False) -> Record:
    return {"x": x, "y": y, "x2": x2, "y2": y2, "width": width, "dash": [4, 4] if boost else [1, 0]}


def _pixel(
    x: float, y: float, box: tuple[float, float, float, float], size: tuple[float, float]
) -> tuple[float, float]:
    """Where a point lies in the frame, in pixels from its lower left corner."""
    x0, x1, y0, y1 = box
    return size[0] * math.log10(x / x0) / math.log10(x1 / x0), size[1] * math.log10(y / y0) / math.log10(y1 / y0)


def _label_place(
    slope: float,
    label: tuple[str, int],
    box: tuple[float, float, float, float],
    size: tuple[float, float],
    *,
    places: Sequence[tuple[float, float]],
    top: float,
) -> Record:
    """Where the label of a slope ends: to its upper left, where fewest points are; lower slopes' further left."""
    x0, x1, y0, _ = box
    text, number = label
    width = CHARACTER * len(text)
    candidates = []
    for step in range(3, 19):
        x = x0 * (x1 / x0) ** (step / 20)
        y = slope * x
        right, bottom = _pixel(x, y, box, size)
        if right < width + 12 or not y0 * 1.3 < y < top:
            continue
        covered = sum(right - width - 16 < px < right and bottom - 6 < py < bottom + 20 for px, py in places)
        candidates.append((covered, abs(step - 7 + 2 * number), x, y))
    if candidates:
        x, y = min(candidates)[2:]
    else:
        x = max(x0, y0 / slope) * 1.5
        y = slope * x
    return {"x": x, "y": y}
