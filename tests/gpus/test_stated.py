"""The GPU as the user states it completes exports without a name and leaves the others alone."""

from __future__ import annotations

import polars as pl
import pytest

from ncuroof import gpus
from ncuroof.errors import UsageError

SCHEMA = {
    "gpu_name": pl.String,
    "cc_major": pl.UInt32,
    "cc_minor": pl.UInt32,
    "sm_count": pl.Float64,
    "dram_size_bytes": pl.Float64,
}


def test_only_what_is_missing_is_filled_in():
    frame = pl.DataFrame([(None, None, None, None, None), ("Tesla T4", 7, 5, 40.0, None)], schema=SCHEMA, orient="row")
    stated = gpus.state(frame, "H100-PCIe").rows()
    assert stated == [("NVIDIA H100 PCIe", 9, 0, 114.0, 80 * 2.0**30), ("Tesla T4", 7, 5, 40.0, None)]


def test_a_known_compute_capability_is_kept():
    frame = pl.DataFrame([(None, 9, 0, 132.0, None)], schema=SCHEMA, orient="row")
    assert gpus.state(frame, "H100-PCIe")["sm_count"].to_list() == [132.0]


@pytest.mark.parametrize("text", ["Voodoo 2", "RTX"])
def test_what_names_no_gpu_is_refused(text):
    with pytest.raises(UsageError, match="--gpu"):
        gpus.state(pl.DataFrame(schema=SCHEMA), text)
