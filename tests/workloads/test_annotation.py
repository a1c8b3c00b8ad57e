"""Texts of annotations: what is recognised, what is refused and how."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncuroof import annotate as pushing
from ncuroof.workloads import annotation
from ncuroof.workloads.annotation import AnnotationError, parse, parse_path

GEMM = '{"op":"gemm","m":8,"n":3584,"k":3584,"dtype":"bf16"}'


@pytest.mark.parametrize(
    ("domain", "name", "payload"),
    [
        ("any", "ncuroof:" + GEMM, None),
        (None, "ncuroof:" + GEMM, None),
        ("roofline", GEMM, None),
        ("roofline", "q_proj", GEMM),
        ("any", "step", "ncuroof:" + GEMM),
        ("any", "gemm m=8 n=3584 k=3584 bf16", None),
        ("any", "GEMM M=8 N=3584 K=3584 BF16", None),
    ],
)
def test_all_ways_to_write_one_shape(domain, name, payload):
    found = parse(domain, name, payload)
    assert found.op == "gemm"
    assert found.dtype == "bf16"
    assert found.useful_flop == 205_520_896
    assert found.compulsory_bytes == 25_804_800
    assert found.compulsory_write_bytes == 57_344
    row = found.row()
    assert (row["op_m"], row["op_n"], row["op_k"]) == (8, 3584, 3584)
    assert row["op_shape"] == '{"k":3584,"m":8,"n":3584}'


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ("any", "layer14/q_proj"),
        ("any", GEMM),  # JSON of somebody else
        ("roofline", "warm-up"),
        ("any", "warmup m=8 n=8"),  # no operation
        ("any", "gemm"),
        (None, None),
        ("any", ""),
    ],
)
def test_other_ranges_are_none(domain, name):
    assert parse(domain, name) is None


def test_the_long_convention():
    """Element types by operand, batch, name, and figures of the program's own."""
    text = json.dumps(
        {"v": 1, "op": "gemm", "m": 8, "n": 16, "k": 32, "batch": 2, "a": "bf16", "b": "bf16", "c": "fp32",
         "acc": "fp32", "name": "layers.14.q_proj", "sweep": "m", "id": 7}
    )  # fmt: skip
    found = parse("roofline", text)
    assert (found.label, found.sweep, found.instance, found.dtype) == ("layers.14.q_proj", "m", "7", "bf16")
    assert found.useful_flop == 2 * 2 * 8 * 16 * 32
    assert found.compulsory_bytes == 2 * (8 * 32 * 2 + 32 * 16 * 2 + 8 * 16 * 4)


def test_the_programs_own_figures_win():
    found = parse(None, 'ncuroof:{"op":"gemm","m":8,"n":8,"k":8,"dtype":"fp16","flops":100,"bytes":200}')
    assert (found.useful_flop, found.compulsory_bytes, found.compulsory_write_bytes) == (100.0, 200.0, None)


def test_an_operation_without_a_formula_is_kept_and_shown():
    found = parse(None, 'ncuroof:{"op":"fft","n":1024,"dtype":"fp32"}')
    assert (found.op, found.useful_flop) == ("fft", None)
    assert "no formula" in found.remark
    known = parse(None, 'ncuroof:{"op":"fft","n":1024,"dtype":"fp32","flops":5e4,"bytes":8192}')
    assert known.useful_flop == 5e4


def test_sizes_that_the_formula_does_not_know_are_kept():
    found = parse(None, 'ncuroof:{"op":"gemm","m":8,"n":8,"k":8,"dtype":"fp16","layer":14}')
    assert found.useful_flop == 1024
    assert json.loads(found.row()["op_shape"]) == {"k": 8, "layer": 14, "m": 8, "n": 8}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ncuroof:", "no valid JSON"),
        ("ncuroof:{", "no valid JSON"),
        ("ncuroof:[1]", "no JSON object"),
        ("ncuroof:{}", "op is missing"),
        ('ncuroof:{"op":5}', "op is missing"),
        ('ncuroof:{"op":"gemm","m":8}', "needs"),
        ('ncuroof:{"op":"gemm","m":{"x":1},"n":8,"k":8,"dtype":"fp16"}', "no number"),
        ('ncuroof:{"op":"gemm","m":NaN,"n":8,"k":8,"dtype":"fp16"}', "no number"),
        ('ncuroof:{"op":"gemm","m":-1,"n":8,"k":8,"dtype":"fp16"}', "positive"),
        ('ncuroof:{"op":"gemm","m":8,"n":8,"k":8,"dtype":"fp16","flops":-5}', "not negative"),
        ("ncuroof:" + "[" * 20000, "longer than"),
        ("gemm m=8 n=8 bf16", "needs"),
        ("gemm m=eight n=8 k=8 bf16", "expected a number"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(text, says):
    with pytest.raises(AnnotationError, match=says.replace("[", r"\[")):
        parse("any", text)


@pytest.mark.parametrize(
    ("path", "op"),
    [
        ("default:step/ncuroof:" + GEMM, "gemm"),
        ("default:ncuroof:" + GEMM + "/aten::mm", "gemm"),
        ('d:ncuroof:{"op":"copy","n":8,"dtype":"fp16","label":"a/b"}/x', "copy"),
        ("d:ncuroof:" + GEMM + '/ncuroof:{"op":"copy","n":8,"dtype":"fp16"}', "copy"),
        ("d:outer/gemm m=8 n=8 k=8 bf16/inner", "gemm"),
        ("d:outer/inner", None),
        ("", None),
    ],
)
def test_paths_that_keep_only_text(path, op):
    found = parse_path(path)
    assert (found and found.op) == op


def test_what_the_annotating_module_writes_is_read():
    for made in (
        pushing.gemm(m=8, n=16, k=32, dtype="fp16", sweep="m", label="x"),
        pushing.copy(n=8, dtype="fp32"),
        pushing.elementwise(n=8, dtype="fp32", flop=3, reads=2),
        pushing.attention(batch=1, heads=2, q_len=8, kv_len=8, head_dim=16, dtype="fp16", causal=True),
    ):
        found = parse(None, made.message)
        assert found.remark == ""
        assert found.useful_flop is not None


@given(st.none() | st.text(max_size=40), st.text(max_size=200), st.none() | st.text(max_size=50))
def test_any_text_is_answered(domain, name, payload):
    for text in (name, annotation.PREFIX + name, annotation.PREFIX + "{" + name + "}"):
        try:
            parse(domain, text, payload)
            parse_path(text)
        except AnnotationError as error:
            assert len(str(error)) < 500  # noqa: PT017  either outcome is right, a crash is not


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["op", "m", "n", "k", "dtype", "batch", "label", "id", "flops", "bytes", "a"]), JSON
    )
)
def test_any_json_is_answered(body):
    text = annotation.PREFIX + json.dumps({"op": "gemm", "dtype": "fp16"} | body)
    try:
        found = parse(None, text)
    except AnnotationError:
        return
    assert found is not None
    row = found.row()
    assert all(row[key] is None or 0 <= row[key] < 2**63 for key in ("op_m", "op_n", "op_k"))
