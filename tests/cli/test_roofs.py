"""``ncuroof roofs`` and ``ncuroof bound`` as a user meets them."""

from __future__ import annotations

import json

import pytest

from ncuroof.cli import run


def words(*arguments: str) -> list[str]:
    return [word for argument in arguments for word in argument.split()]


def out(capsys, *arguments: str) -> str:
    assert run(words(*arguments)) == 0
    text = capsys.readouterr().out
    assert all(len(line) <= 80 for line in text.splitlines()), "wider than 80 columns"
    return text


def parsed(capsys, *arguments: str):
    assert run(words(*arguments, "--format json")) == 0
    return json.loads(capsys.readouterr().out)


def fails(capsys, *arguments: str) -> str:
    assert run(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_h100_and_h200_cross_at_245(capsys):
    text = out(capsys, "roofs", "H100", "H200", "--path", "fp16")
    assert "788" in text
    assert "756" in text
    assert "255" in text
    assert "cross at 245 FLOP/byte" in text


def test_mi100_and_mi210(capsys):
    text = out(capsys, "roofs", "MI100", "MI210", "--path", "fp16")
    assert "133" in text
    assert "101" in text
    assert "nowhere below" in text


def test_the_three_fp16_roofs_of_the_h100_side_by_side(capsys):
    """989 dense data sheet, 1,071 from the boost clock, 1,979 sparse: each says what it is; 788 was measured."""
    assert run(["roofs", "H100"]) == 0
    captured = capsys.readouterr()
    fp16 = [" ".join(line.split()) for line in captured.out.splitlines() if line.startswith("fp16 ")]
    assert any(line.startswith("fp16 measured 788 TFLOP/s 255") for line in fp16)
    assert any(line.startswith("fp16 datasheet 989 TFLOP/s 295") for line in fp16)
    assert any(line.startswith("fp16 device 1,071 TFLOP/s") for line in fp16)
    assert "fp16 2:4 datasheet 1,979 TFLOP/s" in fp16
    assert captured.err.startswith("note: H100 is taken as H100 SXM5 80 GB")
    assert all(len(line) <= 80 for line in captured.out.splitlines())


def test_both_ways_of_measuring_are_listed(capsys):
    """H100 FP32: products 51.9, FMA sweep 61.5 TFLOP/s; / 3084.85 GB/s = 16.8 and 19.9 FLOP/byte."""
    rows = [" ".join(line.split()) for line in out(capsys, "roofs", "H100", "B300", "--path", "fp32").splitlines()]
    assert "H100 SXM5 80 GB 3,085 51.9 16.8 measured, matrix product" in rows
    assert "H100 SXM5 80 GB 3,085 61.5 19.9 measured, FMA sweep" in rows
    assert "matrix product: B300 SXM 288 GB is nowhere below H100 SXM5 80 GB." in rows
    assert "FMA sweep: B300 SXM 288 GB is nowhere below H100 SXM5 80 GB." in rows
    listed = [line.split() for line in out(capsys, "roofs", "--path", "fp32").splitlines()]
    assert [row[5] for row in listed if row[0] == "h100-sxm5-80gb"] == ["51.9", "61.5"]


def test_both_ways_of_measuring_in_json(capsys):
    document = parsed(capsys, "roofs", "H100", "4080", "--path", "fp64", "--path", "fp32")
    fp64, fp32 = document["paths"]
    found = {(line["gpu"], line["kind"]): line["flop_s"] / 1e12 for line in fp32["rooflines"]}
    assert found[("h100-sxm5-80gb", "matmul")] == pytest.approx(51.872)
    assert found[("h100-sxm5-80gb", "fma")] == pytest.approx(61.5)
    assert [crossing["kind"] for crossing in fp32["crossings"]] == ["matmul", "fma"]
    # The H100's FP64 product ran on tensor cores, which is another path: only the sweeps compare.
    assert [crossing["kind"] for crossing in fp64["crossings"]] == ["fma"]
    kinds = {(roof["path"], roof["kind"]) for roof in document["gpus"][0]["roofs"] if roof["source"] == "measured"}
    assert {("fp32", "matmul"), ("fp32", "fma"), (None, None)} <= kinds


def test_a_gpu_with_one_way_is_compared_with_the_highest_of_two(capsys):
    """H100 61.5 at 3085 GB/s, RTX 4090 82.6 (data sheet) at 1008: they cross at 61.5e12 / 1008e9 = 61.0 FLOP/byte."""
    assert "They cross at 61.0 FLOP/byte" in out(capsys, "roofs", "H100", "RTX-4090", "--path", "fp32")


def test_the_list_names_every_gpu(capsys):
    from ncuroof import gpus

    text = out(capsys, "roofs")
    assert len(text.splitlines()) == len(gpus.variants()) + 1


def test_json(capsys):
    document = parsed(capsys, "roofs", "H100", "H200", "--path", "fp16")
    (path,) = document["paths"]
    assert round(path["crossings"][0]["intensity_flop_per_byte"]) == 245
    assert path["rooflines"][0]["flop_s"] == pytest.approx(787.612e12)
    assert {gpu["id"] for gpu in document["gpus"]} == {"h100-sxm5-80gb", "h200-sxm-141gb"}
    roofs = document["gpus"][0]["roofs"]
    assert all(roof["citation"] and roof["source"] and roof["unit"] for roof in roofs)
    assert len(parsed(capsys, "roofs")["gpus"]) > 100


def test_only_one_source(capsys):
    text = out(capsys, "roofs", "H100-SXM", "--path", "fp16", "--source", "datasheet")
    assert "989" in text
    assert "788" not in text


@pytest.mark.parametrize(
    ("m", "fits"),
    [
        # Q = 2 (2·3584 M + 3584²) B against 50 MiB = 52,428,800 B of L2.
        (8, True),  # 25,804,800
        (1865, True),  # 52,426,752
        (1866, False),  # 52,441,088
    ],
)
def test_bytes_that_fit_in_l2_are_said_to(capsys, m, fits):
    arguments = ("bound gemm --n 3584 --k 3584 --dtype bf16 --gpu H100-SXM", f"--m {m}")
    assert ("Q fits in the L2 of 50 MiB" in out(capsys, *arguments)) == fits
    assert parsed(capsys, *arguments)["machines"][0]["fits_l2"] is fits


def test_nothing_is_said_of_l2_where_it_is_not_known_or_nothing_is_timed(capsys):
    own = out(capsys, "bound copy --n 8 --dtype fp32 --peak 60TFLOP/s --bandwidth 3TB/s")
    assert "L2" not in own
    assert "L2" not in out(capsys, "bound --intensity 5 --path fp16 --gpu H100-SXM")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["roofs", "H1000"], "no GPU of the table"),
        (["roofs", "RTX"], "may be any of"),
        (["roofs", "H100", "--path", "fp17"], "no compute path"),
        (["roofs", "H100", "--source", "dream"], "no source"),
        (["roofs", "--roofs", "none.toml"], "no such file"),
        (["bound"], "name an operation"),
        (["bound", "gemm", "--gpu", "H100"], "gemm needs --m (rows of A and C)"),
        (["bound", "gemm", "--m", "8", "--n", "8", "--k", "8", "--gpu", "H100"], "gemm needs --dtype (element type"),
        (["bound", "fft", "--n", "8", "--gpu", "H100"], "no operation"),
        (["bound", "copy", "--n", "8", "--dtype", "fp32"], "name a GPU"),
        (["bound", "copy", "--n", "8", "--dtype", "fp32", "--gpu", "RTX"], "may be any of"),
        (["bound", "copy", "--n", "8", "--n", "9", "--dtype", "fp32", "--gpu", "T4"], "given twice"),
        (["bound", "copy", "8", "--dtype", "fp32", "--gpu", "T4"], "no option"),
        (["bound", "triad", "--n", "8", "--dtype", "fp32", "--peak", "60TFLOP/s"], "needs both"),
        (
            ["bound", "triad", "--n", "8", "--dtype", "fp32", "--peak", "60TFLOPS", "--bandwidth", "3TB/s"],
            "rate or a count",
        ),
        (
            ["bound", "triad", "--n", "8", "--dtype", "fp32", "--peak", "60TFLOP/s", "--bandwidth", "3Tb/s"],
            "counts bits",
        ),
        (["bound", "triad", "--n", "8", "--dtype", "fp32", "--peak", "60", "--bandwidth", "3TB/s"], "with its unit"),
        (["bound", "gemm", "--m", "8", "--n", "8", "--k", "8", "--dtype", "fp8", "--gpu", "T4"], "no roof of fp8"),
        (["bound", "--intensity", "5", "--gpu", "H100"], "needs --path"),
        (["bound", "--intensity", "-5", "--path", "fp16", "--gpu", "H100"], "positive"),
        (["bound", "copy", "--intensity", "5", "--path", "fp16", "--gpu", "H100"], "leave out copy or --intensity"),
    ],
)
def test_faults(capsys, arguments, says):
    assert says in fails(capsys, *arguments)


