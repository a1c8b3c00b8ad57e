"""D001 to D007: one note per report, with the kernels it concerns counted."""

from __future__ import annotations

import pytest
from tests.rules.frames import placed, run

from ncuroof import rules
from ncuroof.config import Config

OTHER = {"source": "other.ncu-rep", "source_sha256": "1" * 64}
COUNTED = {"duration_s": 1e-4, "dram_bytes": 1e6, "flop_fp32": 1e6, "flop_fp16": 0.0}


def messages(code, *rows):
    return run(code, *rows).findings.sort("source", descending=True)["message"].to_list()


@pytest.mark.parametrize(
    ("code", "bad", "good"),
    [
        ("D001", {"dram_bytes": None}, {}),
        ("D001", {"dram_bytes": None}, {"dram_bytes": None, "dram_counters_absent": True}),
        ("D002", {"flop_fp32": None, "flop_fp16": None}, {}),
        ("D003", {"dram_bytes": None, "dram_counters_absent": True}, {"dram_bytes": None}),
        ("D004", {"clock_control": "base", "sm_hz": 1.4e9, "clock_max_hz": 2e9}, {"clock_control": "none"}),
        ("D004", {"clock_control": "base"}, {"clock_control": "base", "sm_hz": 1.95e9, "clock_max_hz": 2e9}),
        ("D005", {"duration_s": None}, {}),
        ("D005", {"duration_s": 0.0}, {}),
        ("D006", {"cache_control": "all", "l2_size_bytes": 5e7}, {"cache_control": "none", "l2_size_bytes": 5e7}),
        ("D006", {"cache_control": "all", "l2_size_bytes": 5e7}, {"cache_control": "all", "l2_size_bytes": 5e5}),
    ],
)
def test_counts_the_kernels_it_concerns(code, bad, good):
    found = run(code, COUNTED | bad, COUNTED | bad, COUNTED | OTHER | good).findings
    assert found["source"].to_list() == ["run.ncu-rep"]
    assert found["severity"].to_list() == ["note"]
    assert found["row"].to_list() == [None]
    assert found["message"][0].startswith("all 2 kernels: ")
    assert found["evidence"][0][0]["value"] == 2.0


def test_one_note_per_report():
    gap = COUNTED | {"dram_bytes": None}
    assert messages("D001", gap, COUNTED, COUNTED, gap | OTHER) == [
        "1 of 3 kernels: no DRAM byte counters, so no arithmetic intensity and no bandwidth roof",
        "the kernel: no DRAM byte counters, so no arithmetic intensity and no bandwidth roof",
    ]


def test_a_shape_places_a_kernel_without_byte_counters():
    (message,) = messages("D001", {"duration_s": 1e-4, "compulsory_bytes": 1e6})
    assert message == "the kernel: no DRAM byte counters; placed by the bytes that the annotated shape demands"


def test_locked_clocks_say_how_far_below_the_maximum():
    row = COUNTED | {"clock_control": "base", "clock_control_source": "command line", "clock_max_hz": 2e9}
    (message,) = messages("D004", row | {"sm_hz": 1.0e9}, row | {"sm_hz": 1.4e9}, row | {"sm_hz": 1.5e9})
    assert message == "all 3 kernels: clocks locked to base (command line): the SM clock ran at 70 % of its maximum"


def test_skips_are_summed_up_by_tier():
    frame = placed({"duration_s": 1e-4}, {"duration_s": 1e-4, "sm_pct": 10.0, "l2_hit_pct": 20.0})
    outcome = rules.run(frame, Config(select=("R001", "T001", "D007")))
    (note,) = outcome.findings.to_dicts()
    assert note["code"] == "D007"
    assert note["message"] == "2 rules could not judge 1 kernel for want of counters: R001, T001"
    assert "roofline" in note["advice"]


def test_nothing_to_sum_up_is_silence():
    frame = placed(COUNTED | {"sm_pct": 10.0, "l2_hit_pct": 20.0})
    assert rules.run(frame, Config(select=("R001", "D007"))).findings.is_empty()
