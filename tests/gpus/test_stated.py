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


NAMED = pl.DataFrame(
    [("NVIDIA H100 80GB HBM3", 9, 0, 132.0, None)] * 2 + [("Tesla T4", 7, 5, 40.0, None), (None, 9, 0, None, None)],
    schema=SCHEMA,
    orient="row",
)


def test_it_is_told_where_the_report_names_another_gpu():
    assert gpus.remarks(NAMED, "H100-PCIe") == [
        "--gpu H100-PCIe was not used for 2 launches: the report names NVIDIA H100 80GB HBM3",
        "--gpu H100-PCIe was not used for 1 launch: the report names Tesla T4",
    ]


def test_nothing_is_told_where_the_report_names_the_same():
    assert gpus.remarks(NAMED.head(2), "H100-SXM") == []
    assert gpus.remarks(NAMED.head(2), "H100") == []
    assert gpus.remarks(NAMED.tail(1), "H100-PCIe") == []


def test_a_family_is_told_as_what_it_was_taken_for():
    (told,) = gpus.remarks(NAMED.tail(1), "H100")
    assert told.startswith("--gpu H100 is taken as H100 SXM5 80 GB; others of that name: h100-pcie-80gb")