def test_a_gpu_without_roofs_has_no_empty_table(capsys):
    text = out(capsys, "roofs rtx-5060-laptop")
    assert text.splitlines()[0].startswith("GeForce RTX 5060 Laptop")
    assert text.splitlines()[-1] == "no roofs: the report's own attributes are used"
    assert "ridge" not in text
    # The T4 has data sheet roofs and was never measured.
    assert out(capsys, "roofs T4 --source measured").splitlines()[-1] == "no measured roofs"


def test_bound_on_a_gpu_without_roofs_says_what_is_missing(capsys):
    said = fails(capsys, *words("bound gemm --m 8 --n 8 --k 8 --dtype fp16 --gpu rtx-5060-laptop"))
    assert "neither a roof of fp16 nor a bandwidth is known for GeForce RTX 5060 Laptop" in said
    assert "Clocks and memory speed depend on the laptop" in said
    assert "--peak and --bandwidth" in said
    # Here one of the two is known: the bandwidth of the data sheet.
    said = fails(capsys, *words("bound gemm --m 8 --n 8 --k 8 --dtype fp16 --gpu gtx-1080"))
    assert "no roof of fp16 is known" in said


@pytest.mark.parametrize(
    "arguments",
    ["roofs H100 H200 H100 --path fp16", "bound copy --n 8 --dtype fp32 --gpu H100 --gpu H200 --gpu H100"],
)
def test_the_variant_that_was_taken_is_said_once(capsys, arguments):
    assert run(words(arguments)) == 0
    said = capsys.readouterr().err
    assert said.count("H100 is taken as") == 1
    assert said.count("H200 is taken as") == 1


