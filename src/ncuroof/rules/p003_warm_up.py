"""P003 warm-up: launches in the report that are no part of steady work.

What it does
    Finds first launches that take much longer than their repetitions, and runs of one kernel in many configurations:
    warm-up and autotuning that were profiled along.

Why it matters
    They count in every share of time and in every average, and the finished program does not do them.

How it decides
    (a) Of at least four launches of one kernel with the same grid and block, the first takes 1.5 times the median of
    the others, and the others agree within 10 %. (b) One kernel name is launched in at least four configurations of
    block size, registers and shared memory, one after the other: an autotuner trying them.

What to do
    Skip them: ncu --launch-skip, --profile-from-start off with cudaProfilerStart, or an NVTX filter after warm-up;
    store the autotuner's result.

When it is wrong
    A program may use one kernel with many configurations for different problem sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import none, report_findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "P003"
NAME = "warm-up"
SEVERITY = "note"
NEEDS = ("duration_s", "kernel_name")
TIER = "roofline"
LIMITS = {
    "first": Limit(1.5, "x", "clock ramps and cold caches cost this much and more", "judgement"),
    "repeats": Limit(3.0, "1", "launches to compare the first one with", "fewer have no spread"),
    "spread": Limit(1.10, "x", "between the repetitions, or nothing can be said of the first", "judgement"),
    "configurations": Limit(4.0, "1", "of one kernel; two or three are variants for sizes", "autotuners try 4 to 50"),
}

ADVICE = "Leave warm-up and autotuning out: --launch-skip, cudaProfilerStart after warm-up, or an NVTX filter."


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report and kernel with such launches; see the module's documentation."""
    found = [*_first_launches(kernels, limits), *_configurations(kernels, limits)]
    return report_findings(found) if found else none()


def _first_launches(kernels: pl.DataFrame, limits: Mapping[str, float]) -> list[dict[str, object]]:
    same = ["source_sha256", "source", "kernel_name", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"]
    rest = pl.col("duration_s").slice(1)
    groups = (
        kernels.group_by([*same, "op_shape"], maintain_order=True)
        .agg(
            first=pl.col("duration_s").first(),
            median=rest.median(),
            spread=rest.max() / rest.min(),
            repeats=pl.len() - 1,
        )
        .filter(
            (pl.col("repeats") >= limits["repeats"])
            & (pl.col("spread") <= limits["spread"])
            & (pl.col("first") >= limits["first"] * pl.col("median"))
        )
    )
    return [
        _row(
            g,
            f"the first launch of {g['kernel_name']} takes {si(g['first'], 's')}, the {g['repeats']} others "
            f"{si(g['median'], 's')}: {digits(g['first'] / g['median'])} x, it is a warm-up",
            g["first"] - g["median"],
            ("first / median of the others", g["first"] / g["median"], limits["first"]),
        )
        for g in groups.iter_rows(named=True)
    ]


def _configurations(kernels: pl.DataFrame, limits: Mapping[str, float]) -> list[dict[str, object]]:
    shared = pl.col("shared_static_bytes").fill_null(0) + pl.col("shared_dynamic_bytes").fill_null(0)
    configuration = pl.struct("block_threads", "registers_per_thread", shared.alias("shared"))
    frame = kernels.filter(pl.col("block_threads").is_not_null()).with_columns(_configuration=configuration)
    # Within one shape: different shapes may well need different configurations.
    groups = (
        frame.group_by(["source_sha256", "source", "kernel_name", "op_shape"], maintain_order=True)
        .agg(
            count=pl.col("_configuration").n_unique(),
            runs=pl.col("_configuration").rle_id().max() + 1,
            launches=pl.len(),
            total=pl.col("duration_s").sum(),
            threads=pl.col("launch_threads").max() / pl.col("launch_threads").min(),
            blocks=pl.col("block_threads").n_unique(),
        )
        # An autotuner goes through its list once: as many runs of a configuration as configurations.
        .filter(
            (pl.col("count") >= limits["configurations"]) & (pl.col("runs") == pl.col("count")) & (pl.col("blocks") > 1)
        )
    )
    return [
        _row(
            g,
            f"{g['kernel_name']} runs in {g['count']} configurations one after the other ({g['launches']} launches, "
            f"{si(g['total'], 's')}): that looks like autotuning",
            None,
            ("configurations", float(g["count"]), limits["configurations"]),
        )
        for g in groups.iter_rows(named=True)
    ]


def _row(
    group: Mapping[str, object], message: str, stake: float | None, evidence: tuple[str, float, float]
) -> dict[str, object]:
    metric, value, limit = evidence
    return {
        "message": message,
        "advice": ADVICE,
        "confidence": "medium",
        "time_at_stake_s": stake,
        "source": group["source"],
        "source_sha256": group["source_sha256"],
        "evidence": [{"metric": metric, "value": value, "unit": "", "limit": limit, "source": "durations of launches"}],
    }
