"""The roofline as an Altair chart: kernel groups in, chart out. Nothing here knows about pages or files.

Both axes are logarithmic; there the bandwidth roof B·I is a straight line of slope 1 and each compute path a flat line
at its F, and they meet at the ridge point I* = F / B. A kernel is a point at its intensity W / Q and throughput W / T.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import altair as alt

from ncuroof.reporters._points import DERIVED, MEASURED
from ncuroof.reporters._roof_lines import DRAM, draw
from ncuroof.verdict_words import VERDICTS, WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.reporters._roof_lines import Drawn, Roof

Record = dict[str, Any]

INK = "#333333"
QUIET = "#8A8A8A"
HEIGHT = 440
STRIP_HEIGHT = 190


def _data(values: Sequence[Record]) -> Any:  # noqa: ANN401  altair leaves this class untyped
    return alt.Data(values=list(values))  # type: ignore[no-untyped-call]


def _named(name: str) -> Any:  # noqa: ANN401  as above
    return alt.NamedData(name=name)


def specification(points: Sequence[Record], strip: Sequence[Record], lines: Sequence[Roof], title: str) -> Record:
    """The chart as a Vega-Lite specification with its data.

    The data join the specification here and not in :func:`chart` because altair copies and validates them many times;
    what it would find in the rest, a test finds.
    """
    spec: Record = chart(points, strip, lines, title=title).to_dict(validate=False)
    spec.setdefault("datasets", {}).update(points=list(points), strip=list(strip))
    # The address of the schema is all it holds; a picture that needs no network should name none.
    spec.pop("$schema", None)
    return spec


def chart(
    points: Sequence[Record], strip: Sequence[Record], lines: Sequence[Roof], *, title: str = "", width: int = 860
) -> alt.VConcatChart:
    """The roofline of one GPU.

    Args:
        points: kernels with a place on the roofline; see :mod:`ncuroof.reporters._points` for the fields.
        strip: kernels of which only the bytes are known; drawn beneath, by percent of the bandwidth roof.
        lines: the roofs, from :func:`ncuroof.reporters._roof_lines.roofs`.
        title: name of the GPU.
        width: of the plotting area, in pixels.

    Returns:
        A chart with parameters ``verdict`` (legend) and ``report`` (text, ``all`` at first), whose kernels are the
        named data sets ``points`` and ``strip``.
    """
    panels = []
    present = {p["verdict"] for p in (*points, *strip)}
    verdicts = [word for word in WORDS if word in present]
    if points or any(line.path != DRAM for line in lines):
        panels.append(_roofline(points, lines, width, verdicts))
    if strip or not panels:
        panels.append(_strip(strip, width, verdicts))
    key = ["filled: W and Q counted", "hollow: derived"]
    if any(p.get("formula") is not None for p in points):
        key.append("tick: where the formula's bytes would put it")
    heading = alt.TitleParams(text=title, subtitle=" · ".join(key))
    with warnings.catch_warnings():
        # One legend for both panels is just what is meant; altair warns that it is not two.
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        return alt.vconcat(*panels, spacing=28, title=heading, config=_config())


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


def _roofline(points: Sequence[Record], lines: Sequence[Roof], width: int, verdicts: list[str]) -> Any:  # noqa: ANN401
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
    drawn = draw(lines, (x0, x1, y0, y1), (width, HEIGHT), points)
    layers: list[Any] = _roof_layers(drawn)
    joined = [p for p in points if p.get("formula") is not None]
    if joined:
        base = alt.Chart(_named("points")).transform_filter(_REPORT).transform_filter("isValid(datum.formula)")
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
        alt.Chart(_named("points"))
        .transform_filter(_REPORT)
        .mark_point(strokeWidth=1.4, clip=True)
        .encode(x=x, y=y, **_looks(crowd, verdicts))
        .add_params(_LEGEND, _CHOSEN, _zoom())
    )
    return alt.layer(*layers, marks, *_label_layers(drawn)).properties(width=width, height=HEIGHT)


def _strip(strip: Sequence[Record], width: int, verdicts: list[str]) -> Any:  # noqa: ANN401
    """Kernels without a FLOP count: percent of the bandwidth roof against duration."""
    top = max([100.0, *(p["bandwidth_pct"] for p in strip)]) * 1.06
    times = [p["seconds"] for p in strip] or [1e-6, 1e-3]
    low, high = min(times) / 1.8, max(times) * 1.8
    if high / low < 12:  # a decade at least, so that the axis has a tick
        low, high = math.sqrt(low * high) / 3.5, math.sqrt(low * high) * 3.5
    roof = alt.Chart(_data([{"pct": 100, "label": "DRAM bandwidth roof"}]))
    marks = (
        alt.Chart(_named("strip"))
        .transform_filter(_REPORT)
        .mark_point(strokeWidth=1.4, clip=True)
        .encode(
            x=alt.X(
                "bandwidth_pct:Q",
                title="percent of the bandwidth roof: kernels of which only the bytes are known",
                # A little room left of zero, or the points there would be cut in half.
                scale=alt.Scale(domain=[-0.02 * top, top], nice=False),
                axis=alt.Axis(grid=True, tickCount=6),
            ),
            y=alt.Y(
                "seconds:Q",
                title="duration, s",
                scale=alt.Scale(type="log", domain=[low, high], nice=False),
                axis=alt.Axis(values=_decades(low, high) or [low * 2], format="~s", grid=True),
            ),
            **_looks(len(strip), verdicts),
        )
        .add_params(_LEGEND, _CHOSEN)
    )
    return alt.layer(
        roof.mark_rule(color=INK, strokeWidth=1.6).encode(x="pct:Q"),
        roof.mark_text(align="right", dx=-6, baseline="top", color=INK, fontSize=11).encode(
            x="pct:Q", y=alt.value(5), text="label:N"
        ),
        marks,
    ).properties(width=width, height=STRIP_HEIGHT)


_CHOSEN = alt.param(name="report", value="all")
_REPORT = "report == 'all' || datum.report == report"
_LEGEND = alt.selection_point(name="verdict", fields=["verdict"], bind="legend")


def _zoom() -> alt.Parameter:
    # The wheel scrolls the page unless shift is held; dragging pans.
    return alt.selection_interval(name="zoom", bind="scales", zoom="wheel![event.shiftKey]")


def _dimmed(opacity: float) -> Any:  # noqa: ANN401  altair has no public type for a conditional channel
    return alt.when(_LEGEND).then(alt.value(opacity)).otherwise(alt.value(0.06))


def _looks(crowd: int, verdicts: list[str]) -> dict[str, Any]:
    """Colour and shape by verdict, area by share of the time, filled where both W and Q were counted."""
    fill = 0.75 if crowd < 300 else 0.45
    domain = list(WORDS)
    colors = alt.Scale(domain=domain, range=[v.color for v in VERDICTS])
    shapes = alt.Scale(domain=domain, range=[v.shape for v in VERDICTS])
    legend = alt.Legend(title="verdict", values=verdicts)
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
        "stroke": alt.Stroke("verdict:N", legend=legend, scale=colors, sort=domain),
        "fill": alt.Fill("verdict:N", legend=legend, scale=colors, sort=domain),
        "shape": alt.Shape("verdict:N", legend=legend, scale=shapes, sort=domain),
        "fillOpacity": alt.FillOpacity(
            "basis:N",
            title="W and Q",
            scale=alt.Scale(domain=[MEASURED, DERIVED], range=[fill, 0.0]),
            sort=[MEASURED, DERIVED],
            legend=None,  # the subtitle says it: a legend of fill opacities draws nothing
        ),
        "size": alt.Size(
            "percent_of_time:Q",
            title="share of this GPU's time, %",
            scale=alt.Scale(type="linear", domain=[0, 100], range=[26 if crowd < 300 else 12, 2600], clamp=True),
            legend=alt.Legend(values=[1, 10, 50], symbolFillColor="#DDDDDD", symbolStrokeColor=QUIET),
        ),
        "opacity": _dimmed(1.0 if crowd < 300 else 0.7),
        "order": alt.Order("percent_of_time:Q", sort="descending"),
        "tooltip": tooltip,
    }


def _roof_layers(drawn: Drawn) -> list[alt.Chart]:
    """Slopes, flat parts and ridge points."""
    layers = []
    if drawn.segments:
        layers.append(
            alt.Chart(_data(drawn.segments))
            .mark_rule(color=INK, clip=True)
            .encode(
                x="x:Q",
                y="y:Q",
                x2="x2",
                y2="y2",
                strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
                strokeDash=alt.StrokeDash("dash:N", scale=None, legend=None),
            )
        )
    if drawn.ridges:
        layers.append(
            alt.Chart(_data(drawn.ridges))
            .mark_point(shape="circle", size=34, fill="white", stroke=INK, strokeWidth=1.3, opacity=1, clip=True)
            .encode(x="x:Q", y="y:Q")
        )
    return layers


def _label_layers(drawn: Drawn) -> list[alt.Chart]:
    """What the lines are called, above the points, each with a white halo."""
    layers = []
    styles: tuple[tuple[list[Record], dict[str, Any]], ...] = (
        (drawn.flats, {"align": "right", "baseline": "bottom", "dx": -4, "dy": -4, "color": INK}),
        (drawn.ridges, {"align": "left", "baseline": "top", "dx": 5, "dy": 4, "color": "#5A5A5A"}),
        (drawn.slopes, {"align": "right", "baseline": "bottom", "dx": -7, "dy": -3, "color": INK}),
    )
    for items, looks in styles:
        if not items:
            continue
        base = alt.Chart(_data(items)).encode(x="x:Q", y="y:Q", text="text:N")
        halo: dict[str, Any] = {"stroke": "white", "strokeWidth": 3.5, "strokeOpacity": 0.85}
        layers += [base.mark_text(fontSize=11, clip=True, **looks, **more) for more in (halo, {})]
    return layers


LEAST, MOST = 1e-30, 1e30
"""Ends of any axis: far beyond what a GPU can do, and far within what floating point can hold."""


def _domain(points: Sequence[Record], lines: Sequence[Roof]) -> tuple[float, float, float, float]:
    """A frame that holds all points, all ridge points and a piece of every flat part."""
    slope = max((line.value for line in lines if line.path == DRAM), default=None)
    flats = [line.value for line in lines if line.path != DRAM]
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
    # Absurd counters must not stretch the frame beyond what a logarithmic axis can be computed for.
    return max(x0, LEAST), min(x1, MOST), max(y0, LEAST), min(y1, MOST)


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten within the range, at most nine of them."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    step = max(1, math.ceil((last - first + 1) / 9))
    return [10.0**e for e in range(first, last + 1, step)]
