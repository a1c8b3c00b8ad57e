from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncuroof.collect._data import toml
from ncuroof.collect.messages import Transcript


def read(*lines):
    transcript = Transcript()
    own = [transcript.take(line) for line in lines]
    return transcript, own


def test_profiled_kernels_and_their_passes_are_counted():
    # As printed by ncu 2020 to 2026; the middle one names a kernel with quotes and dashes in it.
    transcript, own = read(
        "==PROF== Connected to process 2213 (/usr/bin/python3.10)",
        '==PROF== Profiling "rgbToGray" - 0: 0%....50%....100% - 31 passes',
        '==PROF== Profiling "void k<"a - b">" - 1: 0%....50%....100% - 8 passes',
        '==PROF== Profiling "one" - 2: 0%....50%....100% - 1 pass',
        '==PROF== Profiling "cut" - 3: 0%....50%',
        "==PROF== Disconnected from process 2213",
    )
    assert (transcript.kernels, transcript.passes, transcript.last_kernel) == (3, 31, "cut")
    assert all(own)
    assert transcript.troubles == []


def test_older_form_without_an_index():
    transcript, _ = read('==PROF== Profiling "axpy": 0%....50%....100% - 8 passes')
    assert transcript.kernels == 1


def test_an_application_replay_names_each_kernel_in_every_run():
    lines = [
        f'==PROF== Profiling "{name}" - {index} ({run}/3): Application replay pass {run}'
        for run in (1, 2, 3)
        for index, name in enumerate(("gemm", "copy"))
    ]
    transcript, _ = read(*lines)
    assert (transcript.kernels, transcript.passes) == (2, 3)


def test_lines_of_the_program_are_left_alone():
    transcript, own = read("Hello", "=== a heading", "a == b")
    assert own == [False, True, False]  # "===" looks like ncu's mark and is harmless
    assert (transcript.kernels, transcript.troubles) == (0, [])


@pytest.mark.parametrize(
    ("line", "name", "fatal"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters",
            "no-permission",
            True,
        ),
        (
            "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool",
            "counters-in-use",
            True,
        ),
        ("==ERROR== Failed to find metric regex:^sm__active_cycles_sum.(avg|min)$", "unknown-metric", True),
        ("==ERROR== Profiling is not supported on device 0.", "unsupported-gpu", True),
        ("unrecognised option '--rules'. Use --help for further details.", "unknown-option", True),
        ("==ERROR== Failed to save memory for replay. Consider --replay-mode application", "replay-memory", True),
        ('==ERROR== Failed to profile "risk_battle_kernel" in process 7508', "launch-failed", True),
        ("==WARNING== No kernels were profiled.", "nothing-profiled", False),
        ("==WARNING== Backing up device memory in system memory. Kernel replay might be slow.", "slow-backup", False),
    ],
)
def test_what_ncu_says_is_recognised(line, name, fatal):
    transcript, own = read(line, line)
    assert own == [True, True]
    assert [(t.name, t.fatal) for t in transcript.troubles] == [(name, fatal)]
    assert (transcript.fatal() is not None) == fatal
    assert transcript.troubles[0].says


def test_the_programs_status_is_kept():
    transcript, _ = read("==ERROR== The application returned an error code (11).")
    assert transcript.program_status == 11
    assert transcript.fatal() is None


def test_patterns_compile_and_fatal_ones_say_what_to_do():
    for entry in toml("messages.toml")["message"]:
        re.compile(entry["pattern"])
        assert entry.get("remedy") or entry.get("layers"), entry["name"]


@given(st.lists(st.text(max_size=200), max_size=30))
def test_no_output_can_break_it(lines):
    transcript = Transcript()
    for line in lines:
        transcript.take(line)
        transcript.take("==" + line)
    assert transcript.kernels >= 0


def test_an_error_that_is_not_known_is_kept_as_it_stands():
    transcript, _ = read(
        "==ERROR== Something that nobody has seen yet: 0x17.",
        "==ERROR== The application returned an error code (1).",
        "==ERROR== A consequence.",
        "==ERROR== A consequence.",
    )
    assert transcript.unknown() == ["==ERROR== Something that nobody has seen yet: 0x17.", "==ERROR== A consequence."]
    # The first came before the program failed, so it is the cause; the last may follow from that.
    assert [trouble.fatal for trouble in transcript.troubles] == [True, False]
    assert transcript.fatal().line == "==ERROR== Something that nobody has seen yet: 0x17."


@pytest.mark.parametrize(
    "line",
    [
        "==ERROR== Failed to connect to the CUDA driver.",
        "==ERROR== Cuda driver is not compatible with Nsight Compute.",
        "==ERROR== Failed to initialize the CUDA driver",
    ],
)
def test_no_driver(line):
    transcript, _ = read(line, "==ERROR== The application returned an error code (1).")
    assert transcript.fatal().name == "no-driver"
