"""The charts of an analysis, one per GPU, and their rendering without a browser."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.errors import NothingMeasuredError, UsageError
from ncuroof.reporters import _figures as fig
from ncuroof.reporters._groups import FindingGroup, Row, finding_groups, gpu_names, kernel_groups
from ncuroof.reporters._names import cut
from ncuroof.reporters._points import by_group, records, split
from ncuroof.reporters._roof_lines import roofs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.model import Analysis

MOST_POINTS = 5000
"""Distinct kernels drawn per GPU, those that own most time; more would make the page heavy and say nothing."""


@dataclass(frozen=True)
class Drawing:
    """The chart of one GPU.

    Attributes:
        gpu: its name as shown.
        spec: Vega-Lite specification; None where no kernel has a place.
        points: number of kernels drawn.
        reports: (number as text, name) of the reports with kernels on this GPU.
        caption: what the picture shows and what it leaves out.
    """

    gpu: str
    spec: dict[str, Any] | None
    points: int
    reports: list[tuple[str, str]]
    caption: str


def drawings(groups: pl.DataFrame, found: Sequence[FindingGroup]) -> list[Drawing]:
    """One drawing per GPU, the GPU with most time first."""
    from ncuroof.reporters import _charts as charts  # noqa: PLC0415  altair is slow to import; only pictures need it

    findings = by_group(found)
    result = []
    rows = list(groups.iter_rows(named=True))
    for gpu in gpu_names(groups):
        mine = [r for r in rows if (r["gpu_name"] or "") == gpu]
        reports = {sha: number for number, sha in enumerate(dict.fromkeys(r["source_sha256"] for r in mine))}
        on_roof, on_strip, nowhere = split(mine)
        drawn = {r["group"] for r in sorted(on_roof + on_strip, key=lambda r: -(r["total_s"] or 0.0))[:MOST_POINTS]}
        total = sum(r["total_s"] or 0.0 for r in mine)
        points = records([r for r in on_roof if r["group"] in drawn], findings, reports, total)
        strip = records([r for r in on_strip if r["group"] in drawn], findings, reports, total)
        title = cut(gpu, 60) or "unknown GPU"
        spec = None
        if points or strip:
            lines = roofs(r for r in on_roof + on_strip if r["group"] in drawn)
            spec = charts.specification(points, strip, lines, title)
        names = {r["source_sha256"]: cut(str(r["source"] or "unnamed report"), 80) for r in mine}
        result.append(
            Drawing(
                title,
                spec,
                len(drawn),
                [(str(number), names[sha]) for sha, number in reports.items()],
                _caption(on_roof, on_strip, nowhere, len(on_roof) + len(on_strip) - len(drawn)),
            )
        )
    return result


def _caption(on_roof: Sequence[Row], on_strip: Sequence[Row], nowhere: Sequence[Row], undrawn: int) -> str:
    launches = sum(r["launches"] for r in on_roof)
    parts = [
        f"{fig.count(len(on_roof), 'point')} on the roofline"
        + (f" for {launches} launches (identical ones are one point)" if launches > len(on_roof) else "")
    ]
    if on_strip:
        parts.append(f"{_those(on_strip)} no FLOP count or none to count: lower panel")
    if nowhere:
        parts.append(f"{_those(nowhere)} neither a FLOP nor a byte count: only in the table")
    if undrawn:
        parts.append(f"the {undrawn} that take the least time are not drawn")
    return "; ".join(parts) + "."


def _those(rows: Sequence[Row]) -> str:
    share = sum(r["time_share"] or 0.0 for r in rows)
    verb = "has" if len(rows) == 1 else "have"
    return f"{fig.count(len(rows), 'kernel')} ({fig.percent(100 * share)} of the GPU time) {verb}"


def svg(spec: dict[str, Any]) -> str:
    """The chart as an SVG document."""
    import vl_convert  # noqa: PLC0415  starts a JavaScript engine; only pictures need it

    return str(vl_convert.vegalite_to_svg(spec))


def png(spec: dict[str, Any], scale: float = 2.0) -> bytes:
    """The chart as a PNG file, by default at twice its nominal size."""
    import vl_convert  # noqa: PLC0415  starts a JavaScript engine; only pictures need it

    return bytes(vl_convert.vegalite_to_png(spec, scale=scale))


def first(analysis: Analysis) -> tuple[dict[str, Any], list[str]]:
    """The chart of the GPU with most time that has one, and the names of the other GPUs that have one.

    Raises:
        NothingMeasuredError: when no kernel has a place on a roofline.
    """
    groups = kernel_groups(analysis)
    drawn = [d for d in drawings(groups, finding_groups(analysis, groups)) if d.spec is not None]
    if not drawn or drawn[0].spec is None:
        names = ", ".join(source.name for source in analysis.dataset.sources)
        raise NothingMeasuredError(
            cut(names, 200),
            "no kernel with a byte count and a known roof",
            "Profile with `ncuroof collect --tier roofline`, or name the roofs with --roofs.",
        )
    return drawn[0].spec, [d.gpu for d in drawn[1:]]


def only_gpu(analysis: Analysis, name: str) -> Analysis:
    """The part of an analysis that ran on GPUs whose name contains ``name`` in any case; rows keep their numbers.

    Raises:
        UsageError: when there is none; lists those that exist.
    """
    frame = analysis.kernels
    names = frame["gpu_name"].unique(maintain_order=True).to_list()
    chosen = [n for n in names if name.lower() in (n or "").lower()]
    if not chosen:
        known = ", ".join(cut(n or "unknown", 60) for n in names)
        msg = f"--only-gpu {name}: no kernel ran on such a GPU; there are {known}"
        raise UsageError(msg)
    kernels = frame.filter(pl.col("gpu_name").is_in(chosen))
    time = pl.coalesce("gpu_time_s", "duration_s")
    total = kernels.select(time).to_series().sum()
    if total:
        kernels = kernels.with_columns(time_share=time / total)
    findings = analysis.findings.filter(pl.col("row").is_null() | pl.col("row").is_in(kernels["row"].implode()))
    return replace(analysis, kernels=kernels, findings=findings)
