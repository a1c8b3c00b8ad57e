"""Agreement over the whole corpus of public reports: between sources, with a second reader, with Nsight's texts."""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict

import numpy as np
import polars as pl
import pytest

from ncuroof import inputs, metrics, readers
from ncuroof.errors import NcuroofError
from ncuroof.metrics.catalogue import quantities
from ncuroof.metrics.engine import applies, context, evaluate, value_of


@pytest.fixture(scope="session")
def chunks(corpus):
    """Every binary report as (file name, chunks)."""
    found = []
    for path in sorted((corpus / "reports").iterdir()):
        try:
            file = inputs.open_input(path)
            reader, why = readers.choose(file)
            found.append((path.name, list(reader.read(file, why, metrics.required_metrics()).chunks)))
        except NcuroofError:
            continue  # the cut and pointer files of the corpus
    return found


@pytest.fixture(scope="session")
def kernels(chunks):
    """The kernels table of all of them, with the file's name."""
    return pl.concat(metrics.kernels_from([c]).with_columns(file=pl.lit(name)) for name, part in chunks for c in part)


def every_way(name, chunk):
    """Each candidate of a quantity with its values over a chunk's launches."""
    of = context(chunk.launches, chunk.metrics)
    with np.errstate(all="ignore"):
        for quantity in quantities():
            evaluate(quantity, of)
            if quantity.name == name:
                for candidate in quantity.candidates:
                    values = value_of(candidate, of)
                    if values is not None:
                        yield candidate, np.where(applies(candidate, of), values, np.nan), of
                return


def test_every_source_of_dram_bytes_agrees_with_every_other(chunks):
    """Counters, sectors, rates and active cycles give the same bytes wherever a report holds two of them.

    Only ``percent×peak`` may be high: it is the maximum over several activities of the memory system.
    """
    compared, off = defaultdict(int), []
    for name, part in chunks:
        for chunk in part:
            ways = list(every_way("dram_bytes", chunk))
            for row in range(chunk.launches.height):
                known = [(c.source, v[row]) for c, v, _ in ways if math.isfinite(v[row])]
                for source, value in known[1:]:
                    first_source, first = known[0]
                    compared[source] += 1
                    if source == "percent×peak":
                        if value < first * 0.999 - 64:
                            off.append((name, row, source, value, first))
                    elif value != pytest.approx(first, rel=1e-6, abs=1e-3):
                        off.append((name, row, first_source, first, source, value))
    assert off == []
    assert compared["cycles_active%"] >= 40
    assert compared["rate×time"] >= 50
    assert compared["percent×peak"] >= 150


def test_every_source_of_cycles_agrees(chunks):
    """Average, sum over instances and clock × time give the same cycles within 0.5 % on launches above 10 µs."""
    compared = 0
    for name, part in chunks:
        for chunk in part:
            ways = list(every_way("smsp_cycles", chunk))
            for row in range(chunk.launches.height):
                known = [v[row] for c, v, _ in ways if c.source != "inherit" and math.isfinite(v[row])]
                if not known or ways[0][2].values["duration_s"][row] < 1e-5:
                    continue
                compared += len(known) - 1
                assert known == pytest.approx([known[0]] * len(known), rel=5e-3), (name, row)
    assert compared >= 40


SPARSE_L2 = "kernels.tsv counts all units' sectors; ours are those of the SMs"
HALF = "kernels.tsv counts a packed half instruction as 1 and a multiply-add as 2, and conversions as additions"
CONVERSIONS = 88_080_384  # HADD2.F32 of the B200 kernel


