"""The roofline as an Altair chart: kernel groups in, chart out. Nothing here knows about pages or files.

Both axes are logarithmic; there the bandwidth roof B·I is a straight line of slope 1 and each compute path a flat line
at its F, and they meet at the ridge point I* = F / B. A kernel is a point at its intensity W / Q and throughput W / T.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._points import DERIVED, MEASURED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Record = dict[str, Any]

VERDICTS = ("memory-bound", "compute-bound", "latency-bound", "overhead-bound", "cannot-say")
# Okabe and Ito's palette, which people with any colour vision tell apart; the shapes say the same thing again.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A7A7A")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
INK = "#333333"
QUIET = "#8A8A8A"
HEIGHT = 440
STRIP_HEIGHT = 190
SAME_ROOF = 1.12
"""Roofs of one path within this ratio are drawn as one line: the clock wanders that much between launches."""
MOST_ROOFS = 8
LABEL_GAP = 13.0
"""Pixels between two labels of flat roofs; nearer ones share a line of text."""


@dataclass(frozen=True)
class Roof:
    """One line of the roof: a flat one of a compute path in FLOP/s, or the slope in byte/s (path ``DRAM``)."""

    path: str
    value: float
    source: str


def roofs(groups: Iterable[Record]) -> list[Roof]:
    """The distinct roofs that kernels were judged by; per path, values within 12 % are one line at their median.

    The slopes come first, then the flat parts from the highest down; at most eight, those that own most time.
    """
    weights: dict[str, list[tuple[float, float, str]]] = {}
    for g in groups:
        weight = g["total_s"] or 0.0
        if g["roof_bytes_s"]:
            weights.setdefault("DRAM", []).append((g["roof_bytes_s"], weight, str(g["roof_bytes_s_source"] or "")))
        if g["roof_flop_s"] and g["path"]:
            weights.setdefault(str(g["path"]), []).append(
                (g["roof_flop_s"], weight, str(g["roof_flop_s_source"] or ""))
            )
    found: list[tuple[float, Roof]] = []
    for path, values in weights.items():
        cluster: list[tuple[float, float, str]] = []
        for item in [*sorted(values), (math.inf, 0.0, "")]:
            if cluster and item[0] > SAME_ROOF * cluster[0][0]:
                total = sum(w for _, w, _ in cluster)
                found.append((total, Roof(path, *_weighted_median(cluster, total))))
                cluster = []
            cluster.append(item)
    kept = [roof for _, roof in sorted(found, key=lambda f: -f[0])]
    slopes = [r for r in kept if r.path == "DRAM"][:3]
    flats = [r for r in kept if r.path != "DRAM"][:MOST_ROOFS]
    return [*sorted(slopes, key=lambda r: -r.value), *sorted(flats, key=lambda r: -r.value)]


def _weighted_median(cluster: Sequence[tuple[float, float, str]], total: float) -> tuple[float, str]:
    passed = 0.0
    for value, weight, source in cluster:
        passed += weight
        if passed >= total / 2:
            return value, source
    return cluster[-1][0], cluster[-1][2]


def _data(values: Sequence[Record]) -> Any:  # noqa: ANN401  altair leaves this class untyped
    return alt.Data(values=list(values))  # type: ignore[no-untyped-call]


def chart(
    points: Sequence[Record], strip: Sequence[Record], lines: Sequence[Roof], *, title: str = "", width: int = 860
) -> alt.VConcatChart:
    """The roofline of one GPU.

    Args:
        points: kernels with a place on the roofline; see :mod:`ncuroof.reporters._points` for the fields.
        strip: kernels of which only the bytes are known; drawn beneath, by percent of the bandwidth roof.
        lines: the roofs, from :func:`roofs`.
        title: name of the GPU.
        width: of the plotting area, in pixels.

    Returns:
        A chart with parameters ``verdict`` (legend) and ``report`` (text, ``all`` at first).
    """
    panels = []
    if points or any(line.path != "DRAM" for line in lines):
        panels.append(_roofline(points, lines, width))
    if strip or not panels:
        panels.append(_strip(strip, width))
    key = ["filled: W and Q counted", "hollow: derived"]
    if any(p.get("formula") is not None for p in points):
        key.append("tick: where the formula's bytes would put it")
    heading = alt.TitleParams(text=title, subtitle=" · ".join(key))
    whole = alt.vconcat(*panels, spacing=28, title=heading)
    with warnings.catch_warnings():
        # One legend for both panels is just what is meant; altair warns that it is not two.
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        whole = whole.add_params(_LEGEND, alt.param(name="report", value="all"))
    return whole.properties(config=_config())


def _config() -> alt.Config:
    return alt.Config(
        font="system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
        padding=6,
        view=alt.ViewConfig(stroke=None),
        title=alt.TitleConfig(
            anchor="start",
            fontSize=14,
            fontWeight="bold",
            color=INK,
            subtitleFontSize=12,
            subtitleColor="#5A5A5A",
            subtitlePadding=4,
            offset=10,
        ),
        axis=alt.AxisConfig(
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titleColor=INK,
            labelColor=INK,
            gridColor="#ECECEC",
            domainColor=QUIET,
            tickColor=QUIET,
        ),
        legend=alt.LegendConfig(
            orient="bottom",
            direction="horizontal",
            columns=5,
            titleFontSize=11,
            titleFontWeight="normal",
            titleColor="#5A5A5A",
            labelFontSize=12,
            labelColor=INK,
            labelLimit=0,
            titleLimit=0,
            symbolSize=110,
            columnPadding=14,
            offset=14,
        ),
    )


def _roofline(points: Sequence[Record], lines: Sequence[Roof], width: int) -> Any:  # noqa: ANN401  altair types .properties() loosely
    x0, x1, y0, y1 = _domain(points, lines)
    x = alt.X(
        "intensity:Q",
        title="arithmetic intensity W / Q, FLOP per byte of GPU memory traffic",
        scale=alt.Scale(type="log", domain=[x0, x1], nice=False),
        axis=alt.Axis(values=_decades(x0, x1), format="~g", grid=True),
    )
    y = alt.Y(
        "rate:Q",
        title="throughput W / T, FLOP/s",
        scale=alt.Scale(type="log", domain=[y0, y1], nice=False),
        axis=alt.Axis(values=_decades(y0, y1), format="~s", grid=True),
    )
    layers: list[Any] = _roof_layers(lines, (x0, x1, y0, y1), width)
    joined = [p for p in points if p.get("formula") is not None]
    if joined:
        base = alt.Chart(_data([{k: p[k] for k in _JOIN_FIELDS} for p in joined])).transform_filter(_REPORT)
        layers += [
            base.mark_rule(color=INK, strokeWidth=1, opacity=0.55, clip=True).encode(
                x=alt.X("formula:Q"), x2=alt.X2("intensity"), y=alt.Y("rate:Q"), opacity=_dimmed(0.55)
            ),
            base.mark_point(shape="stroke", angle=90, size=70, color=INK, strokeWidth=1.4, clip=True).encode(
                x=alt.X("formula:Q"), y=alt.Y("rate:Q"), opacity=_dimmed(0.9)
            ),
        ]
    crowd = len(points)
    marks = (
        alt.Chart(_data(points))
        .transform_filter(_REPORT)
        .mark_point(strokeWidth=1.4, clip=True)
        .encode(x=x, y=y, **_looks(crowd))
        .add_params(_zoom())
    )
    return alt.layer(*layers, marks).properties(width=width, height=HEIGHT)


def _strip(strip: Sequence[Record], width: int) -> Any:  # noqa: ANN401  altair types .properties() loosely
    """Kernels without a FLOP count: percent of the bandwidth roof against duration."""
    top = max([100.0, *(p["bandwidth_pct"] for p in strip)]) * 1.06
    times = [p["seconds"] for p in strip] or [1e-6, 1e-3]
    low, high = min(times) / 1.8, max(times) * 1.8
    if high / low < 12:  # a decade at least, so that the axis has a tick
        low, high = math.sqrt(low * high) / 3.5, math.sqrt(low * high) * 3.5
    roof = alt.Chart(_data([{"pct": 100, "label": "DRAM bandwidth roof"}]))
    marks = (
        alt.Chart(_data(strip))
        .transform_filter(_REPORT)
        .mark_point(strokeWidth=1.4, clip=True)
        .encode(
            x=alt.X(
                "bandwidth_pct:Q",
                title="percent of the bandwidth roof: kernels of which only the bytes are known",
                scale=alt.Scale(domain=[0, top], nice=False),
                axis=alt.Axis(grid=True, tickCount=6),
            ),
            y=alt.Y(
                "seconds:Q",
                title="duration, s",
                scale=alt.Scale(type="log", domain=[low, high], nice=False),
                axis=alt.Axis(values=_decades(low, high) or [low * 2], format="~s", grid=True),
            ),
            **_looks(len(strip)),
        )
    )
    return alt.layer(
        roof.mark_rule(color=INK, strokeWidth=1.6).encode(x="pct:Q"),
        roof.mark_text(align="right", dx=-6, baseline="top", color=INK, fontSize=11).encode(
            x="pct:Q", y=alt.value(5), text="label:N"
        ),
        marks,
    ).properties(width=width, height=STRIP_HEIGHT)


_REPORT = "report == 'all' || datum.report == report"
_LEGEND = alt.selection_point(name="verdict", fields=["verdict"], bind="legend")
_JOIN_FIELDS = ("formula", "intensity", "rate", "verdict", "report")


def _zoom() -> alt.Parameter:
    # The wheel scrolls the page unless shift is held; dragging pans.
    return alt.selection_interval(name="zoom", bind="scales", zoom="wheel![event.shiftKey]")


def _dimmed(opacity: float) -> Any:  # noqa: ANN401  altair has no public type for a conditional channel
    return alt.when(_LEGEND).then(alt.value(opacity)).otherwise(alt.value(0.06))


def _looks(crowd: int) -> dict[str, Any]:
    """Colour and shape by verdict, area by share of the time, filled where both W and Q were counted."""
    fill = 0.75 if crowd < 300 else 0.45
    domain = list(VERDICTS)
    colors = alt.Scale(domain=domain, range=list(COLORS))
    verdict = "verdict (click to filter)"
    tooltip = [
        alt.Tooltip(f"{field}:N", title=title)
        for field, title in (
            ("name", "kernel"),
            ("launch", "launch"),
            ("time", "time T"),
            ("share", "share of GPU time"),
            ("work", "work W"),
            ("bytes", "bytes Q"),
            ("where", "intensity W/Q"),
            ("speed", "achieved"),
            ("roof", "of its roof"),
            ("why", "verdict"),
            ("found", "findings"),
            ("report_name", "report"),
        )
    ]
    return {
        "stroke": alt.Stroke("verdict:N", title=verdict, scale=colors, sort=domain),
        "fill": alt.Fill("verdict:N", title=verdict, scale=colors, sort=domain),
        "shape": alt.Shape("verdict:N", title=verdict, scale=alt.Scale(domain=domain, range=list(SHAPES)), sort=domain),
        "fillOpacity": alt.FillOpacity(
            "basis:N",
            title="W and Q",
            scale=alt.Scale(domain=[MEASURED, DERIVED], range=[fill, 0.0]),
            legend=None,  # the subtitle says it: a legend of fill opacities draws nothing
        ),
        "size": alt.Size(
            "percent_of_time:Q",
            title="share of GPU time, %",
            scale=alt.Scale(type="linear", domain=[0, 100], range=[26 if crowd < 300 else 12, 2600], clamp=True),
            legend=alt.Legend(values=[1, 10, 50], symbolFillColor="#DDDDDD", symbolStrokeColor=QUIET),
        ),
        "opacity": _dimmed(1.0 if crowd < 300 else 0.7),
        "order": alt.Order("percent_of_time:Q", sort="descending"),
        "tooltip": tooltip,
    }


def _roof_layers(lines: Sequence[Roof], box: tuple[float, float, float, float], width: int) -> list[alt.Chart]:
    """Slopes, flat parts, ridge points and their labels."""
    x0, x1, y0, y1 = box
    slopes = [line for line in lines if line.path == "DRAM"]
    flats = [line for line in lines if line.path != "DRAM"]
    if not slopes:
        return []
    far_left, far_right = x0 / 1e4, x1 * 1e4  # beyond the frame, so that panning finds no end
    best = slopes[0].value
    top = max((f.value for f in flats), default=best * x1)
    segments = [{"x": far_left, "y": s.value * far_left, "x2": top / s.value, "y2": top, "width": 1.8} for s in slopes]
    segments += [
        {"x": f.value / best, "y": f.value, "x2": far_right, "y2": f.value, "width": 1.8 if i == 0 else 1.2}
        for i, f in enumerate(flats)
    ]
    rule = alt.Chart(_data(segments)).mark_rule(color=INK, clip=True)
    layers = [
        rule.encode(x="x:Q", y="y:Q", x2="x2", y2="y2", strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None))
    ]
    pixels = HEIGHT / math.log10(y1 / y0)
    texts: list[Record] = []
    for f in flats:
        label = f"{f.path} {fig.si(f.value, 'FLOP/s')}"
        if texts and pixels * math.log10(texts[-1]["y"] / f.value) < LABEL_GAP:
            texts[-1]["text"] += f" · {label}"
        else:
            texts.append({"x": x1, "y": f.value, "text": label})
    if texts:
        layers.append(
            alt.Chart(_data(texts))
            .mark_text(align="right", baseline="bottom", dx=-4, dy=-2, fontSize=11, color=INK, clip=True)
            .encode(x="x:Q", y="y:Q", text="text:N")
        )
    ridges: list[Record] = []
    for f in flats:
        here = f.value / best
        near = ridges and pixels * math.log10(ridges[-1]["y"] / f.value) < LABEL_GAP
        ridges.append({"x": here, "y": f.value, "text": "" if near else f"I* {fig.number(here)}"})
    if ridges:
        base = alt.Chart(_data(ridges)).encode(x="x:Q", y="y:Q")
        layers += [
            base.mark_point(shape="circle", size=34, fill="white", stroke=INK, strokeWidth=1.3, opacity=1, clip=True),
            base.mark_text(align="left", baseline="top", dx=5, dy=4, fontSize=11, color=QUIET, clip=True).encode(
                text="text:N"
            ),
        ]
    span = math.log10(x1 / x0)
    for i, s in enumerate(slopes):
        at = x0 * 10 ** (span * min(0.36, max(0.2, 0.8 * math.log10(top / s.value / x0) / span)))
        label = f"DRAM {fig.si(s.value, 'byte/s')}"
        layers.append(
            alt.Chart(_data([{"x": at, "y": s.value * at, "text": label}]))
            .mark_text(align="right", dx=-8, dy=-6 - 13 * i, fontSize=11, color=INK, clip=True)
            .encode(x="x:Q", y="y:Q", text="text:N")
        )
    return layers


def _domain(points: Sequence[Record], lines: Sequence[Roof]) -> tuple[float, float, float, float]:
    """A frame that holds all points, all ridge points and a piece of every flat part."""
    slope = max((line.value for line in lines if line.path == "DRAM"), default=None)
    flats = [line.value for line in lines if line.path != "DRAM"]
    xs = [p["intensity"] for p in points] + [p["formula"] for p in points if p.get("formula") is not None]
    ys = [p["rate"] for p in points] + flats
    xs += [f / slope for f in flats] if slope else []
    x0, x1 = min(xs, default=0.1) / 2.5, max(xs, default=1000.0) * 5
    if x1 / x0 < 1e3:  # at least three decades, or the slope and the flat part cannot both be seen
        middle = math.sqrt(x0 * x1)
        x0, x1 = middle / 10**1.5, middle * 10**1.5
    y0, y1 = min(ys, default=1e9) / 3, max(ys, default=1e13) * 3
    if y1 / y0 < 1e3:
        y0 = y1 / 1e3
    return x0, x1, y0, y1


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten within the range, at most nine of them."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    step = max(1, math.ceil((last - first + 1) / 9))
    return [10.0**e for e in range(first, last + 1, step)]
