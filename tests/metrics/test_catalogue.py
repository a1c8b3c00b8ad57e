"""The counter tables: what ships is sound, what is malformed is refused, and the README of a row holds."""

from __future__ import annotations

import pytest
from tests.metrics.conftest import launch, long

from ncuroof import tables
from ncuroof.errors import RegistryError
from ncuroof.metrics import build_kernels, functions, kernel_columns, required_metrics
from ncuroof.metrics.catalogue import in_order, parse_quantity, quantities
from ncuroof.paths import PATHS

ROW = {"name": "q", "unit": "byte", "meaning": "something"}


def quantity(*candidates, **more):
    return parse_quantity(ROW | {"candidates": list(candidates)} | more)


def test_every_quantity_says_what_it_is():
    for q in quantities():
        assert q.meaning, q.name
        assert q.candidates, q.name
        assert q.kind in {"number", "flag", "text"}, q.name


def test_every_function_exists():
    known = functions.REGISTRY.keys() | functions.TEXT_REGISTRY.keys()
    used = {c.function for q in quantities() for c in q.candidates if c.function}
    assert used == known


WANTED = """
    duration_s duration_s_source sm_hz dram_hz sm_cycles smsp_cycles sm_count sm_count_launch clock_max_hz
    memory_clock_hz memory_bus_bits l2_size_bytes dram_size_bytes int_op fp32_add fp32_mul fp32_fma fp64_add
    fp64_mul fp64_fma fp16_add fp16_mul fp16_fma peak_bytes_s_dram peak_bytes_s_l2 peak_bytes_s_l1 dram_bytes
    dram_bytes_source dram_read_bytes dram_write_bytes l2_bytes l1_bytes shared_bytes sysmem_bytes peer_bytes
    l1_hit_pct l2_hit_pct l2_hit_raw_pct sm_pct memory_pct dram_pct l2_pct l1_pct tensor_pct issue_active
    occupancy_theoretical_pct occupancy_achieved_pct occupancy_limit_registers occupancy_limit_shared
    occupancy_limit_warps occupancy_limit_blocks occupancy_limit_barriers waves grid_blocks block_threads
    registers_per_thread shared_static_bytes shared_dynamic_bytes threads_per_inst threads_pred_on_per_inst
    bytes_per_sector_ld bytes_per_sector_st sectors_per_request_ld sectors_per_request_st l2_sectors_global
    l2_sectors_global_ideal bank_conflicts_ld bank_conflicts_st shared_wavefronts_ld shared_wavefronts_st
    local_ld_inst local_st_inst local_sectors l2_atomic_sectors l2_red_sectors sm_cycles_active_avg
    sm_cycles_active_max sm_cycles_active_min stall_long_scoreboard stall_barrier stall_no_instruction
    warp_latency passes clock_ratio dram_counters_absent op_int8 op_int4 op_int1 peak_op_s_int8 peak_flop_s_fp32
    peak_flop_s_fp64 peak_flop_s_fp16_vector
"""


def test_columns_that_other_parts_build_on():
    names = {c.name for c in kernel_columns()}
    wanted = WANTED.split()
    assert [name for name in wanted if name not in names] == []
    for path in PATHS:
        assert path.work in names
        assert f"{path.work}_source" in names


def test_the_frame_has_the_promised_schema():
    frame = build_kernels(launch("9.0"), long({"gpu__time_duration.sum": 5.0}))
    tables.check(frame, kernel_columns(), "kernels")
    assert frame.columns == [c.name for c in kernel_columns()]


def test_no_launch_gives_an_empty_frame_with_the_same_schema():
    frame = build_kernels(launch().clear(), long({}))
    assert frame.height == 0
    tables.check(frame, kernel_columns(), "kernels")


def test_a_result_without_metrics_is_a_row_of_nulls():
    row = build_kernels(launch(), long({})).row(0, named=True)
    assert row["kernel_name"] == "saxpy"
    assert row["duration_s"] is None
    assert row["duration_s_source"] is None


def test_launches_keep_their_order():
    frame = build_kernels(
        launch(index=5).vstack(launch(index=2)),
        long({"gpu__time_duration.sum": 2e9}, index=2).vstack(long({"gpu__time_duration.sum": 5e9}, index=5)),
    )
    assert frame["duration_s"].to_list() == [5.0, 2.0]


def test_required_metrics_hold_every_form_of_a_counter():
    names = required_metrics()
    base = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
    assert {base, f"{base}.per_cycle_elapsed", f"{base}.per_second"} <= names
    assert not [n for n in names if n.startswith("@") or " " in n]


def test_any_gives_alternatives_and_count_gives_forms():
    assert [c.add[0].name for c in quantity({"any": ["a", "b"]}).candidates] == ["a", "b"]
    forms = quantity({"count": ["dram__x"]}).candidates
    assert [(c.add[0].name, c.source) for c in forms] == [
        ("dram__x.sum", "counter"),
        ("dram__x.sum.per_cycle_elapsed", "rate×cycles"),
        ("dram__x.sum.per_second", "rate×time"),
    ]


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"add": ["a"], "any": ["b"]},
        {"add": ["a"], "formula": "a + b"},
        {"add": [["a", 2.0, "maybe"]]},
        {"add": [3]},
        {"add": ["a"], "cc": [["nine", "ten"]]},
        {"add": ["a"], "cc": ["9.0"]},
    ],
)
def test_malformed_candidates_are_refused_with_the_name_of_the_quantity(row):
    with pytest.raises(RegistryError, match="quantity q"):
        quantity(row)


def test_malformed_quantities_are_refused():
    with pytest.raises(RegistryError, match="unknown keys"):
        quantity({"add": ["a"]}, color="red")
    with pytest.raises(RegistryError, match="unit"):
        parse_quantity({"name": "q", "meaning": "", "candidates": [{"add": ["a"]}]})


def test_circles_unknown_and_double_quantities_are_refused():
    def of(name, *needs):
        return parse_quantity(ROW | {"name": name, "candidates": [{"add": [f"@{n}" for n in needs] or ["m"]}]})

    assert [q.name for q in in_order([of("b", "a"), of("a")])] == ["a", "b"]
    with pytest.raises(RegistryError, match="needs itself"):
        in_order([of("a", "b"), of("b", "a")])
    with pytest.raises(RegistryError, match="does not exist"):
        in_order([of("a", "b")])
    with pytest.raises(RegistryError, match="twice"):
        in_order([of("a"), of("a")])
