"""Adds to each kernel the roofs it may be judged by, each with its source; one Polars expression per path.

Order unless the user chooses: the report's own dense peak at the clock of that run; else the highest rate measured on
exactly that variant; else device attributes (SMs × dense rate × clock); else the data sheet of exactly that variant.
A measured rate was reached at full clocks: where the run was locked to a lower clock, the peak at that clock is the
ceiling and replaces it; the boost roof is what the kernel would be held against at the highest clock. An annotated
matrix product is held against the highest measured product, where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ncuroof.errors import UsageError
from ncuroof.paths import PATHS
from ncuroof.roofs import devices
from ncuroof.roofs.record import SOURCES
from ncuroof.workloads.matrix import PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path as FilePath

    from ncuroof.paths import Path

MEMORY_CLOCK_TOLERANCE = 0.15
"""A DRAM peak further than this from the nominal one is doubted (time base of short kernels is off by up to 50 %)."""

SHORT_S = 20e-6
"""Below this a DRAM clock that is off is a fault of the time base; above it a memory power state can be real."""

CLOCK_TOLERANCE = 0.02
"""An SM clock above the maximum by more than this is impossible and a fault of the time base."""

INPUTS: dict[str, pl.DataType] = {
    **devices.KEYS,
    "op": pl.String(),
    **{path.peak: pl.Float64() for path in PATHS},
    **{f"{path.peak}_source": pl.String() for path in PATHS},
    "peak_bytes_s_dram": pl.Float64(),
    "peak_bytes_s_dram_source": pl.String(),
    "peak_bytes_s_l2": pl.Float64(),
    "peak_bytes_s_l1": pl.Float64(),
    "sm_hz": pl.Float64(),
    "sm_count_launch": pl.Float64(),
    "clock_max_hz": pl.Float64(),
    "memory_clock_hz": pl.Float64(),
    "memory_bus_bits": pl.Float64(),
    "duration_s": pl.Float64(),
}
"""Columns of the kernels table that are used; a column that is absent counts as null."""


def complete(kernels: pl.DataFrame) -> pl.DataFrame:
    """The columns of :data:`INPUTS` alone, cast, absent ones null, NaN and values that are not positive as null."""
    columns = []
    for name, dtype in INPUTS.items():
        if name not in kernels.columns:
            columns.append(pl.lit(None, dtype=dtype).alias(name))
        elif dtype == pl.Float64():
            value = pl.col(name).cast(pl.Float64)
            columns.append(pl.when(value.is_finite() & (value > 0)).then(value).alias(name))
        else:
            columns.append(pl.col(name).cast(dtype))
    if not kernels.columns:
        return pl.DataFrame(schema=INPUTS)
    return kernels.select(columns)


@dataclass(frozen=True)
class Devices:
    """What is known about the devices of a kernels table.

    Attributes:
        table: one row per distinct device, see :func:`ncuroof.roofs.devices.table`.
        number: the row of each kernel's device.
    """

    table: pl.DataFrame
    number: pl.Series


def devices_of(kernels: pl.DataFrame, roofs_file: FilePath | None = None) -> Devices:
    """Look up the devices of a kernels table, each once.

    Args:
        kernels: device columns as in :data:`ncuroof.roofs.devices.KEYS`.
        roofs_file: TOML file of the user's roofs (see :mod:`ncuroof.roofs.files`).

    Raises:
        ConfigError: for a faulty ``roofs_file``.
    """
    user = []
    if roofs_file is not None:
        from ncuroof.roofs import files  # noqa: PLC0415  only where the user has a file

        user = files.load(roofs_file)
    return Devices(*devices.table(complete(kernels), user))


def attach(
    kernels: pl.DataFrame,
    known: Devices | None = None,
    *,
    order: Sequence[str] = SOURCES,
    only: str | None = None,
    roofs_file: FilePath | None = None,
) -> pl.DataFrame:
    """Add the roofs of every kernel.

    Args:
        kernels: the kernels table; see :data:`INPUTS` for the columns used.
        known: its devices, where they were looked up before.
        order: sources to try, first that knows wins.
        only: use this source alone: report, measured, device, datasheet or user.
        roofs_file: TOML file of the user's roofs, which go before all others; only where ``known`` is not given.

    Returns:
        ``kernels`` with ``roof_bytes_s``, ``roof_bytes_s_l2``, ``roof_bytes_s_l1`` (byte/s) and, for each path,
        ``roof_flop_s_<path>`` (dense FLOP/s; operations per second on integer paths), each with a ``*_source`` column,
        and ``roof_boost_flop_s_<path>``, the same at the highest clock. Columns of these names that were there before
        are replaced. Unknown is null, in all.

    Raises:
        UsageError: for a source that does not exist.
        ConfigError: for a faulty ``roofs_file``.
    """
    chosen = _order(order, only)
    strict = not set(chosen) - {"user", "report"}  # nothing but what the report itself holds
    known = known or devices_of(kernels, roofs_file)
    frame = complete(kernels).hstack(known.table[known.number])
    outputs, boost = [], []
    for path in PATHS:
        candidates = _compute(path, strict=strict)
        outputs += _pick(path.roof, candidates, chosen)
        boost.append(_pick(path.boost, candidates, chosen)[0])
    outputs += _pick("roof_bytes_s", _dram(strict=strict), chosen)
    outputs += _pick("roof_bytes_s_l2", _cache("l2"), chosen)
    outputs += _pick("roof_bytes_s_l1", _cache("l1"), chosen)
    roofs = frame.select(outputs).hstack(_at_highest_clock(frame).select(boost))
    return kernels.drop(roofs.columns, strict=False).hstack(roofs)


def _at_highest_clock(frame: pl.DataFrame) -> pl.DataFrame:
    """The inputs as if the run had been at the highest clock: the report's peaks are scaled, and the clock is it."""
    # A measured clock slightly above the maximum is measuring error: the boost roof is never below the run's.
    plausible = pl.when(pl.col("sm_hz") <= (1 + CLOCK_TOLERANCE) * pl.col("clock_max_hz")).then("sm_hz")
    top = pl.max_horizontal("clock_max_hz", plausible)
    return frame.with_columns(
        *(pl.col(path.peak) * top / pl.col("sm_hz") for path in PATHS),
        sm_hz=pl.when(pl.col("clock_max_hz").is_not_null()).then(top),
    )


