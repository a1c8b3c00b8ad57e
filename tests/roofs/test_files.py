"""The user's roofs: units are never guessed, and every fault is named."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ncuroof import roofs
from ncuroof.errors import ConfigError
from ncuroof.roofs import Roof, files

GOOD = """
[[roof]]
gpu = "NVIDIA H100 80GB HBM3"
path = "fp16"
value = 700
unit = "TFLOP/s"
sparsity = "dense"
source = "my own run"

[[roof]]
gpu = "h100-sxm5-80gb"
level = "dram"
value = 3.0
unit = "TB/s"
source = "my own run"
"""

H100 = pl.DataFrame([{"gpu_name": "NVIDIA H100 80GB HBM3", "cc_major": 9, "cc_minor": 0, "sm_count": 132}])


def write(tmp_path, text):
    path = tmp_path / "roofs.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_users_roofs_go_before_all_others(tmp_path):
    path = write(tmp_path, GOOD)
    frame = H100.with_columns(peak_flop_s_fp16=pl.lit(9e14), peak_bytes_s_dram=pl.lit(3.3e12))
    out = roofs.attach(frame, roofs_file=path)
    assert out["roof_flop_s_fp16"][0] == 700e12
    assert out["roof_flop_s_fp16_source"][0] == "user: my own run (roofs.toml)"
    assert out["roof_bytes_s"][0] == 3.0e12
    assert out["roof_flop_s_bf16_source"][0].startswith("measured")  # not in the file
    assert roofs.attach(frame, only="user", roofs_file=path)["roof_flop_s_bf16"][0] is None


def test_they_hold_for_their_gpu_only(tmp_path):
    other = pl.DataFrame([{"gpu_name": "NVIDIA H100 PCIe", "cc_major": 9, "cc_minor": 0, "sm_count": 114}])
    assert roofs.attach(other, roofs_file=write(tmp_path, GOOD))["roof_flop_s_fp16"][0] == 756.5e12


def test_a_gpu_that_no_table_knows_can_be_given(tmp_path):
    text = GOOD.replace("NVIDIA H100 80GB HBM3", "Prototype X")
    frame = pl.DataFrame([{"gpu_name": "Prototype X", "cc_major": 99, "cc_minor": 0}])
    assert roofs.attach(frame, roofs_file=write(tmp_path, text))["roof_flop_s_fp16"][0] == 700e12


def test_calibrated_roofs_follow_the_clock_of_the_run(tmp_path):
    """132 × 4096 × 1.1e9 = 594.7 TFLOP/s at a locked clock; what a person states stays as it is."""
    locked = H100.with_columns(sm_hz=pl.lit(1.1e9), clock_max_hz=pl.lit(1.98e9))
    calibrated = GOOD.replace('source = "my own run"', 'source = "calibrate"\nkind = "measured"', 1)
    out = roofs.attach(locked, roofs_file=write(tmp_path, calibrated))
    assert out["roof_flop_s_fp16"][0] == pytest.approx(594.7392e12)
    assert roofs.attach(locked, roofs_file=write(tmp_path, GOOD))["roof_flop_s_fp16"][0] == 700e12


def test_a_sparse_entry_is_never_the_roof_of_a_dense_kernel(tmp_path):
    text = GOOD.replace('sparsity = "dense"', 'sparsity = "2:4"').replace("value = 700", "value = 1979")
    assert roofs.attach(H100, roofs_file=write(tmp_path, text))["roof_flop_s_fp16"][0] == pytest.approx(787.612e12)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('unit = "TFLOP/s"', 'unit = "TFLOP"', "an amount, not a rate"),
        ('unit = "TFLOP/s"', 'unit = "TFLOPS"', "rate or a count"),
        ('unit = "TFLOP/s"', 'unit = "TB/s"', "another kind of roof"),
        ('unit = "TFLOP/s"', 'unit = "TOP/s"', "another kind of roof"),
        ('unit = "TB/s"', 'unit = "Tb/s"', "counts bits"),
        ('unit = "TB/s"', 'unit = "Gbps"', "counts bits"),
        ('unit = "TB/s"', 'unit = "GB"', "an amount, not a rate"),
        ('unit = "TB/s"', 'unit = "furlong"', "no unit of such a roof"),
        ("value = 700", 'value = "700"', "no positive number"),
        ("value = 700", "value = -1", "no positive number"),
        ("value = 700", "value = nan", "no positive number"),
        ("value = 700", "value = true", "no positive number"),
        ("value = 700", "value = 700e12", "no rate of a GPU"),
        ('path = "fp16"', 'path = "fp17"', "'fp17' is not known"),
        ('path = "fp16"', 'path = "fp16"\nlevel = "dram"', "either path"),
        ('level = "dram"', 'level = "l4"', "'l4' is not known"),
        ('sparsity = "dense"\n', "", "sparsity is missing"),
        ('sparsity = "dense"', 'sparsity = "yes"', "'yes' is not known"),
        ('path = "fp16"', 'path = "fp32"\nextra = 1', "'extra' is no key"),
        ('gpu = "NVIDIA H100 80GB HBM3"\n', "", "gpu is missing"),
        ("[[roof]]", "[[roofs]]", "no [[roof]] entry|'roofs' is not known"),
        ('source = "my own run"', 'source = "x"\nkind = "guess"', "'guess' is not known"),
        ("[[roof]]", "[[roof", "no valid TOML"),
    ],
)
def test_faults_are_named(tmp_path, old, new, says):
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        files.load(write(tmp_path, GOOD.replace(old, new, 1)))
    assert "roofs.toml" in str(caught.value)
    assert any(part in str(caught.value) for part in says.split("|"))


def test_two_entries_for_one_roof_are_a_fault(tmp_path):
    with pytest.raises(ConfigError, match="two roofs for fp16"):
        files.load(write(tmp_path, GOOD + GOOD))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        files.load(tmp_path / "none.toml")


NAMES = st.text(min_size=1, max_size=40).filter(lambda t: t.isprintable() or "\n" in t)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(NAMES, st.sampled_from(["fp16", "fp32", "int8", None]), st.floats(1e9, 1e16), st.booleans())
def test_what_is_written_is_read_back(tmp_path, gpu, path, value, dense):
    roof = Roof(value, path, None if path else "dram", dense or path in (None, "fp32"), gpu, "measured", 'a "run"\n2')
    (back,) = files.load(write(tmp_path, files.dump([roof], comment="written by a test")))
    assert (back.gpu, back.path, back.level, back.dense, back.source) == (gpu, path, roof.level, roof.dense, "measured")
    assert back.value == pytest.approx(value, rel=1e-12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(st.text(max_size=200))
def test_any_text_gives_a_config_error_or_roofs(tmp_path, text):
    path = tmp_path / "any.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(ConfigError):
        files.load(path)
