"""Says for one kernel how each quantity was obtained, and what was missing for the better ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ncuroof.metrics.catalogue import MADE, Candidate, Quantity, Term, quantities
from ncuroof.metrics.engine import Context, applies, evaluated

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Missed:
    """A candidate that was not used: its expression, and why."""

    expression: str
    source: str
    lacks: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Explanation:
    """How one quantity of one kernel was obtained.

    Attributes:
        quantity, unit, meaning: the column.
        value: in ``unit``; text for text columns; None where unknown.
        source: label of the candidate chosen; None where unknown.
        expression: the candidate chosen, as text; None where unknown.
        cite: where its meaning was read or how it was checked.
        missed: better candidates that could not be used, in order; all of them where the value is unknown.
    """

    quantity: str
    unit: str
    meaning: str
    value: float | str | bool | None
    source: str | None
    expression: str | None
    cite: str
    missed: tuple[Missed, ...]


def _weighted(term: Term) -> str:
    name = term.name
    if term.optional:
        name = f"[{name}]"
    if term.weight == 1.0:
        return name
    if term.weight == -1.0:
        return f"−{name}"
    return f"{term.weight:g}·{name}"


def expression(candidate: Candidate) -> str:
    """A candidate as text: ``(a + 2·b) × 32 × duration_s ÷ c``; ``[a]`` may be absent, ``f(a, b)`` is a function."""
    if candidate.function is not None:
        shown = [t.name for t in candidate.needs if not t.name.startswith("_")]
        shown += [str(v) for v in candidate.args.values() if isinstance(v, str)]
        return f"{candidate.function}({', '.join(shown)})"
    text = " + ".join(_weighted(t) for t in candidate.add).replace("+ −", "− ")
    if len(candidate.add) > 1:
        text = f"({text})"
    if candidate.factor != 1.0:
        text += f" × {candidate.factor:g}"
    text += "".join(f" × {t.name}" for t in candidate.times)
    return text + "".join(f" ÷ {t.name}" for t in candidate.divide)


def _known(term: Term, of: Context) -> bool:
    values = of.values[term.name] if term.quantity else of.metrics.get(term.name)
    if isinstance(values, np.ndarray):
        return bool(np.isfinite(values[0]))
    return values is not None and values[0] is not None


def _wanted(term: Term, of: Context) -> tuple[str, ...]:
    """What to collect for a term that is unknown: for an intermediate, what its best candidate lacks."""
    if not (term.quantity and term.name.startswith("_")):
        return () if term.name.startswith(MADE) else (term.name,)
    (quantity,) = (q for q in quantities() if q.name == term.name)
    return _lacks(quantity.candidates[0], of)


def _lacks(candidate: Candidate, of: Context) -> tuple[str, ...]:
    """Metrics and quantities that a candidate needs and the launch has not; of a sum of optional terms any will do."""
    unknown = [term for term in candidate.operands if not _known(term, of)]
    if candidate.function is not None:  # it looks at intermediates that it can do without
        unknown = [term for term in unknown if not term.name.startswith("_")]
    needed = [term for term in unknown if not term.optional]
    if not needed and candidate.add and not any(_known(term, of) for term in candidate.add):
        needed = unknown
    return tuple(dict.fromkeys(name for term in needed for name in _wanted(term, of)))


def _missed(candidate: Candidate, of: Context) -> Missed:
    lacks = _lacks(candidate, of)
    if not applies(candidate, of)[0]:
        reason = "not for this chip or version"
    elif lacks:
        reason = "lacks " + ", ".join(lacks)
    else:
        reason = "gives no usable value"
    return Missed(expression(candidate), candidate.source, lacks, reason)


def _of_quantity(quantity: Quantity, of: Context) -> Explanation:
    chosen = int(of.chosen[quantity.name][0])
    value = of.values[quantity.name][0]
    if not quantity.is_text:
        number = float(value)
        value = None if np.isnan(number) else bool(number) if quantity.kind == "flag" else number
    better = quantity.candidates if chosen < 0 else quantity.candidates[:chosen]
    taken = quantity.candidates[chosen] if chosen >= 0 else None
    return Explanation(
        quantity=quantity.name,
        unit=quantity.unit,
        meaning=quantity.meaning,
        value=value,
        source=of.source(quantity.name, 0),
        expression=expression(taken) if taken else None,
        cite=taken.cite if taken else "",
        missed=tuple(_missed(c, of) for c in better),
    )


def explain(
    launch: pl.DataFrame, metrics: pl.DataFrame, instances: pl.DataFrame | None = None
) -> tuple[Explanation, ...]:
    """How each quantity of one kernel was obtained.

    Args:
        launch: its row of the launches table.
        metrics: the metrics table; rows of other results are passed over.
        instances: values per opcode, as :class:`ncuroof.model.Chunk` has them.

    Returns:
        One entry per quantity, intermediates (``_…``) included, each after those it is built from.

    Raises:
        ValueError: when ``launch`` is not exactly one row.
    """
    if launch.height != 1:
        msg = f"explain takes one launch, not {launch.height}"
        raise ValueError(msg)
    of = evaluated(launch, metrics, instances)
    return tuple(_of_quantity(q, of) for q in quantities())


def render(explanations: tuple[Explanation, ...], *, intermediates: bool = False) -> str:
    """Explanations as text: a line with value and source, the expression below it, then the better ways that failed.

    Args:
        explanations: of one kernel, as :func:`explain` gives them.
        intermediates: whether to print quantities that are no column too.
    """
    lines: list[str] = []
    for item in explanations:
        if item.quantity.startswith("_") and not intermediates:
            continue
        if item.value is None:
            lines.append(f"{item.quantity}: unknown")
        else:
            value = f"{item.value:.10g}" if isinstance(item.value, float) else str(item.value).lower()
            unit = f" {item.unit}" if item.unit not in {"", "1"} else ""
            lines.append(f"{item.quantity} = {value}{unit}  [{item.source}]")
            lines.append(f"    = {item.expression}")
        lines += [f"    {m.reason}" if m.lacks else f"    not {m.expression}: {m.reason}" for m in item.missed]
    return "\n".join(lines)