def _order(order: Sequence[str], only: str | None) -> tuple[str, ...]:
    wanted = (only,) if only is not None else ("user", *order)
    unknown = [source for source in wanted if source not in (*SOURCES, "user")]
    if unknown:
        msg = f"{unknown[0]} is no source of roofs; choose from {', '.join((*SOURCES, 'user'))}"
        raise UsageError(msg)
    return tuple(dict.fromkeys(wanted))


_Candidates = dict[str, tuple[pl.Expr, pl.Expr]]


def _pick(name: str, candidates: _Candidates, order: Sequence[str]) -> list[pl.Expr]:
    """The first known value in order, and the source that goes with it."""
    used = [candidates[source] for source in order if source in candidates]
    if not used:
        return [pl.lit(None, dtype=pl.Float64).alias(name), pl.lit(None, dtype=pl.String).alias(f"{name}_source")]
    value = pl.coalesce([v for v, _ in used])
    text = pl.coalesce([pl.when(v.is_not_null()).then(t) for v, t in used])
    return [value.alias(name), text.alias(f"{name}_source")]


def _compute(path: Path, *, strict: bool) -> _Candidates:
    """Candidates for the flat part of one path; ``strict`` leaves out a report's peak that took a table's rate."""
    clock_max = pl.coalesce("clock_max_hz", "table_clock_hz")
    impossible = (pl.col("sm_hz") > clock_max * (1 + CLOCK_TOLERANCE)).fill_null(value=False)
    own = path.peak
    # Work without a peak in the report comes with the rate of the instructions it used, such as mma.sync on Hopper.
    by_rate = (pl.col(f"{own}_source") == "rate×clock").fill_null(value=False)
    peak = pl.when(~by_rate).then(pl.col(own)) if strict else pl.col(own)
    report = pl.when(impossible).then(peak * clock_max / pl.col("sm_hz")).otherwise(peak)
    report_text = (
        pl.when(by_rate)
        .then(pl.lit("device: dense rate of the instructions used × SMs × clock of the run"))
        .when(impossible)
        .then(pl.lit("report: own dense peak at the maximum clock (the measured clock is impossible)"))
        .otherwise(pl.lit("report: own dense peak at the measured clock"))
    )
    plausible = pl.when(~impossible).then(pl.col("sm_hz"))
    clock = pl.coalesce(plausible, "clock_max_hz")
    clock_text = (
        pl.when(plausible.is_not_null()).then(pl.lit("measured clock")).otherwise(pl.lit("maximum clock of the device"))
    )
    # Under MIG and green contexts a launch has fewer SMs than its device.
    sms = pl.min_horizontal("sm_count_launch", pl.coalesce(pl.col("sm_count").cast(pl.Float64), pl.col("table_sms")))
    device = sms * pl.col(f"rate_{path.name}") * clock
    device_text = pl.concat_str(
        pl.lit("device: SMs × dense rate per cycle × "), clock_text, pl.lit(" ("), pl.col("rates_source"), pl.lit(")")
    )
    at_this_clock = sms * pl.col(f"rate_{path.name}") * plausible
    return {
        "user": _user(path.name, at_this_clock),
        "report": (report, report_text),
        "measured": _measured(path.name, at_this_clock),
        "device": (device, device_text),
        "datasheet": (pl.col(f"datasheet_{path.name}"), pl.col(f"datasheet_{path.name}_source")),
    }


