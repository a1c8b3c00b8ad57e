"""The pivot from the long metrics table to arrays."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncuroof import tables
from ncuroof.metrics.matrix import scatter

NAMES = ("a", "b", "c", "other")


def frames(rows: list[tuple[str, int, str, float | None]], results: list[tuple[str, int]]):
    launches = tables.conform(
        pl.DataFrame(results, schema=["source_sha256", "result_index"], orient="row"), tables.LAUNCHES
    )
    metrics = pl.DataFrame(
        rows,
        schema={"source_sha256": pl.String, "result_index": pl.UInt32, "metric": pl.String, "value": pl.Float64},
        orient="row",
    )
    return launches, tables.conform(metrics, tables.METRICS)


rows_of_metrics = st.lists(
    st.tuples(
        st.sampled_from(["x", "y"]),
        st.integers(0, 3),
        st.sampled_from(NAMES),
        st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)),
    ),
    max_size=40,
)


@settings(deadline=None)  # other work on the machine must not fail it
@given(rows=rows_of_metrics, kind=st.sampled_from([pl.String, pl.Categorical, pl.Enum(NAMES)]))
def test_it_is_a_dictionary_of_last_finite_values(rows, kind):
    results = [("x", 0), ("x", 2), ("y", 1)]
    launches, metrics = frames(rows, results)
    found = scatter(launches, metrics.with_columns(pl.col("metric").cast(kind)), ["a", "b", "c"])
    wanted: dict[str, dict[int, float]] = {}
    for sha, index, name, value in rows:
        if name != "other" and (sha, index) in results and value is not None and math.isfinite(value):
            wanted.setdefault(name, {})[results.index((sha, index))] = value
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        expected = [values.get(i, math.nan) for i in range(3)]
        np.testing.assert_array_equal(found[name], expected)


def test_integers_are_taken_where_the_value_is_null():
    launches, metrics = frames([("x", 0, "a", None)], [("x", 0)])
    metrics = metrics.with_columns(value_int=pl.lit(7, dtype=pl.UInt64))
    assert scatter(launches, metrics, ["a"])["a"] == pytest.approx([7.0])


def test_nothing_in_nothing_out():
    launches, metrics = frames([], [])
    assert scatter(launches, metrics, ["a"]) == {}
