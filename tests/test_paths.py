"""The table of compute paths."""

from __future__ import annotations

import polars as pl

from ncuroof import paths
from ncuroof.metrics import kernel_columns


def test_columns_of_every_path_exist_in_the_kernels_table():
    names = {c.name for c in kernel_columns()}
    for path in paths.PATHS:
        assert {path.work, path.peak} <= names


def test_what_a_path_is():
    assert [p.name for p in paths.INTEGER] == ["int8", "int4", "int1"]
    assert [p.name for p in paths.PATHS if not p.tensor] == ["fp64", "fp32", "fp16_vector"]
    assert (paths.BY_NAME["int8"].work, paths.BY_NAME["int8"].peak, paths.BY_NAME["int8"].rate) == (
        "op_int8",
        "peak_op_s_int8",
        "op/s",
    )
    assert (paths.BY_NAME["tf32"].work, paths.BY_NAME["tf32"].rate) == ("flop_tf32", "FLOP/s")


def test_pick_takes_the_column_of_the_row_s_own_path():
    columns = {p.work: [float(i)] * 3 for i, p in enumerate(paths.PATHS)}
    frame = pl.DataFrame({"path": ["fp64", "int1", None], **columns})
    assert frame.select(paths.pick(lambda p: p.work)).to_series().to_list() == [0.0, 12.0, None]


def test_first_goes_in_the_order_of_the_table():
    columns = {p.work: [1.0 if p.name in {"bf16", "tf32"} else None, None] for p in paths.PATHS}
    frame = pl.DataFrame(columns, schema_overrides=dict.fromkeys(columns, pl.Float64))
    assert frame.select(paths.first(lambda p: pl.col(p.work) > 0)).to_series().to_list() == ["tf32", None]
