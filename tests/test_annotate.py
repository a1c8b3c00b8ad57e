from __future__ import annotations

import json
import subprocess
import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncuroof import annotate
from ncuroof.workloads import annotation


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    monkeypatch.setenv(annotate.LOG_VARIABLE, str(path))
    monkeypatch.setattr(annotate._State, "sink", None)
    monkeypatch.setattr(annotate._State, "searched", False)
    return lambda: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def body(message):
    assert message.startswith("ncuroof:")
    return json.loads(message.removeprefix("ncuroof:"))


def test_gemm_message_holds_op_shape_dtype_and_sweep():
    message = annotate.gemm(m=8, n=8192, k=4096, dtype="fp16", sweep="m").message
    assert body(message) == {"op": "gemm", "m": 8, "n": 8192, "k": 4096, "dtype": "fp16", "sweep": "m"}
    assert "\n" not in message


def test_optional_keys_are_absent_unless_given():
    assert body(annotate.copy(n=4, dtype="fp32").message) == {"op": "copy", "n": 4, "dtype": "fp32"}
    assert body(annotate.gemm(m=1, n=2, k=3, dtype="fp32", batch=5).message)["batch"] == 5
    assert "causal" not in annotate.attention(batch=1, heads=2, q_len=3, kv_len=3, head_dim=4, dtype="fp16").message


def test_range_is_pushed_and_popped_also_when_the_body_raises(log):
    with pytest.raises(ZeroDivisionError), annotate.copy(n=1, dtype="fp32"):
        _ = 1 / 0
    assert [entry["event"] for entry in log()] == ["push", "pop"]


def test_each_use_of_a_range_has_an_id_of_its_own(log):
    mark = annotate.copy(n=1, dtype="fp32")
    for _ in range(3):
        with mark:
            pass
    ids = [body(entry["message"])["id"] for entry in log() if entry["event"] == "push"]
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2]


@pytest.mark.parametrize(
    "mark",
    [
        annotate.gemm(m=8, n=16, k=32, dtype="fp16", batch=2),
        annotate.copy(n=64, dtype="fp32"),
        annotate.elementwise(n=64, dtype="bf16", flop=3, reads=2),
        annotate.attention(batch=1, heads=4, kv_heads=2, q_len=8, kv_len=8, head_dim=16, dtype="fp16", causal=True),
    ],
)
def test_what_is_written_is_what_the_workload_formulas_read(mark, log):
    with mark:
        pass
    read = annotation.parse("", log()[0]["message"])
    assert read.op == body(mark.message)["op"]
    assert read.remark == ""
    assert read.compulsory_bytes > 0


def test_useful_work_of_an_annotated_product(log):
    with annotate.gemm(m=8, n=16, k=32, dtype="fp16", label="q", sweep="m"):
        pass
    read = annotation.parse("", log()[0]["message"])
    # 2·8·16·32 FLOP; 2 bytes each of 8·32 + 32·16 + 8·16 elements.
    assert (read.useful_flop, read.compulsory_bytes) == (8192, 2 * (256 + 512 + 128))
    assert (read.dtype, read.label, read.sweep) == ("fp16", "q", "m")


def test_decorator_annotates_every_call_and_nests(log):
    inner = annotate.copy(n=1, dtype="fp32")

    @annotate.elementwise(n=2, dtype="fp32")
    def work():
        with inner, inner:
            return 7

    assert [work(), work()] == [7, 7]
    events = [entry["event"] for entry in log()]
    assert events == ["push", "push", "push", "pop", "pop", "pop"] * 2


def test_torch_is_used_where_it_is_imported(monkeypatch, log):
    calls = []
    nvtx = types.SimpleNamespace(range_push=calls.append, range_pop=lambda: calls.append("pop"))
    torch = types.SimpleNamespace(cuda=types.SimpleNamespace(nvtx=nvtx))
    monkeypatch.setitem(sys.modules, "torch", torch)
    mark = annotate.copy(n=1, dtype="fp32")
    with mark:
        pass
    assert calls[-1] == "pop"
    assert body(calls[-2]) == body(mark.message) | {"id": body(calls[-2])["id"]}


def test_torch_without_nvtx_and_no_other_library_is_a_no_op(monkeypatch, log):
    def refuse(*_):
        msg = "NVTX functions not installed"
        raise RuntimeError(msg)

    nvtx = types.SimpleNamespace(range_push=refuse, range_pop=refuse)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=types.SimpleNamespace(nvtx=nvtx)))
    monkeypatch.setitem(sys.modules, "nvtx", None)
    monkeypatch.setattr(annotate.ctypes, "CDLL", refuse)
    with annotate.copy(n=1, dtype="fp32"):
        pass
    assert annotate._State.sink is None
    assert len(log()) == 2


def test_torch_imported_after_the_first_range_is_still_found(monkeypatch, log):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setitem(sys.modules, "nvtx", None)
    monkeypatch.setattr(annotate.ctypes, "CDLL", lambda _: (_ for _ in ()).throw(OSError()))
    with annotate.copy(n=1, dtype="fp32"):
        pass
    calls = []
    nvtx = types.SimpleNamespace(range_push=calls.append, range_pop=lambda: None)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=types.SimpleNamespace(nvtx=nvtx)))
    with annotate.copy(n=2, dtype="fp32"):
        pass
    assert len(calls) == 2  # the probe, then the range


def test_unwritable_log_does_not_stop_the_program(monkeypatch, tmp_path):
    monkeypatch.setenv(annotate.LOG_VARIABLE, str(tmp_path / "missing" / "log"))
    with annotate.copy(n=1, dtype="fp32"):
        pass


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: annotate.gemm(m=-1, n=1, k=1, dtype="fp32"), "m of gemm is -1"),
        (lambda: annotate.op("x", dtype="fp32", label="a" * 2000), "at most 1024"),
    ],
)
def test_a_wrong_annotation_says_so(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_importing_it_imports_no_heavy_package():
    code = "import sys, ncuroof.annotate; print(sorted({'torch', 'polars', 'numpy', 'nvtx'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@given(
    label=st.text(max_size=40),
    sizes=st.dictionaries(st.sampled_from("abcxyz"), st.integers(0, 2**63), max_size=4),
)
def test_any_label_and_size_survives_the_message(label, sizes):
    message = annotate.op("thing", dtype="fp16", label=label, **sizes).message
    assert message.isascii()
    assert body(message) == {"op": "thing", **sizes, "dtype": "fp16", "label": label}
