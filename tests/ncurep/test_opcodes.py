from __future__ import annotations

import pytest
from tests.ncurep.handmade import block, double, metric, number, report, result, sized

from ncuroof.ncurep import opcodes, spans
from ncuroof.ncurep.container import walk
from ncuroof.ncurep.results import read_batch

ALL, TRUE = opcodes.METRICS
NAMES = ["sm__x.sum", ALL, TRUE]


def instance(opcode: bytes, value: bytes) -> bytes:
    return sized(3, sized(1, sized(1, opcode)) + sized(2, value))


def test_only_wanted_names() -> None:
    assert opcodes.wanted([*NAMES, ALL], None) == {ALL: [1, 3], TRUE: [2]}
    assert opcodes.wanted(NAMES, frozenset({TRUE})) == {TRUE: [2]}
    assert opcodes.wanted(NAMES, frozenset({"sm__x.sum"})) == {}


@pytest.mark.parametrize("count", [1, spans.WORTHWHILE])
def test_rows(count: int) -> None:
    first = metric(1, number(5, 9), instance(b"FADD", number(5, 1)))
    last = metric(1, number(5, 9), instance(b"HMMA.16816.F32", number(5, 7)) + instance(b"EXIT", double(3, 2.0)))
    by_address = metric(2, double(3, 1.0), sized(3, sized(1, number(5, 16)) + sized(2, number(5, 1))))
    entry = result(metric(0, double(3, 1.0)), first, last, by_address)
    content = report(block([entry] * count, strings=NAMES))
    batch = read_batch(content, "x", walk(content, "x").entries, NAMES, None)
    frame = opcodes.rows(batch, opcodes.wanted(NAMES, None), "sha", 5)
    assert dict(frame.schema) == opcodes.SCHEMA
    # The metric comes twice and the last one counts; instances by address are no opcodes.
    assert frame.rows()[:2] == [("sha", 5, ALL, "HMMA.16816.F32", 7.0), ("sha", 5, ALL, "EXIT", 2.0)]
    assert frame.height == 2 * count
