"""Built command lines against the documented options of every supported version."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from ncuroof.collect import availability, command, tiers
from ncuroof.collect._data import toml
from ncuroof.collect.ncu import Ncu, Version
from ncuroof.errors import UsageError
from ncuroof.ncurep.session import default_of

VERSIONS = [
    f"{year}.{number}"
    for year, last in ((2022, 4), (2023, 3), (2024, 3), (2025, 4), (2026, 3))
    for number in range(1, last + 1)
]
WANTED = tiers.request("rules", availability.from_table("9.0"), "9.0")
FILTERS = command.Filters("regex:gemm", "demangled", 2, 5, ("regex:ncuroof:.+/",), ("warm-up/",), False)


def line(  # noqa: PLR0917
    version="2025.1",
    filters=FILTERS,
    modes=None,
    wanted=WANTED,
    program=("python", "bench.py", "--size", "3"),
    extra=(),
):
    tool = Ncu(Path("/opt/ncu"), Version.parse(version), "PATH")
    return command.build(
        tool,
        wanted,
        filters=filters,
        modes=modes or command.Modes(),
        output=Path("out.ncu-rep"),
        program=program,
        extra=extra,
    )


def options(words):
    """Options and their values, as ncu would take them apart."""
    table = toml("options.toml")["option"]
    found, rest = {}, list(words[1:])
    while rest and rest[0].startswith("--"):
        name = rest.pop(0)
        found.setdefault(name, []).append(None if table[name].get("flag") else rest.pop(0))
    return found, rest


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("cache", "replay", "clock"), list(product(("cold", "warm"), ("kernel", "application"), ("none", "base")))
)
def test_every_option_and_value_is_documented_for_the_version(version, cache, replay, clock):
    found, rest = options(line(version, modes=command.Modes(cache, clock, replay)))
    assert rest == ["python", "bench.py", "--size", "3"]
    table, now = toml("options.toml")["option"], Version.parse(version)
    for name, values in found.items():
        assert now >= Version.parse(table[name]["since"])
        allowed = {
            v if isinstance(v, str) else v["value"]: v["since"] if isinstance(v, dict) else table[name]["since"]
            for v in table[name].get("values", [])
        }
        for value in values:
            assert not allowed or now >= Version.parse(allowed[value])


def test_what_is_asked_for_is_handed_on():
    found, _ = options(line())
    assert found["--kernel-name"] == ["regex:gemm"]
    assert found["--kernel-name-base"] == ["demangled"]
    assert found["--launch-skip"] == ["2"]
    assert found["--launch-count"] == ["5"]
    assert found["--nvtx-include"] == ["regex:ncuroof:.+/"]
    assert found["--nvtx-exclude"] == ["warm-up/"]
    assert found["--profile-from-start"] == ["off"]
    assert found["--target-processes"] == ["all"]
    assert found["--section"] == ["SpeedOfLight", "LaunchStats", "Occupancy"]
    assert found["--metrics"][0].split(",") == list(WANTED.metrics)


def test_caches_and_clocks_are_always_said():
    cold, _ = options(line(modes=command.Modes("cold", "none")))
    warm, _ = options(line(modes=command.Modes("warm", "base")))
    assert (cold["--cache-control"], cold["--clock-control"]) == (["all"], ["none"])
    assert (warm["--cache-control"], warm["--clock-control"]) == (["none"], ["base"])


def test_the_report_is_named_with_its_suffix_and_a_stray_configuration_is_shut_out():
    found, _ = options(line())
    assert found["--export"] == ["out.ncu-rep"]  # 2026.3 would append .ncu-repz to a name without suffix
    assert found["--config-file"] == ["off"]


def test_no_filters_means_no_filter_options():
    found, _ = options(line(filters=command.Filters()))
    assert not {"--kernel-name", "--launch-skip", "--launch-count", "--nvtx-include", "--profile-from-start"} & set(
        found
    )


@pytest.mark.parametrize(
    ("version", "modes", "words"),
    [
        ("2025.3", command.Modes(clock="boost"), r"--clock-control boost needs Nsight Compute 2025\.4"),
        ("2022.4", command.Modes(graph="graph"), r"--graph-profiling needs Nsight Compute 2023\.1"),
        ("2025.1", command.Modes(clock="fast"), "Nsight Compute knows base, none"),
        ("2025.1", command.Modes(replay="twice"), "Nsight Compute knows kernel, application"),
    ],
)
def test_what_a_version_lacks_is_refused_before_anything_runs(version, modes, words):
    with pytest.raises(UsageError, match=words):
        line(version, modes=modes)


def test_newer_values_pass_on_newer_versions():
    found, _ = options(line("2026.1", modes=command.Modes(clock="boost", graph="graph")))
    assert found["--clock-control"] == ["boost"]
    assert found["--graph-profiling"] == ["graph"]


@pytest.mark.parametrize(
    ("version", "default"),
    [("2022.1", "base"), ("2025.4", "base"), ("2026.1", None), ("2026.2", "boost"), ("2026.3", "boost")],
)
def test_the_clock_default_of_each_version(version, default):
    """Measured are base up to 2025.4 and boost in 2026.2; a report read back says the same as collect said before."""
    assert command.default_clock(Version.parse(version)) == default
    assert default_of("clock_control", f"{version}.0.0") == default


def test_extra_words_come_last_before_the_program():
    words = line(extra=("--lockstep-kernel-launch",))
    assert words[-5:] == ["--lockstep-kernel-launch", "python", "bench.py", "--size", "3"]


def test_full_takes_the_set_and_the_counters_its_sections_leave_out():
    wanted = tiers.request("full", availability.from_table("9.0"), "9.0")
    found, _ = options(line(wanted=wanted))
    assert found["--set"] == ["full"]
    assert "dram__bytes.sum" in found["--metrics"][0].split(",")


def test_options_used_in_the_wild_are_as_old_as_the_table_says(corpus_reports):
    """Command lines stored in public reports show which version took which option."""
    from ncuroof.inputs import open_input
    from ncuroof.readers import choose

    table = toml("options.toml")["option"]
    seen = 0
    for path in corpus_reports:
        try:
            file = open_input(path)
            reader, why = choose(file)
            report = reader.read(file, why, frozenset())
            for _ in report.chunks:
                pass
        except Exception:  # noqa: S112  damaged on purpose, or of another kind
            continue
        session = report.session
        if not session.command_line or not session.ncu_version or Version.parse(session.ncu_version) < Version(2022, 1):
            continue
        for name in set(re.findall(r"(?<!\S)--[a-z-]+", session.command_line)) & set(table):
            seen += 1
            assert Version.parse(session.ncu_version) >= Version.parse(table[name]["since"]), name
    assert seen > 20
