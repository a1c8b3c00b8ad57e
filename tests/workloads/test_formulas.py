"""Work and compulsory bytes of every operation, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncuroof.workloads import Cost, ShapeError, cost, operations
from ncuroof.workloads.dtypes import DTYPES, dtype
from ncuroof.workloads.models import models

BY_HAND = [
    # 2·8·3584·3584 = 205,520,896; 2 B · (8·3584 + 3584·3584 + 8·3584) = 25,804,800
    ("gemm", {"m": 8, "n": 3584, "k": 3584, "dtype": "bf16"}, 205_520_896, 25_804_800),
    # 2·1024³; 4 B · 3·1024²
    ("gemm", {"m": 1024, "n": 1024, "k": 1024, "dtype": "fp32"}, 2_147_483_648, 12_582_912),
    # three products of 2×2: 2·3·8 = 48; 2 B · 3 · 12
    ("gemm", {"m": 2, "n": 2, "k": 2, "batch": 3, "dtype": "fp16"}, 48, 72),
    # beta: C is read as well: 2 B · 4 elements more than 24
    ("gemm", {"m": 2, "n": 2, "k": 2, "beta": 1, "dtype": "fp16"}, 16, 32),
    # A 4 FP8, B 4 FP8, C 4 FP32
    ("gemm", {"m": 2, "n": 2, "k": 2, "dtype": "fp8", "c": "fp32"}, 16, 4 + 4 + 16),
    ("batched_gemm", {"batch": 3, "m": 2, "n": 2, "k": 2, "dtype": "fp16"}, 48, 72),
    # one B of 4 elements instead of three
    ("batched_gemm", {"batch": 3, "m": 2, "n": 2, "k": 2, "dtype": "fp16", "shared_b": True}, 48, 56),
    # rows 1 + 0 + 3 = 4 in two groups: 2·4·2·2 = 32; 2 B · (4·2 + 2·2·2 + 4·2) = 48
    ("grouped_gemm", {"m": [1, 0, 3], "n": 2, "k": 2, "dtype": "fp16"}, 32, 48),
    ("grouped_gemm", {"m": 4, "groups": 2, "n": 2, "k": 2, "dtype": "fp16"}, 32, 48),
    ("gemv", {"m": 10, "k": 20, "dtype": "fp16"}, 400, 2 * (200 + 20 + 10)),
    ("gemv", {"m": 10, "n": 20, "dtype": "fp16"}, 400, 2 * (200 + 20 + 10)),
    ("copy", {"n": 1000, "dtype": "fp32"}, 0, 8000),
    ("scale", {"n": 1000, "dtype": "fp64"}, 1000, 16000),
    ("add", {"n": 1000, "dtype": "fp64"}, 1000, 24000),
    ("triad", {"n": 1000, "dtype": "fp32"}, 2000, 12000),
    ("elementwise", {"n": 1000, "dtype": "fp16"}, 2000, 4000),
    ("elementwise", {"n": 1000, "dtype": "fp32", "flop": 5, "reads": 3, "writes": 2}, 5000, 20000),
    ("dot", {"n": 1000, "dtype": "fp32"}, 2000, 8004),
    ("reduction", {"n": 1000, "dtype": "fp32"}, 999, 4004),
    # 100 values of 8 B and indices of 4 B, 11 row pointers, x and y of 10
    ("spmv", {"rows": 10, "nnz": 100, "dtype": "fp64"}, 200, 100 * 12 + 11 * 4 + 80 + 80),
    ("stencil", {"n": 1000, "dtype": "fp64"}, 13_000, 16_000),
    # 8 FLOP a point, 24 B with write-allocate counted as a second read: 0.33 FLOP/byte (Williams et al.)
    ("stencil", {"n": 1000, "dtype": "fp64", "flop": 8, "reads": 2}, 8_000, 24_000),
    # 4·1·2·8·8·16 = 8,192; Q, O: 2·8·16, K, V: 2·8·16 elements each of 2 B
    ("attention", {"batch": 1, "heads": 2, "q_len": 8, "kv_len": 8, "head_dim": 16, "dtype": "fp16"}, 8_192, 2048),
]


@pytest.mark.parametrize(("op", "sizes", "flop", "size"), BY_HAND)
def test_by_hand(op, sizes, flop, size):
    counted = cost(op, sizes)
    assert counted.flop == flop
    assert counted.bytes == size


def test_every_operation_has_a_worked_example():
    """Whole steps of a model have tests of their own below."""
    assert {op for op, *_ in BY_HAND} | {"decode", "prefill"} == set(operations())


def test_attention_pays_for_materialized_scores():
    """2 heads · 8 · 8 scores of 2 B, moved four times: 1024 B on top; causal keeps 36 of 64 pairs."""
    sizes = {"batch": 1, "heads": 2, "q_len": 8, "kv_len": 8, "head_dim": 16, "dtype": "fp16"}
    fused, stored = cost("attention", sizes), cost("attention", sizes | {"scores": "materialized"})
    assert stored.bytes - fused.bytes == 1024
    assert stored.flop == fused.flop
    assert cost("attention", sizes | {"causal": True}).flop == fused.flop * 36 / 64
    # one query over 8 keys sees all of them, causal or not
    one = sizes | {"q_len": 1}
    assert cost("attention", one | {"causal": True}).flop == cost("attention", one).flop
    # keys and values shared by groups of heads: half of K and V
    assert cost("attention", sizes | {"kv_heads": 1}).bytes == fused.bytes - 2 * 8 * 16 * 2


@pytest.mark.parametrize(
    ("op", "sizes", "intensity"),
    [
        ("elementwise", {"n": 1 << 20, "dtype": "fp32"}, 0.25),  # 1 / sizeof (table 2)
        ("elementwise", {"n": 1 << 20, "dtype": "fp16"}, 0.5),
        ("elementwise", {"n": 1 << 20, "dtype": "fp32", "r": 64}, 16.0),  # FMA sweep: R / 4 in FP32, R / 8 in FP64
        ("elementwise", {"n": 1 << 20, "dtype": "fp64", "r": 64}, 8.0),
        ("gemm", {"m": 6000, "n": 6000, "k": 6000, "dtype": "fp32"}, 1000.0),  # square: n / 6 in FP32
        ("gemm", {"m": 6000, "n": 6000, "k": 6000, "dtype": "fp16"}, 2000.0),  # n / 3 in FP16
        ("gemm", {"m": 16, "n": 8192, "k": 8192, "dtype": "fp16"}, 15.94),  # thin: about M
        ("gemm", {"m": 256, "n": 8192, "k": 8192, "dtype": "fp16"}, 240.9),  # table 6: 241
        ("gemm", {"m": 2048, "n": 8192, "k": 8192, "dtype": "fp16"}, 1365.3),  # table 6: 1365
        ("gemv", {"m": 8192, "k": 8192, "dtype": "fp16"}, 1.0),
        ("gemm", {"m": 1, "n": 8192, "k": 8192, "dtype": "fp64"}, 0.25),  # B300, M = 1
        ("triad", {"n": 1 << 20, "dtype": "fp32"}, 0.167),
    ],
)
def test_intensities_of_the_articles(op, sizes, intensity):
    assert cost(op, sizes).intensity == pytest.approx(intensity, rel=2e-3)


def test_qwen_sizes_are_the_published_ones():
    """7,615,616,512 parameters, 15.23 GB; embedding 152064·3584·2 B = 1.09 GB; the difference 14.14 GB."""
    qwen = models()["qwen2.5-7b"]
    assert qwen.parameters == 7_615_616_512
    assert round(qwen.parameters * 2 / 1e9, 2) == 15.23
    assert round(qwen.embedding_weights * 2 / 1e9, 2) == 1.09
    assert round(qwen.weights * 2 / 1e9, 2) == 14.14
    assert models()["llama-3.1-8b"].parameters == 8_030_261_248
    assert models()["mistral-7b"].parameters == 7_241_732_096


def test_decode_step():
    """KV cache: 2·28·4·128 elements of 2 B a token = 57,344 B; 16 sequences of 4096: 3.76 GB."""
    step = cost("decode", {"model": "qwen2.5-7b", "batch": 16, "prompt": 4096})
    flows = {flow.label: flow for flow in step.ledger}
    assert flows["KV cache"].bytes == 16 * 4096 * 57_344
    assert flows["KV of the new token"].written
    single = cost("decode", {"model": "qwen2.5-7b"})
    assert single.flop == pytest.approx(14.1e9, rel=5e-3)  # 7.07 billion weights, one multiply-add each
    assert single.intensity == pytest.approx(1.0, rel=1e-3)
    half = cost("decode", {"model": "qwen2.5-7b", "dtype": "fp8", "kv_dtype": "bf16", "prompt": 128})
    assert half.ledger[0].bytes == models()["qwen2.5-7b"].weights


def test_prefill_step():
    """1024 tokens: 2 · 1024 · 6,525,621,760 layer weights + last norm, output layer once, causal attention on top."""
    step = cost("prefill", {"model": "qwen2.5-7b", "prompt": 1024})
    layers = 28 * 233_057_792 + 3584
    attention = 4 * 28 * 28 * 128 * 1024 * 1025 / 2
    assert step.flop == 2 * 1024 * layers + 2 * 152064 * 3584 + attention


def test_a_model_by_its_sizes():
    sizes = {"layers": 28, "hidden": 3584, "intermediate": 18944, "heads": 28, "kv_heads": 4, "head_dim": 128,
             "vocab": 152064, "bias": True}  # fmt: skip
    assert cost("decode", sizes).bytes == cost("decode", {"model": "Qwen/Qwen2.5-7B"}).bytes


def test_matrix_products_know_their_path():
    assert cost("gemm", {"m": 1, "n": 1, "k": 1, "dtype": "fp64"}).paths == ("fp64_tensor", "fp64")
    assert cost("gemm", {"m": 1, "n": 1, "k": 1, "dtype": "fp32"}).paths == ("fp32",)
    assert cost("gemm", {"m": 1, "n": 1, "k": 1, "dtype": "tf32"}).paths == ("tf32",)
    assert cost("triad", {"n": 1, "dtype": "bf16"}).paths == ("fp32",)
    assert cost("copy", {"n": 1, "dtype": "bf16"}).paths == ()


def test_nvfp4_counts_its_scale_factors():
    """4 bits and one FP8 scale for 16 elements: 0.5625 B."""
    assert DTYPES["nvfp4"].bytes == 0.5625
    assert DTYPES["mxfp4"].bytes == 0.53125
    assert dtype("torch.float16") is DTYPES["fp16"]
    assert dtype("FP8_E4M3") is DTYPES["fp8"]
    assert dtype("quaternion") is None


@pytest.mark.parametrize(
    ("op", "sizes", "says"),
    [
        ("fft", {"n": 8}, "no operation"),
        ("gemm", {"m": 8, "n": 8, "dtype": "fp16"}, "needs k"),
        ("gemm", {"m": 8, "n": 8, "k": 8}, "needs a|needs dtype"),
        ("gemm", {"m": 8, "n": 8, "k": 8, "dtype": "fp17"}, "no element type"),
        ("gemm", {"m": 0, "n": 8, "k": 8, "dtype": "fp16"}, "positive"),
        ("gemm", {"m": -8, "n": 8, "k": 8, "dtype": "fp16"}, "positive"),
        ("gemm", {"m": 8.5, "n": 8, "k": 8, "dtype": "fp16"}, "whole number"),
        ("gemm", {"m": float("inf"), "n": 8, "k": 8, "dtype": "fp16"}, "positive"),
        ("gemm", {"m": float("nan"), "n": 8, "k": 8, "dtype": "fp16"}, "positive"),
        ("gemm", {"m": 1e30, "n": 8, "k": 8, "dtype": "fp16"}, "below 2"),
        ("gemm", {"m": True, "n": 8, "k": 8, "dtype": "fp16"}, "expected a number"),
        ("gemm", {"m": "8", "n": 8, "k": 8, "dtype": "fp16"}, "expected a number"),
        ("gemm", {"m": 8, "n": 8, "k": 8, "q": 8, "dtype": "fp16"}, "no size called 'q'"),
        ("decode", {"model": "gpt-9"}, "known are qwen2.5-7b"),
        ("decode", {"layers": 2}, "needs"),
        ("grouped_gemm", {"m": [1, "x"], "n": 2, "k": 2, "dtype": "fp16"}, "whole numbers"),
        ("grouped_gemm", {"m": [0, 0], "n": 2, "k": 2, "dtype": "fp16"}, "only zeros"),
        (
            "attention",
            {"batch": 1, "heads": 1, "q_len": 1, "kv_len": 1, "head_dim": 1, "dtype": "fp16", "scores": "lost"},
            "fused or materialized",
        ),
    ],
)
def test_faults_are_named(op, sizes, says):
    with pytest.raises(ShapeError) as caught:
        cost(op, sizes)
    assert any(part in str(caught.value) for part in says.split("|"))


def test_every_operation_is_described():
    for name, module in operations().items():
        assert module.__doc__, name
        assert "Source" in module.__doc__, name
        assert all(module.KEYS.values()), name
        assert module.WORK, name
        assert module.BYTES, name


@given(st.sampled_from(sorted(operations())), st.data())
def test_any_sizes_give_a_cost_or_a_shape_error(op, data):
    module = operations()[op]
    value = (
        st.none()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.booleans()
        | st.lists(st.integers(), max_size=3)
    )
    keys = st.sampled_from([*module.KEYS, *module.OPTIONAL, "dtype"])
    sizes = data.draw(st.dictionaries(keys, value))
    try:
        counted = cost(op, sizes)
    except ShapeError:
        return
    assert isinstance(counted, Cost)
    assert counted.flop >= 0
    assert counted.bytes >= 0


@given(st.integers(1, 2**20), st.integers(1, 2**20), st.integers(1, 2**20))
def test_gemm_is_exact_for_whole_numbers(m, n, k):
    counted = cost("gemm", {"m": m, "n": n, "k": k, "dtype": "fp16"})
    assert counted.flop == float(2 * m * n * k)
    assert counted.bytes == 2 * (m * k + k * n + m * n)
