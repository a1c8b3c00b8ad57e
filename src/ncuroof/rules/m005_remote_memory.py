"""M005 remote-memory: data comes from host memory or from another GPU.

What it does
    Finds kernels that move much of their data over PCIe, NVLink or C2C and not from this GPU's DRAM.

Why it matters
    A PCIe link is fifty times slower than HBM. With a twentieth of the traffic remote, the link and not the DRAM roof
    sets the time, and the kernel's place under that roof means nothing.

How it decides
    Bytes that missed L2 towards host memory or a peer are more than 5 % of those plus the DRAM bytes, and at the speed
    of the fastest such link they take a tenth of the kernel's time. Launching alone writes some kilobytes to the host.

What to do
    Copy the data once (cudaMemcpyAsync, cudaMemPrefetchAsync) and overlap that with other work; use managed memory with
    prefetch and advice; read remote data in large coalesced pieces.

When it is wrong
    Zero-copy on purpose, for data that is touched once: then the link's speed is the roof to hold it against.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M005"
NAME = "remote-memory"
SEVERITY = "warning"
NEEDS = ("duration_s", ("sysmem_bytes", "peer_bytes"), "dram_bytes")
TIER = "full"
LIMITS = {
    "share": Limit(
        0.05,
        "1",
        "of all bytes that leave L2: a link 20 times slower than DRAM then takes as long as DRAM",
        "PCIe 5 x16 64 GB/s against 1 TB/s and more",
    ),
    "time": Limit(0.10, "1", "of the kernel's time, at the speed of the fastest link", "judgement"),
    "pcie": Limit(64e9, "byte/s", "PCIe 5 x16, one direction; older links are slower", "PCI-SIG"),
    "nvlink": Limit(900e9, "byte/s", "NVLink 4 and NVLink-C2C, both directions", "H100 and GH200 data sheets"),
}

ADVICE = (
    "Copy or prefetch the data to this GPU before the kernel and overlap that with other work; hold what must stay "
    "remote against the link's bandwidth."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels with much remote traffic; see the module's documentation."""
    host, peer = pl.col("sysmem_bytes").fill_null(0), pl.col("peer_bytes").fill_null(0)
    # Grace boards reach host memory over C2C; peers are reached over NVLink where there is one.
    coherent = pl.col("gpu_name").str.contains(r"GH200|GB200|GB300|GB10\b").fill_null(value=False)
    link = pl.when(coherent).then(limits["nvlink"]).otherwise(limits["pcie"])
    remote = host + peer
    hit = (
        kernels.with_columns(
            _remote_bytes=remote,
            _share=remote / (remote + pl.col("dram_bytes")),
            _link_s=host / link + peer / limits["nvlink"],
        )
        .filter(
            (pl.col("_share") > limits["share"])
            & (pl.col("_link_s") >= limits["time"] * pl.col("duration_s"))
            & (pl.col("duration_s") > 0)
        )
        .with_columns(_stake=pl.min_horizontal("_link_s", "duration_s"))
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence="medium",
        evidence=[
            Evidence("sysmem_bytes", "byte", "dram_bytes"),
            Evidence("peer_bytes", "byte", "dram_bytes"),
            Evidence("_link_s", "s", "duration_s", "those bytes at the speed of the fastest link; limit: duration"),
        ],
    )


def _message(k: Row) -> str:
    parts = [
        f"{si(k[column], 'byte')} {name}"
        for column, name in (("sysmem_bytes", "of host memory"), ("peer_bytes", "of another GPU"))
        if k[column]
    ]
    return (
        f"moves {' and '.join(parts)}, {percent(100 * k['_share'])} of all that leaves L2: the link takes at least "
        f"{si(k['_link_s'], 's')} of {si(k['duration_s'], 's')}"
    )