def test_bound_of_a_thin_product(capsys):
    """W = 205.5 MFLOP, Q = 25.8 MB; Q / 3084.85 GB/s = 8.365 µs; I = 7.96; 7.96 × 3.085 = 24.57 TFLOP/s, 3.06 %."""
    text = out(capsys, "bound gemm --m 8 --n 3584 --k 3584 --dtype bf16 --gpu H100-SXM")
    for part in ("205.5 MFLOP", "25.8 MB", "7.96 FLOP/byte", "260.1 FLOP/byte", "24.57 TFLOP/s", "3.06 %", "8.365 µs"):
        assert part in text
    assert "memory-bound" in text


PRODUCTS = {
    "gemm": "--m 4096 --n 4096 --k 4096",
    "gemv": "--m 4096 --n 4096",
    "batched_gemm": "--batch 8 --m 512 --n 512 --k 512",
    "grouped_gemm": "--m 64,512 --n 512 --k 512",
    "attention": "--batch 1 --heads 8 --q_len 1024 --kv_len 1024 --head_dim 64",
    "prefill": "--model qwen2.5-7b --prompt 512",
    "decode": "--model qwen2.5-7b",
}


@pytest.mark.parametrize("op", PRODUCTS)
def test_a_product_is_held_against_the_highest_product(capsys, op):
    """H100 FP32: products reach 51.872 TFLOP/s, the FMA sweep 61.5; B300 FP64 1.053 and 1.19."""
    (machine,) = parsed(capsys, f"bound {op} {PRODUCTS[op]} --dtype fp32 --gpu H100")["machines"]
    assert machine["roof"]["value"] == pytest.approx(51.872e12)
    assert machine["roof"]["kind"] == "matmul"
    assert machine["ridge_flop_per_byte"] == pytest.approx(51.872e12 / 3084.85e9)


def test_the_fp64_product_of_the_b300_turns_flat_at_0_165(capsys):
    text = out(capsys, "bound gemm --m 4096 --n 4096 --k 4096 --dtype fp64 --gpu B300")
    assert "1.053 TFLOP/s" in text
    assert "0.165 FLOP/byte" in text
    assert "highest dense matrix product" in text


