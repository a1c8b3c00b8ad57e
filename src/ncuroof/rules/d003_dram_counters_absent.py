"""D003 dram-counters-absent: this chip has no DRAM counters.

What it does
    Says so once per report of a chip whose memory controller ncu cannot count: Jetson Xavier (7.2), Orin (8.7) and
    Thor (11.0), and GB10 (12.1).

Why it matters
    ``n/a`` there is a fact about the chip and no fault of the profile: collecting again brings nothing.

How it decides
    From the compute capability, as listed in NVIDIA's metric catalogue for it.

What to do
    Judge memory traffic by L2: misses x 32 bytes is a proxy, and the L2 throughput is measured.

When it is wrong
    If a newer ncu adds such counters; the report's own values then win.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.rules import Limit

CODE = "D003"
NAME = "dram-counters-absent"
SEVERITY = "note"
NEEDS: tuple[str, ...] = ()
TIER = "none: the chip lacks them"
LIMITS: dict[str, Limit] = {}


def check(kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report of a chip without DRAM counters."""
    return per_report(
        kernels,
        pl.col("dram_counters_absent") & pl.col("dram_bytes").is_null(),
        carry=(pl.col("gpu_name").first(), pl.col("cc_major").first(), pl.col("cc_minor").first()),
        message=lambda r: (
            f"{r['which']}: {r['gpu_name'] or 'this GPU'} (compute capability {r['cc_major']}.{r['cc_minor']}) has no "
            "DRAM counters, so its DRAM bytes cannot be measured"
        ),
        advice="Judge memory traffic by L2 (misses x 32 bytes as a proxy); collecting again brings no DRAM bytes.",
    )
