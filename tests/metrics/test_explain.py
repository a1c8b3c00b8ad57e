"""The explanation of one kernel's quantities."""

from __future__ import annotations

import pytest
from tests.metrics.conftest import launch, long

from ncuroof.metrics import explain, render

BASIC = {
    "gpu__time_duration.sum": 10_000.0,
    "dram__cycles_active.avg.pct_of_peak_sustained_elapsed": 40.0,
    "dram__cycles_elapsed.avg.per_second": 1e9,
    "device__attribute_fb_bus_width": 4096.0,
    "lts__t_sectors.sum": 8.0,
}


def of(name, values=None, cc="8.0"):
    entries = explain(launch(cc), long(BASIC if values is None else values))
    (entry,) = (e for e in entries if e.quantity == name)
    return entry


def test_the_chosen_expression_and_the_better_ones_that_were_missing():
    entry = of("dram_bytes")
    assert entry.value == pytest.approx(4_096_000)
    assert entry.source == "cycles_active%"
    assert entry.expression == (
        "dram__cycles_active.avg.pct_of_peak_sustained_elapsed × 0.0025 × memory_bus_bits × dram_hz × duration_s"
    )
    assert "270 of 270" in entry.cite
    first = entry.missed[0]
    assert first.expression == "(dram_read_bytes + dram_write_bytes)"
    assert first.lacks == ("dram_read_bytes", "dram_write_bytes")
    assert of("dram_read_bytes").missed[0].lacks == ("dram__bytes_read.sum",)


def test_a_candidate_for_other_chips_says_so():
    reasons = {m.expression: m.reason for m in of("l2_bytes").missed}
    assert reasons["lts__t_sectors.sum × 32"] == "not for this chip or version"


def test_an_unknown_quantity_lists_all_candidates():
    entry = of("duration_s", {})
    assert (entry.value, entry.source, entry.expression) == (None, None, None)
    assert len(entry.missed) > 5


def test_a_value_that_was_refused_says_so():
    entry = of("duration_s", {"gpu__time_duration.sum": 0.0})
    assert entry.missed[0].reason == "gives no usable value"


def test_flags_and_texts():
    assert of("dram_counters_absent", cc="8.7").value is True
    assert of("path_hint").value is None


def test_weights_and_optional_terms_are_shown():
    assert of("flop_fp32").missed[0].expression == "(fp32_add + fp32_mul + 2·fp32_fma)"
    shown = [m.expression for m in of("l2_bytes", {}).missed]
    assert "(lts__t_sectors.sum − lts__t_sectors_srcunit_ltcfabric.sum) × 32" in shown


def test_counts_per_instruction_are_asked_for_by_the_name_of_their_metric():
    lacks = [name for m in of("fp32_fma").missed for name in m.lacks]
    assert "sass__thread_inst_executed_true_per_opcode_with_modifier_all" in lacks
    assert not [name for name in lacks if name.startswith("opcode:")]


def test_one_launch_only():
    with pytest.raises(ValueError, match="one launch"):
        explain(launch().vstack(launch(index=1)), long({}))


def test_rendered_text():
    text = render(explain(launch("8.0"), long(BASIC)))
    assert "duration_s = 1e-05 s  [counter]\n    = gpu__time_duration.sum × 1e-09" in text
    assert "dram_bytes = 4096000 byte  [cycles_active%]" in text
    assert "lacks dram_read_bytes, dram_write_bytes" in text
    assert "lacks dram__bytes_read.sum" in text
    assert "flop_fp32: unknown" in text
    assert "_ops_src_fp64" not in text
    assert "_ops_src_fp64" in render(explain(launch("8.0"), long(BASIC)), intermediates=True)
