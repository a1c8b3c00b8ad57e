"""Which launch belongs to which."""

from __future__ import annotations

import polars as pl
import pytest
from tests.builders import frame, kernel

from ncuroof.compare import launches, matching

GEMM = {"op": "gemm", "op_dtype": "fp16", "op_shape": '{"k":64,"m":8,"n":64}'}


def matched(base, head):
    """(name and grid in base, in head, how) of each pair."""
    old, new = (launches.distinct(frame(rows)) for rows in (base, head))
    pairs = matching.match(old, new)
    names = [pl.format("{} {}", "name", "grid_x")]
    return [
        (old.select(names).item(b, 0), new.select(names).item(h, 0), how)
        for b, h, how in pairs.select("base", "head", "how").iter_rows()
    ]


def test_repeated_launches_are_one_row():
    rows = [kernel(kernel_name="a", duration_s=d) for d in (1e-4, 3e-4, 2e-4)] + [kernel(kernel_name="b")]
    table = launches.distinct(frame(rows))
    assert table["name"].to_list() == ["a", "b"]
    first = table.row(0, named=True)
    assert first["launches"] == first["timed"] == 3
    assert first["durations"] == [1e-4, 3e-4, 2e-4]
    assert first["median_s"] == 2e-4
    assert first["total_s"] == pytest.approx(6e-4)
    assert first["rows"] == [0, 1, 2]
    # ln deviations from the median: ln 2, ln 1.5, 0; their median is ln 1.5 = 0.40547, times 1.4826.
    assert first["spread"] == pytest.approx(0.60114, rel=1e-4)
    assert table.row(1, named=True)["spread"] is None


def test_launches_without_a_duration_are_counted_but_not_timed():
    table = launches.distinct(frame([kernel(), kernel(duration_s=None), kernel(duration_s=0.0)]))
    row = table.row(0, named=True)
    assert (row["launches"], row["timed"], row["durations"]) == (3, 1, [1e-4])


def test_name_shape_and_annotation_must_agree():
    base = [kernel(kernel_name="a"), kernel(kernel_name="a", grid_x=8), kernel(kernel_name="a", **GEMM)]
    head = [kernel(kernel_name="a", **GEMM), kernel(kernel_name="a", grid_x=8), kernel(kernel_name="a")]
    assert matched(base, head) == [
        ("a 4096", "a 4096", matching.SAME),
        ("a 8", "a 8", matching.SAME),
        ("a 4096", "a 4096", matching.SAME),
    ]


def test_other_circumstances_still_match_so_that_they_can_be_named():
    assert matched([kernel(gpu_name="H100")], [kernel(gpu_name="A100")]) == [
        ("saxpy 4096", "saxpy 4096", matching.SAME)
    ]


def test_with_two_gpus_each_finds_its_own():
    base = [kernel(gpu_name="A100", grid_x=4096), kernel(gpu_name="H100")]
    head = [kernel(gpu_name="H100"), kernel(gpu_name="A100")]
    old, new = (launches.distinct(frame(rows)) for rows in (base, head))
    assert matching.match(old, new).select("base", "head").rows() == [(1, 0), (0, 1)]


def test_an_annotation_on_one_side_only_is_overlooked_but_another_one_is_not():
    other = GEMM | {"op_shape": '{"k":64,"m":16,"n":64}'}
    assert matched([kernel()], [kernel(**GEMM)]) == [("saxpy 4096", "saxpy 4096", matching.UNANNOTATED)]
    assert matched([kernel(**other)], [kernel(**GEMM)]) == []


def test_a_reshaped_launch_matches_where_it_is_the_only_one():
    assert matched([kernel(grid_x=64)], [kernel(grid_x=128)]) == [("saxpy 64", "saxpy 128", matching.RESHAPED)]
    assert matched([kernel(grid_x=64)], [kernel(grid_x=128), kernel(grid_x=256)]) == []


def test_several_reshaped_launches_match_in_order():
    base = [kernel(grid_x=64), kernel(grid_x=65)]
    head = [kernel(grid_x=128), kernel(grid_x=130)]
    assert matched(base, head) == [
        ("saxpy 64", "saxpy 128", matching.RESHAPED),
        ("saxpy 65", "saxpy 130", matching.RESHAPED),
    ]


def test_template_arguments_may_change():
    base = kernel(kernel_name="gemm", kernel_demangled="void gemm<64, 64>(float*)")
    head = kernel(kernel_name="gemm", kernel_demangled="void gemm<128, 64>(float*)")
    assert [how for *_, how in matched([base], [head])] == [matching.RESHAPED]


def test_another_kernel_for_the_same_annotated_work():
    base, head = kernel(kernel_name="cutlass_64", **GEMM), kernel(kernel_name="nvjet", grid_x=7, **GEMM)
    assert matched([base], [head]) == [("cutlass_64 4096", "nvjet 7", matching.REPLACED)]
    assert matched([kernel(kernel_name="a")], [kernel(kernel_name="b")]) == []


def test_unknown_shapes_match_each_other():
    nothing = dict.fromkeys(("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"))
    assert [how for *_, how in matched([kernel(**nothing)], [kernel(**nothing)])] == [matching.SAME]
