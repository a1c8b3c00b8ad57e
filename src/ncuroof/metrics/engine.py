"""Evaluates the counter tables over all launches at once: launches + metrics in, the kernels table out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ncuroof import tables
from ncuroof.metrics import functions, instruction_mix, opcodes
from ncuroof.metrics.catalogue import INHERIT, Candidate, Quantity, Term, quantities, required_metrics
from ncuroof.metrics.matrix import scatter, scatter_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ncuroof.model import Chunk

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


DTYPES: dict[str, pl.DataType] = {"number": pl.Float64(), "flag": pl.Boolean(), "text": pl.String()}
"""Column type by kind of quantity."""


@dataclass
class Context:
    """What candidates are evaluated on, and what has been evaluated so far.

    Attributes:
        launches: one row per result.
        metrics: metric name to its values over the launches, NaN where missing.
        texts: the same for text metrics.
        values: quantity name to its values, NaN where unknown.
        sources: quantity name to the numbers of its source labels (see :meth:`label`), -1 where unknown.
        chosen: quantity name to the position of the candidate that gave the value, -1 where none did.
        cc: compute capability × 10; 0 where unknown.
        memo: what functions keep for one another.
        labels: the source labels met so far.
    """

    launches: pl.DataFrame
    metrics: dict[str, Floats]
    texts: dict[str, list[str | None]]
    cc: NDArray[np.int64]
    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    chosen: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Number of launches."""
        return self.launches.height

    def label(self, text: str) -> int:
        """The number of a source label."""
        if text not in self.labels:
            self.labels.append(text)
        return self.labels.index(text)

    def source(self, name: str, row: int) -> str | None:
        """The source label of a quantity for one launch."""
        number = int(self.sources[name][row])
        return self.labels[number] if number >= 0 else None

    def operand(self, term: Term) -> Floats | None:
        """The values of a term; None where no launch has any."""
        if not term.quantity:
            return self.metrics.get(term.name)
        values: Floats = self.values[term.name]
        return values if np.isfinite(values).any() else None


def context(launches: pl.DataFrame, metrics: pl.DataFrame, instances: pl.DataFrame | None = None) -> Context:
    """The context of a set of launches, with nothing evaluated yet."""
    wanted = required_metrics()
    numbers = scatter(launches, metrics, wanted)
    numbers |= opcodes.counts(launches, instances) | instruction_mix.counts(launches, instances)
    texts = scatter_text(
        launches, metrics, [t.name for q in quantities() if q.is_text for c in q.candidates for t in c.add]
    )
    size = launches.height
    major = (
        launches["cc_major"].cast(pl.Float64).to_numpy() if "cc_major" in launches.columns else np.full(size, np.nan)
    )
    minor = (
        launches["cc_minor"].cast(pl.Float64).to_numpy() if "cc_minor" in launches.columns else np.full(size, np.nan)
    )
    stated = 10 * major + minor
    nothing = np.full(size, np.nan)
    attribute = 10 * numbers.get("device__attribute_compute_capability_major", nothing) + numbers.get(
        "device__attribute_compute_capability_minor", nothing
    )
    cc = np.where(np.isfinite(stated), stated, attribute)
    return Context(launches, numbers, texts, np.where(np.isfinite(cc), cc, 0).astype(np.int64))


def applies(candidate: Candidate, of: Context) -> Flags:
    """For which launches a candidate holds, by compute capability and ncu version. Unknown ones do not qualify."""
    flags = np.ones(of.size, dtype=np.bool_)
    if candidate.cc:
        flags &= np.any([(of.cc >= low) & (of.cc <= high) for low, high in candidate.cc], axis=0)
    if candidate.ncu:
        versions = of.launches["ncu_version"].to_list()
        fits = {v: v is not None and _version_fits(v, candidate) for v in set(versions)}
        flags &= np.array([fits[v] for v in versions], dtype=np.bool_)
    return flags


def _version_fits(version: str, candidate: Candidate) -> bool:
    numbers = tuple(int(p) for p in version.split(".") if p.isdigit())
    return any(low <= numbers and numbers[: len(high)] <= high for low, high in candidate.ncu)


def value_of(candidate: Candidate, of: Context) -> Floats | None:
    """A candidate's value for every launch, NaN where it lacks something; None where no launch has all it needs."""
    if candidate.function is not None:
        return functions.REGISTRY[candidate.function](of, candidate)
    total = np.zeros(of.size)
    seen = np.zeros(of.size, dtype=np.bool_)
    for term in candidate.add:
        values = of.operand(term)
        if values is None:
            if term.optional:
                continue
            return None
        present = np.isfinite(values)
        seen |= present
        total += np.where(present, values, 0.0 if term.optional else np.nan) * term.weight
    total = np.where(seen, total * candidate.factor, np.nan)
    for terms, operation in ((candidate.times, np.multiply), (candidate.divide, np.divide)):
        for term in terms:
            values = of.operand(term)
            if values is None:
                return None
            total = operation(total, values)
    return total


def _label(candidate: Candidate, of: Context, where: Flags) -> NDArray[np.int64] | int:
    """The source labels of the launches a candidate was chosen for: its own, or those of its first known quantity."""
    if candidate.source != INHERIT:
        return of.label(candidate.source)
    labels = np.full(int(where.sum()), -1, dtype=np.int64)
    for term in candidate.operands:
        if term.quantity:
            labels = np.where(labels < 0, of.sources[term.name][where], labels)
    return labels


