"""What results hold beside their metrics, as columns: names, ids, NVTX states, rule results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ncuroof.ncurep.fields import Distinct, Spans, Step, members, run, single, tag_of
from ncuroof.ncurep.messages import message
from ncuroof.ncurep.varints import length_of, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ncuroof.ncurep.scalars import Buffer

    Ints = NDArray[np.int64]

# Field numbers of a result, as in messages.py; wire type 0 is a number, 2 bytes, 5 a float.
_NUMBERS = {"pid": tag_of(1, 0), "context": tag_of(22, 0), "stream": tag_of(23, 0)}
_TEXTS = {"mangled": tag_of(5, 2), "function": tag_of(6, 2), "demangled": tag_of(7, 2), "nvtx": tag_of(21, 2)}
_RULE = tag_of(19, 2)
_DRIVER = tag_of(35, 5)


@dataclass
class Stored:
    """Columns with one element per result.

    Attributes:
        numbers: pid, context and stream, each as values and whether they are there.
        driver: driver version, NaN where a result has none.
        texts: mangled, function and demangled name, and NVTX state (undecoded).
        rules: rule results (undecoded), results in order.
        rule_owner: position of the result of each of them.
        head: the message of the result at a position; only its fields before the metrics are sure to be there.
    """

    numbers: dict[str, tuple[NDArray[np.uint64], NDArray[np.bool_]]]
    driver: NDArray[np.float64]
    texts: dict[str, Distinct]
    rules: Distinct
    rule_owner: NDArray[np.int64]
    head: Callable[[int], Any]


def from_messages(results: Sequence[Any]) -> Stored:
    """The columns of decoded results."""

    def number(name: str) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        values = np.array([getattr(r, name) for r in results], np.uint64)
        return values, np.array([r.HasField(name) for r in results], bool)

    return Stored(
        {name: number(name) for name in _NUMBERS},
        np.array([r.driver_version if r.HasField("driver_version") else np.nan for r in results], np.float64),
        {name: Distinct.of([getattr(r, name) if r.HasField(name) else None for r in results]) for name in _TEXTS},
        Distinct.of([raw for r in results for raw in r.rules]),
        np.repeat(np.arange(len(results)), [len(r.rules) for r in results]),
        results.__getitem__,
    )


def from_steps(buffer: Buffer, steps: list[Step], begin: Ints, before: Ints) -> Stored | None:
    """The columns of results whose fields were found in step; None where rule results are not in a row.

    Args:
        buffer: where the results lie.
        steps: all fields but the metrics.
        begin: offset of each result.
        before: offset after its fields before the metrics.
    """
    count = len(begin)
    content = buffer.content

    def number(spans: Spans) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        there = spans.start >= 0
        raw = buffer.words[np.where(there, spans.start, begin)]
        return np.where(there, value_of(raw, length_of(raw)), 0).astype(np.uint64), there

    driver = np.full(count, np.nan)
    floats = single(steps, _DRIVER, count).start
    there = floats >= 0
    driver[there] = buffer.words[floats[there]].astype(np.uint32).view(np.float32)
    runs = run(steps, _RULE, count)
    if runs is None:
        return None
    return Stored(
        {name: number(single(steps, tag, count)) for name, tag in _NUMBERS.items()},
        driver,
        {name: Distinct.at(content, single(steps, tag, count)) for name, tag in _TEXTS.items()},
        *_rules(Distinct.at(content, runs)),
        lambda place: message("Result").FromString(content[int(begin[place]) : int(before[place])]),
    )


def _rules(runs: Distinct) -> tuple[Distinct, NDArray[np.int64]]:
    """Rule results and the results that own them, from each result's run of them; the same runs recur."""
    split = [message("Result").FromString(raw).rules for raw in runs.values]
    different = Distinct.of([raw for rules in split for raw in rules])
    length = np.array([len(rules) for rules in split], np.int64)
    owners = np.flatnonzero(runs.places >= 0)
    groups = runs.places[owners]
    rules = Distinct(different.values, different.places[members(length, groups)])
    return rules, np.repeat(owners, length[groups])
