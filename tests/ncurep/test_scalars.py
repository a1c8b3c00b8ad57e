"""Values decoded in bulk, against values by hand and against protobuf one message at a time."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from tests.ncurep.handmade import double, number, single, sized, varint

from ncuroof.ncurep.messages import message
from ncuroof.ncurep.scalars import ABSENT, BLOCK, INTEGER, NUMBER, TEXT, Scalars, decode, joined


def values(found: Scalars) -> list[object]:
    out: list[object] = []
    for place, kind in enumerate(found.kind.tolist()):
        if kind == TEXT:
            out.append(found.texts[place])
        elif kind == INTEGER:
            out.append(int(found.integer[place]))
        else:
            out.append(float(found.number[place]) if kind == NUMBER else None)
    return out


def one(raw: bytes) -> object:
    (value,) = values(decode(*joined([raw])))
    return value


NAME = number(1, 3)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (sized(1, b"hello"), b"hello"),
        (sized(1, b""), b""),
        (sized(1, b"x" * 300), b"x" * 300),
        (single(2, 0.25), 0.25),
        (double(3, 1.5), 1.5),
        (double(3, -0.0), -0.0),
        (double(3, math.inf), math.inf),
        (number(4, 7), 7),
        (number(4, (1 << 32) - 1), (1 << 32) - 1),
        (number(5, 0), 0),
        (number(5, 300), 300),
        (number(5, (1 << 53) + 1), (1 << 53) + 1),
        (number(5, (1 << 56) - 1), (1 << 56) - 1),
        (number(5, 1 << 56), 1 << 56),
        (number(5, (1 << 64) - 1), (1 << 64) - 1),
    ],
)
def test_each_kind_of_value(value: bytes, expected: object) -> None:
    for after in (b"", number(4, 0), number(4, 1), sized(3, sized(1, number(5, 9)) + sized(2, double(3, 2.0)))):
        assert one(NAME + sized(2, value) + after) == expected


def test_nan_stays_nan() -> None:
    assert math.isnan(one(NAME + sized(2, double(3, math.nan))))  # type: ignore[arg-type]


@pytest.mark.parametrize("raw", [NAME, NAME + number(4, 0), NAME + sized(3, b""), NAME + sized(2, b""), b""])
def test_no_value(raw: bytes) -> None:
    found = decode(*joined([raw]))
    assert found.kind.tolist() == [ABSENT]
    assert found.name_id.tolist() == [3 if raw else 0]


def test_legal_but_unusual_order() -> None:
    assert one(sized(2, double(3, 4.0)) + NAME) == 4.0
    assert one(number(4, 1) + NAME + sized(2, number(5, 6))) == 6
    assert one(NAME + sized(2, number(5, 6)) + sized(2, number(5, 8))) == 8
    # The number 5 in two bytes, which nobody needs.
    assert one(NAME + sized(2, b"\x28\x85\x00")) == 5


@pytest.mark.parametrize("name_id", [0, 1, 127, 128, 16383, 16384, 2097151, 2097152, 1 << 40])
def test_name_ids_of_every_width(name_id: int) -> None:
    found = decode(*joined([number(1, name_id) + sized(2, double(3, 1.0))]))
    assert found.name_id.tolist() == [name_id]
    assert found.number.tolist() == [1.0]


@pytest.mark.parametrize(
    "raw",
    [
        NAME + sized(2, double(3, 1.0))[:-1],
        NAME + b"\x12\x09\x19" + b"\0" * 7,
        NAME + b"\x12\x05\x0a\x09abc",
        NAME + b"\x12\x80",
        b"\x08",
        b"\xff" * 20,
    ],
)
def test_damage_is_an_error(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(*joined([NAME + sized(2, double(3, 1.0)), raw]))


def test_only_wanted_values_and_all_unknown_names() -> None:
    raws = [number(1, i) + sized(2, double(3, float(i))) for i in (0, 1, 2, 9, 1)]
    wanted = np.array([False, True, False, True])  # ids 0, 1, 2, and everything beyond
    found = decode(*joined(raws), wanted)
    assert found.row.tolist() == [1, 3, 4]
    assert found.name_id.tolist() == [1, 9, 1]
    assert found.number.tolist() == [1.0, 9.0, 1.0]


def test_more_metrics_than_one_block_of_them() -> None:
    raws = [number(1, i % 200) + sized(2, sized(1, b"t") if i % 1000 == 0 else number(5, i)) for i in range(BLOCK + 10)]
    found = decode(*joined(raws))
    assert found.row.tolist() == list(range(BLOCK + 10))
    assert values(found) == [b"t" if i % 1000 == 0 else i for i in range(BLOCK + 10)]


def test_nothing_at_all() -> None:
    assert len(decode(*joined([])).row) == 0


integers = st.integers(0, (1 << 64) - 1)
contents = st.one_of(
    st.none(),
    st.binary(max_size=200).map(lambda b: sized(1, b)),
    st.floats(width=32).map(lambda f: single(2, f)),
    st.floats().map(lambda f: double(3, f)),
    st.integers(0, (1 << 32) - 1).map(lambda i: number(4, i)),
    integers.map(lambda i: number(5, i)),
)
tails = st.lists(
    st.one_of(
        integers.map(lambda i: sized(3, sized(1, number(5, i)) + sized(2, double(3, 1.0)))),
        st.integers(0, 1).map(lambda i: number(4, i)),
        st.just(varint(99 << 3) + varint(1 << 40)),
    ),
    max_size=4,
).map(b"".join)


@st.composite
def metric_messages(draw: st.DrawFn) -> bytes:
    value = draw(contents)
    parts = [number(1, draw(st.integers(0, 1 << 22))), b"" if value is None else sized(2, value), draw(tails)]
    return b"".join(draw(st.permutations(parts)) if draw(st.booleans()) else parts)


@given(st.lists(metric_messages(), max_size=12))
def test_in_bulk_as_one_by_one(raws: list[bytes]) -> None:
    found = decode(*joined(raws))
    assert found.row.tolist() == list(range(len(raws)))
    expected: list[object] = []
    for raw, name_id in zip(raws, found.name_id.tolist(), strict=True):
        parsed = message("MetricParts", "full").FromString(raw)
        assert name_id == parsed.name_id
        held = [f.name for f, _ in parsed.value.ListFields()]
        expected.append(getattr(parsed.value, held[0]) if held else None)
    for ours, theirs in zip(values(found), expected, strict=True):
        same = struct.pack("<d", ours) == struct.pack("<d", theirs) if isinstance(theirs, float) else ours == theirs
        assert same or (isinstance(theirs, float) and math.isnan(theirs) and math.isnan(ours)), (ours, theirs)  # type: ignore[arg-type]


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=8))
def test_any_bytes_give_values_or_one_error(raws: list[bytes]) -> None:
    try:
        found = decode(*joined(raws))
    except DecodeError:
        return
    assert len(found.row) == len(raws)