def evaluate(quantity: Quantity, of: Context) -> None:
    """Evaluate one quantity for all launches and store it in the context."""
    if quantity.is_text:
        _evaluate_text(quantity, of)
        return
    values = np.full(of.size, np.nan)
    sources = np.full(of.size, -1, dtype=np.int64)
    chosen = np.full(of.size, -1, dtype=np.int64)
    for position, candidate in enumerate(quantity.candidates):
        open_ = chosen < 0
        if not open_.any():
            break
        found = value_of(candidate, of)
        if found is None:
            continue
        take = open_ & np.isfinite(found)
        if quantity.positive:
            take &= found > 0
        if candidate.cc or candidate.ncu:
            take &= applies(candidate, of)
        if take.any():
            values[take] = found[take]
            chosen[take] = position
            sources[take] = _label(candidate, of, take)
    if quantity.clamp is not None:
        values = np.clip(values, *quantity.clamp)
    of.values[quantity.name] = values
    of.sources[quantity.name] = sources
    of.chosen[quantity.name] = chosen


def _evaluate_text(quantity: Quantity, of: Context) -> None:
    values: list[str | None] = [None] * of.size
    sources = np.full(of.size, -1, dtype=np.int64)
    chosen = np.full(of.size, -1, dtype=np.int64)
    for position, candidate in enumerate(quantity.candidates):
        if candidate.function is not None:
            found = functions.TEXT_REGISTRY[candidate.function](of, candidate)
        else:
            found = of.texts.get(candidate.add[0].name, [])
        for row, text in enumerate(found):
            if text is not None and values[row] is None:
                values[row], sources[row], chosen[row] = text, of.label(candidate.source), position
    of.values[quantity.name] = values
    of.sources[quantity.name] = sources
    of.chosen[quantity.name] = chosen


def evaluated(launches: pl.DataFrame, metrics: pl.DataFrame, instances: pl.DataFrame | None = None) -> Context:
    """The context with every quantity evaluated."""
    of = context(launches, metrics, instances)
    with np.errstate(all="ignore"):
        for quantity in quantities():
            evaluate(quantity, of)
    return of


def _source_series(quantity: Quantity, of: Context) -> pl.Series:
    numbers = of.sources[quantity.name]
    labels = np.array([*of.labels, None], dtype=object)  # -1 is the last
    name = f"{quantity.name}_source"
    if of.size > 1 and (numbers == numbers[0]).all():
        return pl.Series(name, labels[numbers[:1]].tolist(), dtype=pl.String).new_from_index(0, of.size)
    return pl.Series(name, labels[numbers].tolist(), dtype=pl.String)


def kernels_from(chunks: Sequence[Chunk]) -> pl.DataFrame:
    """The kernels table of any number of chunks, of one report or many; see :func:`build_kernels`."""
    if not chunks:
        return tables.empty(kernel_columns())
    mixed = len({(chunk.metrics.schema["metric"], chunk.metrics.schema["unit"]) for chunk in chunks}) > 1
    text = pl.col("metric", "unit").cast(pl.String)
    instances = [chunk.instances for chunk in chunks if chunk.instances is not None]
    return build_kernels(
        pl.concat([chunk.launches for chunk in chunks]),
        pl.concat([chunk.metrics.with_columns(text) if mixed else chunk.metrics for chunk in chunks]),
        pl.concat(instances) if instances else None,
    )


def build_kernels(launches: pl.DataFrame, metrics: pl.DataFrame, instances: pl.DataFrame | None = None) -> pl.DataFrame:
    """The kernels table of some launches.

    Args:
        launches: columns :data:`ncuroof.tables.LAUNCHES`, one row per result.
        metrics: columns :data:`ncuroof.tables.METRICS`; only names in :func:`required_metrics` are looked at.
        instances: values per opcode, as :class:`ncuroof.model.Chunk` has them.

    Returns:
        The launches in their order with the columns of :func:`kernel_columns`: one per quantity in SI base units, null
        where unknown, and the source of each that can be obtained in more than one way.
    """
    of = evaluated(launches, metrics, instances)
    found: list[pl.Series] = []
    for quantity in quantities():
        if quantity.hidden:
            continue
        values = of.values[quantity.name]
        if quantity.is_text:
            found.append(pl.Series(quantity.name, values, dtype=pl.String))
        else:
            column = pl.Series(quantity.name, values, dtype=pl.Float64, nan_to_null=True)
            found.append(column.cast(pl.Boolean) if quantity.kind == "flag" else column)
        if quantity.sourced:
            found.append(_source_series(quantity, of))
    names = [c.name for c in kernel_columns()]
    return tables.conform(launches, tables.LAUNCHES).with_columns(found).select(names)


def kernel_columns() -> tuple[tables.Column, ...]:
    """The schema of :func:`build_kernels`: the launches' columns, then the quantities with their sources."""
    columns = list(tables.LAUNCHES)
    for quantity in quantities():
        if quantity.hidden:
            continue
        dtype = DTYPES[quantity.kind]
        columns.append(tables.Column(quantity.name, dtype, quantity.unit, quantity.meaning))
        if quantity.sourced:
            columns.append(
                tables.Column(f"{quantity.name}_source", pl.String(), "", f"how {quantity.name} was obtained")
            )
    return tuple(columns)
