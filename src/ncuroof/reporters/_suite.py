"""What findings cover together, and where Nsight Compute's own rules say something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import nsight, suite
from ncuroof.reporters import _figures as fig
from ncuroof.reporters._names import cut, visible

if TYPE_CHECKING:
    from ncuroof.model import Analysis

LONGEST_NAME = 40
NAMED = 3
"""Kernels that a line about a disagreement names."""


def covered(analysis: Analysis) -> str:
    """``these 3 findings cover 71 % of the GPU time: M001 uncoalesced on spmv, …``; empty where that tells nothing."""
    head = suite.headline(analysis)
    if head is None:
        return ""
    number = len(head.rows)
    verb = f"these {number} findings cover" if number > 1 else "this finding covers"
    named = [(f"{r['code']} {r['name']}", str(r["kernel"])) for r in head.rows]
    which = ", ".join(f"{cut(what, LONGEST_NAME)} on {cut(kernel, LONGEST_NAME)}" for what, kernel in named)
    return f"{verb} {fig.percent(100 * head.share)} of the GPU time: {visible(which)}"


def by_cause(analysis: Analysis) -> list[dict[str, object]]:
    """Rows of :func:`ncuroof.suite.rows` that have a time, where there are several reports: else the findings do."""
    if len(analysis.dataset.sources) < 2:
        return []
    return suite.rows(analysis).filter(pl.col("share") > 0).to_dicts()


def where(row: dict[str, object]) -> str:
    """``×12 in 3 reports``; empty for one launch."""
    launches, reports = int(str(row["launches"])), int(str(row["reports"]))
    if launches == 1:
        return ""
    return f"×{launches}" + (f" in {fig.count(reports, 'report')}" if reports > 1 else "")


def nsight_alone(analysis: Analysis) -> list[tuple[str, str]]:
    """What only Nsight Compute found: heading and its message on the kernel with most time, per rule and topic."""
    if analysis.nsight is None or analysis.nsight.is_empty():
        return []
    time = analysis.kernels.select("row", "duration_s")
    rows = (
        analysis.nsight.join(time, on="row", how="left")
        .sort("duration_s", descending=True, nulls_last=True, maintain_order=True)
        .group_by("code", "name", maintain_order=True)
        .agg(pl.col("kernel", "message").first(), pl.col("row").n_unique().alias("launches"))
    )
    result = []
    for r in rows.iter_rows(named=True):
        what = f"{r['name']}: {r['code'].removeprefix(nsight.PREFIX)}, {fig.launches(r['launches'])}"
        result.append((f"{what}, most time in {cut(str(r['kernel']), LONGEST_NAME)}", str(r["message"])))
    return result


def disagreements(analysis: Analysis) -> list[str]:
    """One line per rule of ours and theirs that judged the same kernels and did not say the same of all of them."""
    if analysis.dataset.rules.is_empty() or not analysis.judged:
        return []
    table = nsight.agreement(analysis)
    lines = []
    for (code, name, rule), part in table.group_by("code", "name", "rule_id", maintain_order=True):
        sides = {who: part.filter(pl.col("who") == who) for who in ("both", "ncuroof", "nsight")}
        if sides["ncuroof"].is_empty() and sides["nsight"].is_empty():
            continue
        told = [
            f"{title} {_kernels(sides[who])}"
            for who, title in (("ncuroof", "ncuroof alone"), ("nsight", "Nsight Compute alone"))
            if not sides[who].is_empty()
        ]
        lines.append(f"{code} {name} and {rule}: both on {fig.launches(sides['both'].height)}, {', '.join(told)}")
    return lines


def _kernels(part: pl.DataFrame) -> str:
    names = part["kernel"].unique(maintain_order=True).to_list()
    some = ", ".join(cut(str(n), LONGEST_NAME) for n in names[:NAMED])
    return f"on {fig.launches(part.height)} ({some}{', …' if len(names) > NAMED else ''})"
