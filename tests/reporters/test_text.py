from __future__ import annotations

import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.samples import empty, hostile, typical

from ncuroof.model import Skip
from ncuroof.reporters import RenderOptions
from ncuroof.reporters.text import render, summary


def lines(a, **options):
    return render(a, RenderOptions(**options)).splitlines()


def test_kernel_table():
    text = render(typical(), RenderOptions())
    table = text.split("\n\n")[1].splitlines()
    # 400 + 3 × 100 + 100 + 20 µs = 820 µs: 49, 37, 12 and 2.4 %. W / F of the product: 2·2048·8192² / 788e12 =
    # 348.8 µs, so 87 % of 400 µs. The copy moves 268435456 B, 87.0 µs at 3085 GB/s, in 100 µs.
    assert table == [
        "   share  GPU time  verdict         roof  of    kernel",
        "1   49 %    400 µs  compute-bound   87 %  fp16  gemm 2048×8192×8192 fp16",
        "2   37 %    300 µs  cannot-say     ~87 %  dram  copy ×3",
        "3   12 %    100 µs  latency-bound   32 %  dram  softmax",
        "4  2.4 %     20 µs  cannot-say         –  –     index_put",
        "  cannot say: needs FLOP counters (#2, #4)",
        "~ bytes or FLOPs derived, not counted",
    ]


def test_findings_by_stake_with_advice_once():
    text = render(typical(), RenderOptions())
    block = text.split("\n\n")[2].splitlines()
    assert block[0] == "Findings, most time at stake first"
    heads = [line for line in block[1:] if line[:10].strip()]
    assert heads == [
        "   60 µs  R001 l2-resident  warning (Nsight agrees)  #3 softmax",
        "   10 µs  W001 padding-waste  info  #1 Kernel<cutlass_90_tensorop_s16816gemm_f…>",
        "    3 µs  T001 launch-overhead  warning  #2 copy ×3",
    ]
    # R001 and T001 are built with the same advice; as advice of another rule it is said again.
    assert sum("→ Measure again" in line for line in block) == 2


def test_the_same_advice_of_one_rule_is_given_once():
    a = analysis([kernel(grid_x=1), kernel(grid_x=2)], [finding(0), finding(1)])
    assert render(a, RenderOptions()).count("→ Measure again") == 1


def test_notes_and_summary():
    out = lines(typical())
    assert "  D006 caches flushed" in out
    assert "  run.ncu-rep: the file ends early" in out
    assert " ".join(out[-2:]) == (
        "6 kernels, 820 µs GPU time; 6 findings: 4 warnings, 1 info, 1 note; 2 rules could not judge "
        "up to 4 kernels: see --verbose"
    )


def test_summary_in_other_cases():
    a = analysis([kernel()], skips=(Skip("R001", 1, {}),))
    assert summary(a, verbose=True) == "1 kernel, 100 µs GPU time; no findings; 1 rule could not judge 1 kernel"
    unknown = analysis([kernel(duration_s=None)])
    assert summary(unknown, verbose=False) == "1 kernel, unknown GPU time; no findings"


def test_verbose_says_why_and_from_where():
    text = render(typical(), RenderOptions(verbose=True))
    for expected in (
        "reaches 87 % of the compute roof; I 1374 FLOP/B",
        "W 275 GFLOP (counter)",
        "(percent×peak)",
        "R001 could not judge 4 of 6 kernels: without compulsory_bytes (4)",
        "fp16 up to 788 TFLOP/s, measured, table of eight GPUs",
        "run.ncu-rep as ncu-rep: it begins with NVR",
    ):
        assert expected in text.replace("\n     ", " ").replace("\n    ", " "), expected


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("sample", [typical, hostile, empty])
@pytest.mark.parametrize("verbose", [False, True])
def test_no_line_is_wider_than_asked(width, sample, verbose):
    assert max(len(line) for line in lines(sample(), width=width, verbose=verbose, limit=0)) <= width


def test_limit_counts_the_rest():
    kernels = [kernel(grid_x=i, duration_s=1e-3 / i) for i in range(1, 6)]
    out = lines(analysis(kernels, [finding(i, time_at_stake_s=1e-6) for i in range(5)]), limit=2)
    # 1/3 + 1/4 + 1/5 of 1 + 1/2 + 1/3 + 1/4 + 1/5 = 0.7833 / 2.2833 = 34 %
    assert "… and 3 more kernels with 34 % of the GPU time (--limit 0 shows all)" in out
    assert "… and 3 more findings, 3 µs at stake in sum (--limit 0 shows all)" in out


def test_equal_names_are_told_apart_by_their_shape():
    out = lines(analysis([kernel(grid_x=7), kernel(grid_x=8, grid_y=2)]))
    assert [line.split("dram  ")[1] for line in out if "dram  " in line] == ["saxpy [7]", "saxpy [8×2]"]


def test_the_percentage_is_that_of_what_binds():
    # 2.4 % of a roof, but L1 at 87 % and the SM at 91 %: those are what the verdict is about, and they are counted.
    derived = {"flop_source": "rate×time", "roof_pct": 2.4, "duration_s": 1e-3}
    l1 = kernel(kernel_name="a", verdict="memory-bound", limiter="l1", limiter_pct=87.0, **derived)
    sm = kernel(kernel_name="b", verdict="compute-bound", limiter="sm", limiter_pct=91.0, **derived)
    dram = kernel(kernel_name="c", verdict="memory-bound", limiter="dram", limiter_pct=65.0, **derived)
    out = lines(analysis([l1, sm, dram]))
    assert out[3].split("memory-bound")[1].split() == ["87", "%", "l1", "a"]
    assert out[4].split("compute-bound")[1].split() == ["91", "%", "sm", "b"]
    assert out[5].split("memory-bound")[1].split() == ["~65", "%", "dram", "c"]


def test_many_gpus_and_reports():
    kernels = [kernel(gpu_name=f"GPU {i}", source=f"{i}.ncu-rep", duration_s=1e-3 / (i + 1)) for i in range(5)]
    assert lines(analysis(kernels))[0] == "5 reports on GPU 0, GPU 1, GPU 2 and 2 more GPUs"


def test_nothing_read():
    assert lines(empty())[-1] == "0 kernels, unknown GPU time; no findings"


def test_padding_is_told_with_what_it_costs():
    # 64 x the useful work on a kernel that memory bounds, and 2 x on one that compute bounds.
    free = kernel(kernel_name="a", flop=1e8, traffic_bytes=1e8, executed_over_useful=64.0)
    dear = kernel(kernel_name="b", flop=5e9, traffic_bytes=1e6, executed_over_useful=2.0)
    plain = kernel(kernel_name="c", executed_over_useful=1.1)
    text = " ".join(render(analysis([free, dear, plain]), RenderOptions()).split())
    assert "64 × in #1 (free, the intensity stays left of the ridge)" in text
    assert "2 × in #2 (right of the ridge it costs time)" in text
    assert "1.1 ×" not in text


def test_the_users_label_is_not_cut_by_its_shape():
    row = kernel(op="gemm", op_dtype="bf16", op_m=1, op_n=18944, op_k=3584, op_label="decode gate_proj batch=1")
    assert "decode gate_proj batch=1\n" in render(analysis([row]), RenderOptions(width=72))