def test_what_is_no_product_is_held_against_the_fma_sweep(capsys):
    (machine,) = parsed(capsys, "bound triad --n 1e8 --dtype fp32 --gpu H100")["machines"]
    assert (machine["roof"]["value"], machine["roof"]["kind"]) == (61.5e12, "fma")


def test_bound_of_a_decode_step(capsys):
    """Weights 14.14 GB / 3084.85 GB/s = 4.584 ms; the cache of 128 tokens adds 0.002 ms."""
    text = out(capsys, "bound decode --model qwen2.5-7b --batch 1 --prompt 128 --gpu H100-SXM")
    assert "14.14 GB  4.584 ms" in text
    assert "4.586 ms" in text
    assert "memory-bound" in text


@pytest.mark.parametrize(("intensity", "attained", "percent"), [("5", "16.75", "1.69 %"), ("10", "33.5", "3.39 %")])
def test_attainable_on_the_datasheet(capsys, intensity, attained, percent):
    text = out(
        capsys, "bound", "--intensity", intensity, "--path", "fp16", "--gpu", "H100-SXM", "--source", "datasheet"
    )
    assert f"{attained} TFLOP/s" in text
    assert percent in text
    assert "295.2 FLOP/byte" in text
    assert "time bound" not in text


def test_triad_on_a_machine_of_ones_own(capsys):
    text = out(capsys, "bound triad --n 1e8 --dtype fp32 --peak 60TFLOP/s --bandwidth 3.35TB/s")
    assert "0.167 FLOP/byte" in text
    assert "17.9 FLOP/byte" in text
    assert "0.5583 TFLOP/s" in text
    assert "0.93 % of the peak" in text


def test_compute_bound_and_near_the_ridge(capsys):
    assert "compute-bound" in out(capsys, "bound gemm --m 8192 --n 8192 --k 8192 --dtype fp16 --gpu H100-SXM")
    assert "near the ridge" in out(capsys, "bound gemm --m 272 --n 8192 --k 8192 --dtype fp16 --gpu H100-SXM")


def test_fp64_takes_the_path_that_the_gpu_has(capsys):
    square = "bound gemm --m 4096 --n 4096 --k 4096 --dtype fp64 --gpu"
    assert "fp64_tensor path" in out(capsys, square, "H100-SXM")
    assert "fp64 path" in out(capsys, square, "B300")


def test_several_gpus_and_json(capsys):
    document = parsed(capsys, "bound decode --model qwen2.5-7b --gpu H100 --gpu H200 --gpu 4080")
    bounds = [round(machine["memory_s"] * 1e3, 2) for machine in document["machines"]]
    assert bounds == [4.58, 3.29, 21.38]
    assert document["ledger"][0]["bytes"] == 14_141_238_272
    assert document["machines"][0]["bandwidth"]["source"] == "measured"


def test_options_as_flags_lists_and_powers(capsys):
    base = "bound attention --batch 1 --heads 2 --q-len 1e3 --kv_len 1000 --head_dim 64 --dtype fp16 --gpu T4"
    fused = parsed(capsys, base)
    stored = parsed(capsys, base, "--scores=materialized", "--causal")
    assert stored["bytes"] - fused["bytes"] == 4 * 2 * 1000 * 1000 * 2
    assert stored["flop"] == fused["flop"] * (1000 * 1001 / 2) / 1e6
    grouped = "bound grouped_gemm --m 1,0,3 --n 2 --k 2 --dtype fp16 --gpu T4"
    assert parsed(capsys, grouped)["flop"] == 32


def test_operations_are_listed(capsys):
    text = out(capsys, "bound", "--list")
    for name in ("elementwise", "copy", "triad", "dot", "spmv", "stencil", "gemm", "gemv", "batched_gemm", "attention"):
        assert f"\n{name}\n" in "\n" + text
    assert "prefill" in text
    assert "decode" in text


def test_a_roofs_file_goes_first(capsys, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[roof]]\ngpu = "T4"\nlevel = "dram"\nvalue = 250\nunit = "GB/s"\nsource = "own run"\n', encoding="utf-8"
    )
    text = out(capsys, "bound copy --n 1e8 --dtype fp32 --gpu T4 --roofs", str(path))
    assert "250 GB/s" in text
    assert "own run" in text
