"""Agreement with Nsight Compute's own rules over a folder of reports, rule by rule.

    python benchmarks/rule_agreement.py FOLDER [--differences]

Two tables. The first holds each rule's own test, with NVIDIA's threshold, against ours on our columns: it shows whether
both read the same numbers, and should agree nearly everywhere. The second holds their messages against our findings,
which have further guards, and counts why they differ: the first cause in the list that is true of the kernel.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ncuroof import pipeline, rules, verdict_words, verdicts
from ncuroof.config import Config
from ncuroof.rules import _context, _stalls

C = pl.col
SPOKEN = ("optimization", "warning")


@dataclass(frozen=True)
class Pair:
    """One rule of theirs and what we have for the same thing.

    Attributes:
        name: what both are about.
        ids: identifiers of their rule in all versions.
        text: regular expression that their message must match to count as this finding.
        test: their test, on our columns.
        codes: our rules.
        causes: why we are silent where they speak, in this order: label and condition.
        more: why we speak where they are silent.
    """

    name: str
    ids: tuple[str, ...]
    text: str
    test: pl.Expr
    codes: tuple[str, ...]
    causes: tuple[tuple[str, pl.Expr], ...] = ()
    more: tuple[tuple[str, pl.Expr], ...] = ()


SHORT = ("within three launch floors (T001 judges it)", C("duration_s") < _context.MATTERS_FLOORS * C("_floor_s"))
LAUNCH = ("near the launch floor (T001 judges it)", ~verdicts.beyond_launch(C("_floor_s")))
SMALL = ("under 1 % of the report's time", C("_kernel_share") < _context.MATTERS_SHARE)
UNTIMED = ("no duration", C("duration_s").is_null())
BUSY = ("a roof or unit is 60 % busy: nothing to hide", C("_used_pct") >= verdicts.HIGH_PCT)
TENSOR = ("on tensor cores by design", C("_tensor"))
UNFILLED = ("fewer blocks than SMs (T002 judges it)", C("grid_blocks") < C("_sms"))
ALONE = ("one SM in ten has a block (T002 judges it)", C("grid_blocks") <= 0.1 * C("_sms"))
PARTIAL = ("less than one wave", C("waves") < 1)
TAIL = ("the last wave explains it (T003 judges it)", C("_wave_loss") >= 0.1)
MEMORY = ("memory-bound: costs no time", C("verdict") == verdicts.MEMORY)
COMPUTE = ("compute-bound: costs no time", C("verdict") == verdicts.COMPUTE)
BASIC = (UNTIMED, SHORT, SMALL)

_theory, _achieved = C("occupancy_theoretical_pct"), C("occupancy_achieved_pct")
_whole = C("waves").floor()
# Until 2024 they also looked at the occupancy that was lost: "... with a lower occupancy of 52.5 %".
_from_2025 = C("ncu_version").str.extract(r"^(\d+)").cast(pl.Int32) >= 2025
_imbalance = pl.max_horizontal(
    (C(f"{unit}_cycles_active_max") - C(f"{unit}_cycles_active_avg")) / C(cycles)
    for unit, cycles in (
        ("sm", "sm_cycles"),
        ("smsp", "smsp_cycles"),
        ("l1", "sm_cycles"),
        ("l2_slice", "lts_cycles"),
        ("dram", "dram_cycles"),
    )
)
_plain32, _plain64 = (
    (C(f"{p}_add") + C(f"{p}_mul")) / C(f"{p}_fma").add(C(f"{p}_add") + C(f"{p}_mul")) / 2 for p in ("fp32", "fp64")
)
_excess = C("l2_sectors_global_excess") / C("l2_sectors_global")
_passes = C("shared_wavefronts_ld") + C("shared_wavefronts_st")
_conflicts = pl.when(_passes == 0).then(0.0).otherwise((C("bank_conflicts_ld") + C("bank_conflicts_st")) / _passes)
_shared_excess = C("shared_wavefronts") - C("shared_wavefronts_ideal")
_active = pl.min_horizontal("threads_per_inst", "threads_pred_on_per_inst")

PAIRS = (
    Pair(
        "theoretical occupancy",
        ("TheoreticalOccupancy", "Occupancy"),
        r"theoretical occupancy \([\d.]+%\) is limited",
        _theory < 80,
        ("T005",),
        (
            *BASIC,
            UNFILLED,
            BUSY,
            TENSOR,
            PARTIAL,
            ("achieved is far below it (T006)", _achieved < _theory - 10),
            ("schedulers issue enough", C("issue_active") >= 0.6),
            ("how busy the units are is not known", C("_used_pct").is_null()),
        ),
    ),
    Pair(
        "achieved occupancy",
        ("AchievedOccupancy", "Occupancy"),
        "difference between calculated theoretical",
        _theory - _achieved > 10,
        ("T006",),
        (
            *BASIC,
            UNFILLED,
            BUSY,
            TENSOR,
            PARTIAL,
            TAIL,
            ("how busy the units are is not known", C("_used_pct").is_null()),
        ),
    ),
    Pair(
        "small grid",
        ("LaunchConfiguration",),
        "(?i)only [0-9,]+ blocks?, which is less than",
        C("grid_blocks") < C("_sms"),
        ("T002",),
        (UNTIMED, LAUNCH, SMALL, BUSY, ("under a tenth of the SMs idle", C("grid_blocks") > 0.9 * C("_sms"))),
    ),
    Pair(
        "tail effect",
        ("LaunchConfiguration",),
        "A wave of thread blocks is defined",
        (_whole >= 1) & (C("waves") > _whole) & (1 / (1 + _whole) >= 0.2) & (_from_2025 | (_achieved / _theory < 0.8)),
        ("T003",),
        (
            *BASIC,
            ("the partial wave itself costs under 10 %", C("_wave_loss") < 0.1),
            ("a roof or unit leaves less than that", C("_used_pct") > 90),
            ("the SMs' activity shows less", C("_tail_loss") < 0.1),
        ),
        (
            ("until 2024 they asked for lost occupancy as well", ~_from_2025),
            ("their loss ends at 4 full waves", _whole >= 5),
        ),
    ),
    Pair(
        "block size no multiple of 32",
        ("LaunchConfiguration",),
        "not evenly divisible|groups of 32 threads called warps",
        C("block_threads") % 32 != 0,
        ("W003",),
        (*BASIC, ("lanes were not counted", _active.is_null()), MEMORY),
        (("lanes idle for another reason: divergence", pl.lit(True)),),
    ),
    Pair("divergence", ("ThreadDivergence",), ".", _active < 24, ("W003",), (*BASIC, TENSOR, MEMORY, ALONE)),
    Pair(
        "uncoalesced global access",
        ("UncoalescedGlobalAccess",),
        "(?i)uncoalesced global access",
        C("l2_sectors_global_excess") > 0,
        ("M001",),
        (
            *BASIC,
            ("under 10 % of the sectors", _excess < 0.1),
            COMPUTE,
            ("under 5 % of the time at stake", pl.lit(True)),
        ),
    ),
    Pair(
        "bank conflicts",
        ("SharedMemoryConflicts",),
        ".",
        _conflicts >= 0.1,
        ("M003",),
        (*BASIC, ("shared memory is not what it waits for", pl.lit(True))),
    ),
    Pair(
        "uncoalesced shared access",
        ("UncoalescedSharedAccess",),
        "uncoalesced shared accesses",
        _shared_excess > 0,
        ("M003",),
        (
            *BASIC,
            ("under 10 % of the passes", _shared_excess / C("shared_wavefronts") < 0.1),
            ("shared memory is not what it waits for", pl.lit(True)),
        ),
    ),
    Pair(
        "cache access pattern, L1 global",
        ("MemoryCacheAccessPattern",),
        "(?s)global (loads|stores).*bytes transmitted per sector",
        (C("bytes_per_sector_ld").is_between(1e-9, 31.99)) | (C("bytes_per_sector_st").is_between(1e-9, 31.99)),
        ("M001", "M002"),
        (
            *BASIC,
            (
                "more than half of each sector is used",
                pl.min_horizontal("bytes_per_sector_ld", "bytes_per_sector_st") > 16,
            ),
            COMPUTE,
            ("under 5 % of the time at stake", pl.lit(True)),
        ),
        (
            (
                "M001 counts sectors an instruction, which they print under another rule",
                C("bytes_per_sector_ld").is_null(),
            ),
            ("M001: loads are whole, addresses are not side by side", pl.lit(True)),
        ),
    ),
    Pair(
        "bottleneck: latency or small grid",
        ("SOLBottleneck",),
        "low compute throughput and memory bandwidth|too small to fill",
        (C("sm_pct") < 60) & (C("memory_pct") < 60),
        ("latency-bound", "overhead-bound"),
        (
            ("too short for counters: cannot say", C("duration_s") < verdicts.TOO_SHORT_S),
            ("our roof is reached to 60 %", C("roof_pct") >= 60),
            ("our bandwidth roof is reached to 60 %", C("memory_roof_pct") >= 60),
            ("L1 reaches 60 %: the memory throughput of CC 7.5 shows half of it", C("l1_pct") >= 60),
        ),
    ),
    Pair(
        "bottleneck: high throughput",
        ("SOLBottleneck",),
        "utilizing greater than 80",
        pl.max_horizontal("sm_pct", "memory_pct") >= 80,
        ("memory-bound", "compute-bound"),
        (),
        (("busy begins at 60 % here", pl.lit(True)),),
    ),
    Pair(
        "stall reason",
        ("CPIStall", *(f"CPIStall{n}" for n in ("LongScoreboard", "Wait", "Barrier", "ImcMiss"))),
        "spends [\\d.]+ cycles being stalled",
        (_stalls.largest() > 0.3) & (C("issue_active") < 0.8),
        ("T008",),
        (*BASIC, BUSY, UNFILLED),
    ),
    Pair(
        "non-fused arithmetic",
        ("FPInstructions",),
        "non-fused",
        pl.max_horizontal(_plain32.fill_nan(0.0), _plain64.fill_nan(0.0)) > 0.1,
        ("W004",),
        (*BASIC, MEMORY, ("arithmetic is not the limit", pl.lit(True))),
    ),
    Pair(
        "imbalance",
        ("WorkloadImbalance",),
        ".",
        _imbalance >= 0.05,
        ("T004",),
        (*BASIC, UNFILLED, TAIL, ("under 15 %", _imbalance < 0.15)),
    ),
)


GOOD = ("bottleneck: high throughput",)
"""Messages of theirs that are of type "ok" and yet say something."""


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--differences", action="store_true", help="list the kernels on which the tests themselves differ"
    )
    options = parser.parse_args()
    loaded = pipeline.load_all([options.folder])
    if loaded.dataset is None:
        sys.stderr.write("nothing could be read\n")
        return 2
    analysis = pipeline.analyze(loaded.dataset, Config(nsight="hide"))
    kernels = _context.add(analysis.kernels)
    found = analysis.findings.filter(pl.col("severity") != "note")
    known = {r.CODE for r in rules.rules()}
    print(f"{kernels.height} kernels of {kernels['source_sha256'].n_unique()} reports\n")
    print(f"{'test with their threshold':36}{'judged':>8}{'both':>6}{'ours':>6}{'theirs':>8}{'agree':>8}")
    rows = []
    for pair in PAIRS:
        assert all(c in known or c in verdict_words.WORDS for c in pair.codes), pair.codes  # noqa: S101
        frame = _judged(kernels, analysis.dataset.rules, found, pair)
        tested = frame.filter(pl.col("test").is_not_null())
        ours, theirs = tested["test"], tested["theirs"]
        both, only_ours, only_theirs = (ours & theirs).sum(), (ours & ~theirs).sum(), (~ours & theirs).sum()
        agree = 100 * (1 - (only_ours + only_theirs) / tested.height) if tested.height else float("nan")
        print(f"{pair.name:36}{tested.height:8}{both:6}{only_ours:6}{only_theirs:8}{agree:7.1f}%")
        rows.append((pair, frame))
        if options.differences:
            for r in tested.filter(ours != theirs).select("source", "kernel_name", "test", "theirs").iter_rows():
                print(f"    {r[0]} {r[1]}: ours {r[2]}, theirs {r[3]}")
    print(f"\n{'findings, with our guards':36}{'both':>6}{'ours':>6}{'theirs':>8}")
    for pair, frame in rows:
        ours, theirs = frame["finding"], frame["theirs"]
        only, silent = frame.filter(ours & ~theirs), frame.filter(~ours & theirs)
        print(f"{pair.name:36}{(ours & theirs).sum():6}{only.height:6}{silent.height:8}")
        for label, those, causes in (("only ours", only, pair.more), ("only theirs", silent, pair.causes)):
            for cause, count in _causes(those, causes):
                print(f"    {label + ':':13}{count:4}  {cause}")
    return 0


def _judged(kernels: pl.DataFrame, theirs: pl.DataFrame, found: pl.DataFrame, pair: Pair) -> pl.DataFrame:
    """The kernels that their rule judged, with ``theirs``, ``test`` (null: not known to us) and ``finding``."""
    key = ["source_sha256", "result_index"]
    mine = theirs.filter(pl.col("rule_id").is_in(list(pair.ids)))
    types = (*SPOKEN, "ok") if pair.name in GOOD else SPOKEN
    said = pl.col("message_type").is_in(list(types)) & pl.col("text").str.contains(pair.text)
    judged = (
        mine.group_by(key)
        .agg(theirs=said.fill_null(value=False).any(), failed=(pl.col("message_type") == "error").any())
        .filter(~pl.col("failed").fill_null(value=False))
    )
    codes = list(pair.codes)
    finding = (
        pl.col("verdict").is_in(codes)
        if codes[0] in verdict_words.WORDS
        else pl.col("row").is_in(found.filter(pl.col("code").is_in(codes))["row"].drop_nulls().to_list())
    )
    return kernels.join(judged, on=key).with_columns(test=pair.test, finding=finding)


def _causes(those: pl.DataFrame, causes: tuple[tuple[str, pl.Expr], ...]) -> list[tuple[str, int]]:
    """How many of the kernels each cause explains, the first that holds; most frequent first."""
    if those.is_empty():
        return []
    label: pl.Expr = pl.lit("unexplained")
    for name, holds in reversed((*causes, ("the file holds their message, not the counters", C("test").is_null()))):
        label = pl.when(holds.fill_null(value=False)).then(pl.lit(name)).otherwise(label)
    labelled = those.with_columns(c=label)
    return list(labelled.group_by("c").len().sort("len", "c", descending=True).iter_rows())


if __name__ == "__main__":
    sys.exit(main())