def test_agrees_with_kernels_tsv(corpus, kernels):
    """A second reader's figures per result; every disagreement is one of two with a known reason."""
    ours = {(r["file"], r["result_index"]): r for r in kernels.iter_rows(named=True)}
    with (corpus / "kernels.tsv").open() as file:
        theirs = [r for r in csv.DictReader(file, delimiter="\t") if r["file"].startswith("reports/")]
    columns = {
        "duration_ns": ("duration_s", 1e9),
        "dram_bytes": ("dram_bytes", 1),
        "l2_hit_pct": ("l2_hit_raw_pct", 1),
        "dram_pct": ("dram_pct", 1),
        "sm_pct": ("sm_pct", 1),
        "smsp_hz": ("sm_hz", 1),
        "fp32_flop": ("flop_fp32", 1),
        "fp64_flop": ("flop_fp64", 1),
        "fp16_flop": ("flop_fp16_vector", 1),
        "l2_bytes": ("l2_bytes", 1),
    }
    unexplained, explained, compared = [], defaultdict(int), 0
    for row in theirs:
        mine = ours[row["file"].removeprefix("reports/"), int(row["action"])]
        for theirs_name, (name, factor) in columns.items():
            text = row[theirs_name]
            if text in {"", "nan"}:
                continue  # where they have nothing, we may have derived something
            compared += 1
            value = None if mine[name] is None else mine[name] * factor
            if value == pytest.approx(float(text), rel=1e-6):
                continue
            if name == "l2_bytes" and value <= float(text):
                explained[SPARSE_L2] += 1
            elif name == "flop_fp16_vector" and value == pytest.approx(2 * (float(text) - CONVERSIONS)):
                explained[HALF] += 1
            else:
                unexplained.append((row["file"], row["action"], name, text, value))
    assert unexplained == []
    assert compared > 1000
    assert explained.keys() == {SPARSE_L2, HALF}


def test_agrees_with_the_texts_of_nsight_compute(chunks):
    """SOLFPRoofline says how much of the FP32 and FP64 peaks a kernel reached, in whole percent."""
    pattern = re.compile(
        r"achieved\s+(?:close to )?(\d+)% of (?:this device.s|its) fp32 peak performance"
        r" and\s+(?:close to )?(\d+)% of its fp64",
        re.IGNORECASE,
    )
    compared = 0
    for name, part in chunks:
        for chunk in part:
            made = metrics.build_kernels(chunk.launches, chunk.metrics)
            for rule in chunk.rules.filter(pl.col("rule_id") == "SOLFPRoofline").iter_rows(named=True):
                said = pattern.search(rule["text"] or "")
                if said is None:
                    continue
                k = made.filter(pl.col("result_index") == rule["result_index"]).row(0, named=True)
                for path, percent in zip(("fp32", "fp64"), said.groups(), strict=True):
                    reached = 100 * k[f"flop_{path}"] / k["duration_s"] / k[f"peak_flop_s_{path}"]
                    assert abs(reached - float(percent)) <= 0.5 + 1e-9, (name, rule["result_index"], path)
                    compared += 1
    assert compared >= 80


def test_no_infinity_no_nan_and_no_negative_quantity(kernels):
    numbers = kernels.select(pl.col(pl.Float64))
    for column in numbers.iter_columns():
        values = column.drop_nulls()
        assert values.is_finite().all(), column.name
        assert (values >= 0).all(), column.name


def test_percentages_stay_percentages(kernels):
    for name in ("l1_hit_pct", "l2_hit_pct", "occupancy_theoretical_pct", "occupancy_achieved_pct"):
        assert kernels[name].drop_nulls().is_between(0, 100.001).all(), name
    assert kernels["l2_hit_raw_pct"].max() > 100  # the corpus has such a case


def test_coverage_of_the_binary_reports(kernels):
    """T wherever a duration was measured, Q wherever any DRAM figure was, W wherever instructions were counted."""
    timed = kernels.filter(pl.col("duration_s").is_not_null())
    assert timed.height == 332  # the other 18 hold none, or NaN
    with_figure = timed.filter(pl.col("dram_pct").is_not_null())
    assert with_figure["dram_bytes"].null_count() == 0
    sources = dict(kernels["flop_fp32_source"].drop_nulls().value_counts().iter_rows())
    assert sources == {"rate×cycles": 46, "sass": 46}
    assert kernels["flop_complete"].sum() == 92