def _measured(path: str, at_this_clock: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The highest measured rate; for a matrix product that of a product, which may be below the FMA sweep's."""
    product = pl.col("op").is_in(list(PRODUCTS)).fill_null(value=False) & pl.col(f"matmul_{path}").is_not_null()
    value, text = (
        pl.when(product).then(pl.col(f"matmul_{path}{part}")).otherwise(pl.col(f"measured_{path}{part}"))
        for part in ("", "_source")
    )
    return _capped(value, text, at_this_clock)


def _capped(value: pl.Expr, text: pl.Expr, at_this_clock: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """A measured rate, or the peak at this run's clock where that is lower: the rate was reached at full clocks."""
    capped = (at_this_clock < value).fill_null(value=False)
    return (
        pl.when(capped).then(at_this_clock).otherwise(value),
        pl.when(capped)
        .then(pl.concat_str(pl.lit("device: peak at this run's clock, below the "), text))
        .otherwise(text),
    )


def _user(path: str, at_this_clock: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """A roof of the user's file: as it is, but a measured one (``ncuroof calibrate``) follows the clock as well."""
    name = f"user_{path}"
    value, text = _capped(pl.col(name), pl.col(f"{name}_source"), at_this_clock)
    calibrated = pl.col(f"{name}_source").str.starts_with("measured").fill_null(value=False)
    return (
        pl.when(calibrated).then(value).otherwise(pl.col(name)),
        pl.when(calibrated).then(text).otherwise(pl.col(f"{name}_source")),
    )


def _dram(*, strict: bool) -> _Candidates:
    """Candidates for the DRAM slope; ``strict`` does not replace a report's low estimate by the device's own peak."""
    attribute = pl.when(pl.col("memory_attributes").fill_null(value=True)).then(
        pl.col("memory_clock_hz") * 2 * pl.col("memory_bus_bits") / 8
    )
    nominal = pl.coalesce(attribute, "table_nominal_bytes_s", "datasheet_dram")
    peak = pl.col("peak_bytes_s_dram")
    short = (pl.col("duration_s") < SHORT_S).fill_null(value=True)
    high = peak > nominal * (1 + MEMORY_CLOCK_TOLERANCE)
    low = (peak < nominal * (1 - MEMORY_CLOCK_TOLERANCE)) & short
    doubted = (high | low).fill_null(value=False)
    how = pl.col("peak_bytes_s_dram_source").fill_null("")
    at_least = how == "rate÷highest percent"
    # A candidate of an unclear device is no exact knowledge, though its data sheet may serve where nothing else does.
    exact = pl.coalesce(
        attribute, "table_nominal_bytes_s", pl.when(pl.col("device_note").is_null()).then("datasheet_dram")
    )
    replaced = at_least & exact.is_not_null() & pl.lit(not strict)
    report_text = (
        pl.when(replaced)
        .then(pl.lit("device: nominal DRAM peak (the report holds a rate and a percentage, a lower estimate of it)"))
        .when(doubted)
        .then(
            pl.when(short)
            .then(
                pl.lit(
                    "report: nominal peak (the measured DRAM clock is off by more than 15 %: "
                    "time base of a short kernel)"
                )
            )
            .otherwise(pl.lit("report: nominal peak (the measured DRAM clock is more than 15 % above the nominal one)"))
        )
        .when(at_least)
        .then(
            pl.lit("report: DRAM rate ÷ throughput percentage, a lower estimate (the percentage is the busiest unit's)")
        )
        .when(how == "rate÷percent")
        .then(pl.lit("report: DRAM rate ÷ percentage of active DRAM cycles"))
        .otherwise(pl.lit("report: own peak at the measured DRAM clock"))
    )
    report = pl.when(replaced).then(exact).when(doubted).then(nominal).otherwise(peak)
    return {
        "user": (pl.col("user_dram"), pl.col("user_dram_source")),
        "report": (pl.when(peak.is_not_null()).then(report), report_text),
        "measured": (pl.col("measured_dram"), pl.col("measured_dram_source")),
        "device": (attribute, pl.lit("device: memory clock × 2 × bus width / 8")),
        "datasheet": (pl.col("datasheet_dram"), pl.col("datasheet_dram_source")),
    }


def _cache(level: str) -> _Candidates:
    """Candidates for a cache's slope: only reports and users know."""
    return {
        "user": (pl.col(f"user_{level}"), pl.col(f"user_{level}_source")),
        "report": (pl.col(f"peak_bytes_s_{level}"), pl.lit("report: own peak at the measured clock")),
    }
