from __future__ import annotations

import pytest
from tests.ncurep.handmade import block, double, number, report, sized

from ncuroof.ncurep.container import walk
from ncuroof.ncurep.session import Facts, default_of, merge


def facts(*fragments: bytes) -> Facts:
    return merge(walk(report(*(block(extra=sized(3, fragment)) for fragment in fragments)), "x"))


def pair(key: str, value: str) -> bytes:
    return sized(8, sized(1, key.encode()) + sized(2, value.encode()))


def version(text: str) -> bytes:
    return pair("Nsight Compute Target", f"{text} (build 35237751) (public-release)")


def command(text: str) -> bytes:
    return sized(11, text.encode())


def test_fragments_are_merged_and_later_ones_win() -> None:
    device = sized(
        6, number(1, 1) + sized(2, b"B") + sized(3, sized(1, b"device__attribute_x") + sized(2, double(2, 0.0)))
    )
    found = facts(
        number(2, 1_700_000_000) + pair("CUDA Version", "12.4") + version("2024.1.0.0"),
        sized(6, number(1, 0) + sized(2, b"A")) + sized(3, sized(5, b"host\0\0")),
        device + pair("CUDA Version", "12.5") + pair("Display Driver Version", "550.1"),
    )
    assert (found.created, found.cuda_version, found.ncu_version) == (1_700_000_000, "12.5", "2024.1.0.0")
    assert (found.driver_version, found.host, found.origin) == ("550.1", "host", "profiled")
    assert [(d.index, d.name) for d in found.devices] == [(0, "A"), (1, "B")]


@pytest.mark.parametrize(
    ("line", "clock", "cache", "replay"),
    [
        ("ncu --clock-control none ./app", "none", None, None),
        (
            "ncu --clock-control=boost --cache-control=none --replay-mode application ./app",
            "boost",
            "none",
            "application",
        ),
        ('"C:\\Program Files\\ncu.exe" --replay-mode "app-range" app.exe', None, None, "app-range"),
        # The profiled program has an option of the same name: it is not ncu's.
        ("ncu -o x -- ./app --clock-control none", None, None, None),
        ("ncu ./app --cache-control none", None, None, None),
        # A word that ncu does not know is none of its values.
        ("ncu --clock-control fast ./app", None, None, None),
        ("ncu --clock-control base --clock-control none ./app", "none", None, None),
        ("ncu --clock-control", None, None, None),
    ],
)
def test_settings_from_the_command_line(line: str, clock: str | None, cache: str | None, replay: str | None) -> None:
    found = facts(version("2024.1.0.0") + command(line)).settings
    defaults = {"clock_control": "base", "cache_control": "all", "replay_mode": "kernel"}
    for name, want in (("clock_control", clock), ("cache_control", cache), ("replay_mode", replay)):
        expected = (want, "command line") if want else (defaults[name], "default of ncu 2024.1.0.0")
        assert found[name] == expected


def test_settings_without_a_command_line() -> None:
    known = "default of ncu 2021.2.0.0, command line not stored"
    assert facts(version("2021.2.0.0")).settings["clock_control"] == ("base", known)
    options = sized(10, sized(4, b"Profile") + sized(8, b"None") + sized(11, b"Application"))
    found = facts(version("2021.2.0.0") + options).settings
    assert found["clock_control"] == ("none", "options")
    assert found["replay_mode"] == ("application", "options")
    assert found["cache_control"] == ("all", known)


def test_unknown_settings_stay_unknown() -> None:
    nothing = (None, None)
    assert set(facts(b"").settings.values()) == {nothing}
    configured = facts(version("2023.1.0.0") + command("ncu --config-file on --config-file-path a.cfg ./app"))
    assert set(configured.settings.values()) == {nothing}


@pytest.mark.parametrize(
    ("release", "clock"),
    [
        ("2019.5.0.0", "base"),
        ("2025.4.1.0", "base"),
        ("2026.1.0.0", None),
        ("2026.2.0.0", "boost"),
        ("2027.1.0.0", "boost"),
        (None, None),
        ("dev", None),
    ],
)
def test_default_clock_control(release: str | None, clock: str | None) -> None:
    assert default_of("clock_control", release) == clock


def test_set_name() -> None:
    assert facts(command("ncu --set full -o x ./app")).set_name == "full"
    assert facts(command("ncu -o x ./app")).set_name is None


def test_a_reconstructed_report_claims_no_default() -> None:
    published = pair("ncuroof Origin", "reconstructed") + pair("ncuroof Clock Control", "none")
    found = facts(version("2025.1.0.0") + published)
    assert found.origin == "reconstructed"
    assert found.settings["clock_control"] == ("none", "published")
    assert found.settings["cache_control"] == (None, None)


def test_private_facts_do_not_show() -> None:
    found = facts(
        command("ncu /home/jane/secret") + sized(3, sized(5, b"janes-pc")) + sized(9, sized(1, b"/home/jane/app"))
    )
    assert (found.command_line, found.host, found.executable) == ("ncu /home/jane/secret", "janes-pc", "/home/jane/app")
    assert "jane" not in repr(found)
