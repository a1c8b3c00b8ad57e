"""Results decoded in step give what results decoded one by one give, whatever their shape."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ncurep.handmade import block, double, metric, number, report, result, single, sized

from ncuroof.errors import DamagedError
from ncuroof.ncurep import results, spans
from ncuroof.ncurep.container import walk

MANY = spans.WORTHWHILE + 2
NAMES = [f"sm__m{i}.sum" for i in range(300)]

values = st.one_of(
    st.none(),
    st.floats(allow_nan=False).map(lambda f: double(3, f)),
    st.integers(0, (1 << 64) - 1).map(lambda i: number(5, i)),
    st.binary(max_size=400).map(lambda b: sized(1, b)),
    st.floats(width=32, allow_nan=False).map(lambda f: single(2, f)),
)
metrics = st.builds(
    metric,
    st.integers(0, len(NAMES) - 1),
    values,
    st.sampled_from([b"", number(4, 0), sized(3, sized(1, number(5, 1)) + sized(2, sized(1, b"s" * 90))) * 3]),
)
# Metrics in a run, as every version writes them; now and then one that comes after other fields.
shapes = st.tuples(st.lists(metrics, max_size=6), st.one_of(st.just(b""), metrics))


def after(i: int) -> list[bytes]:
    """What follows the metrics: section definitions of every size or none, between other fields or at the end."""
    sections = [sized(17, b"s" * (i * 37 % 300))] * (i % 4)
    middle = [number(16, 0), *sections, sized(18, b""), sized(19, b"rule"), sized(21, b"nvtx")]
    return [middle, sections, [number(16, 1)], [*sections, number(14, 5)], [double(40, 1.0), *sections]][i % 5]


def decoded(content: bytes, wanted: np.ndarray | None, *, in_step: bool) -> list[object]:
    entries = walk(content, "x").entries
    if in_step:
        batch = results.read_batch(content, "x", entries, NAMES, wanted)
    else:
        batch = results._one_by_one(content, "x", entries, NAMES, wanted)
    scalars = batch.scalars
    # Results in order; metrics of a result stand in their order whatever the order of results.
    order = np.argsort(batch.owner, kind="stable")
    texts = [scalars.texts.get(place) for place in order.tolist()]
    size = batch.end - batch.start
    found = (batch.owner, scalars.name_id, scalars.kind, scalars.number.view(np.uint64), scalars.integer, size)
    columns = [c[order] for c in found]
    stored = batch.stored
    held = [stored.texts[name] for name in ("mangled", "function", "demangled", "nvtx")]
    rest = [(d.values, d.places.tolist()) for d in [*held, stored.rules]]
    rest += [[c.tolist() for c in stored.numbers[name]] for name in ("pid", "context", "stream")]
    heads = [stored.head(place).call for place in range(len(batch.kinds))]
    return [*(c.tolist() for c in columns), texts, rest, stored.rule_owner.tolist(), str(stored.driver.tolist()), heads]


@given(st.lists(shapes, min_size=1, max_size=5), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_in_step_as_one_by_one(drawn: list[tuple[list[bytes], bytes]], some: bool, last: bool) -> None:
    bodies = [
        result(*run, number(14, 1700000000 + i), *after(i), late, name=b"k%d" % i)
        for i, (run, late) in enumerate(drawn[i % len(drawn)] for i in range(MANY))
    ]
    # With and without something behind the last result.
    content = report(block(bodies), *([] if last else [block(strings=["behind the last result" * 2])]))
    wanted = np.array([i % 3 == 0 for i in range(len(NAMES))] + [True]) if some else None
    assert decoded(content, wanted, in_step=True) == decoded(content, wanted, in_step=False)


def test_results_of_the_usual_shape_do_go_in_step() -> None:
    run = [metric(i, double(3, float(i))) for i in range(200)]
    content = report(block([result(*run, number(16, 0))] * MANY), block(strings=["behind"]))
    batch = results._in_step(content, walk(content, "x").entries, None)
    assert batch is not None
    assert batch.scalars.number.tolist() == [float(i) for i in range(200)] * MANY
    assert batch.owner.tolist() == [i // 200 for i in range(200 * MANY)]


def test_results_with_different_metrics_do_go_in_step() -> None:
    bodies = [result(*(metric(i % 7, number(5, i)) for i in range(k % 5))) for k in range(MANY)]
    content = report(block(bodies))
    batch = results._in_step(content, walk(content, "x").entries, None)
    assert batch is not None
    assert batch.scalars.integer.tolist() == [i for k in range(MANY) for i in range(k % 5)]


@pytest.mark.parametrize("count", [1, MANY])
def test_damage_inside_a_result_is_an_error_that_names_an_offset(count: int) -> None:
    good = result(metric(1, double(3, 1.0)))
    for bad, found in (
        (good[:-1], "a result that cannot be decoded"),
        (result(sized(13, b"\xff")), "a metric that cannot be decoded"),
        (result(metric(5000, double(3, 1.0))), "a metric named by string 5000 of 300"),
        (result(metric(1 << 63, double(3, 1.0))), "a metric named by string"),
        (result(sized(13, number(1, 1) + sized(2, b"\x19\x00"))), "a metric that cannot be decoded"),
        (number(1, 1) + b"\x6a" + struct.pack("<I", 0xFFFFFFFF), "a result that cannot be decoded"),
    ):
        content = report(block([good] * (count - 1) + [bad]))
        with pytest.raises(DamagedError, match=found):
            results.read_batch(content, "x", walk(content, "x").entries, NAMES, None)


@given(st.binary(max_size=60))
@settings(max_examples=300)
def test_any_bytes_as_a_result_give_a_batch_or_one_error(body: bytes) -> None:
    content = report(block([result(metric(1, double(3, 1.0)))] * (MANY - 1) + [body]))
    try:
        batch = results.read_batch(content, "x", walk(content, "x").entries, NAMES, None)
    except DamagedError:
        return
    assert len(batch.kinds) == MANY
