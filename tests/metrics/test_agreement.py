"""Two ways of obtaining one quantity give one value, wherever a result holds both: or they are two quantities."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest

from ncuroof import inputs, metrics, readers
from ncuroof.errors import NcuroofError
from ncuroof.metrics.catalogue import quantities
from ncuroof.metrics.engine import applies, context, evaluate, value_of

TOLERANCE = 0.02
SHORT_S = 20e-6
"""Below 20 µs passes of one replay differ by more than 2 % in time and cycles, which no way of counting mends."""
FEW = {"%": 0.1, "1": 0.02}
"""Absolute differences that do not matter, by unit: rounding of what is stored as a percentage or a ratio."""


@pytest.fixture(scope="module")
def contexts(corpus):
    """Every binary report with its quantities evaluated, as (file name, context)."""
    found = []
    for path in sorted((corpus / "reports").iterdir()):
        try:
            file = inputs.open_input(path)
            reader, why = readers.choose(file)
            chunks = list(reader.read(file, why, metrics.required_metrics()).chunks)
        except NcuroofError:
            continue  # the cut and pointer files of the corpus
        for chunk in chunks:
            of = context(chunk.launches, chunk.metrics, chunk.instances)
            with np.errstate(all="ignore"):
                for quantity in quantities():
                    evaluate(quantity, of)
            found.append((path.name, of))
    return found


def ways(quantity, of):
    """The values of each candidate that claims to mean the same as the others."""
    with np.errstate(all="ignore"):
        for position, candidate in enumerate(quantity.candidates):
            values = value_of(candidate, of)
            if values is None:
                continue
            usable = applies(candidate, of) & np.isfinite(values)
            if quantity.positive:
                usable &= values > 0
            yield position, candidate, np.where(usable, values, np.nan)


def test_candidates_of_a_quantity_agree_within_2_percent(contexts):
    compared, off = 0, defaultdict(list)
    for name, of in contexts:
        durations = of.values["duration_s"]
        long_enough = ~(durations < SHORT_S)
        for quantity in quantities():
            if quantity.kind != "number":
                continue
            known = list(ways(quantity, of))
            plain = [(p, c, v) for p, c, v in known if not c.differs]
            for (p, _, mine), (q, _, theirs) in combinations(plain, 2):
                gap = np.abs(mine - theirs)
                scale = np.maximum(np.abs(mine), np.abs(theirs))
                wrong = long_enough & (gap > TOLERANCE * scale) & (gap > FEW.get(quantity.unit, 0.0))
                compared += int(np.isfinite(gap).sum())
                for row in np.flatnonzero(wrong):
                    off[quantity.name, p, q].append((name, int(row), float(mine[row]), float(theirs[row])))
    assert {key: found[:3] for key, found in off.items()} == {}
    assert compared > 5000


def test_a_reason_to_differ_is_a_sentence_and_rare():
    """``differs`` is no way to switch the test off: a sentence, and on no more than a few candidates."""
    with_reason = [c for q in quantities() for c in q.candidates if c.differs]
    assert all(len(c.differs.split()) >= 4 for c in with_reason)
    everything = [c for q in quantities() for c in q.candidates]
    assert len(with_reason) < 0.15 * len(everything)
