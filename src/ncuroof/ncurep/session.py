"""Merges the session fragments of a report and says how it was measured: version, clocks, caches, replay."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ncuroof.ncurep.command_line import option, own_options

if TYPE_CHECKING:
    from ncuroof.ncurep.container import Layout

ORIGIN_FACT = "ncuroof Origin"
CITATION_FACT = "ncuroof Citation"
PUBLISHED_FACTS = {
    "clock_control": "ncuroof Clock Control",
    "cache_control": "ncuroof Cache Control",
    "replay_mode": "ncuroof Replay Mode",
}
"""Session facts of our own, written by :mod:`ncuroof.testing` into reports that were built and not profiled."""

# Allowed values of ncu's options (NVIDIA Nsight Compute CLI documentation, "Command Line Options").
_OPTIONS = {
    "clock_control": ("--clock-control", ("base", "none", "boost", "force-boost", "reset")),
    "cache_control": ("--cache-control", ("all", "none")),
    "replay_mode": ("--replay-mode", ("kernel", "application", "range", "app-range")),
}
_IN_OPTIONS = ("clock_control", "replay_mode")
_CONFIG_FILE = "--config-file-path"


@dataclass(frozen=True)
class Device:
    """A GPU of the session.

    Attributes:
        index: ordinal in the report.
        name: as the driver gives it.
        attributes: attribute to value; the names are those of metrics, ``device__attribute_...``.
    """

    index: int
    name: str | None
    attributes: dict[str, float | int | str]


@dataclass
class Facts:
    """Everything the session fragments of a report say together; later fragments win. Unknown is None.

    ``command_line``, ``host``, ``executable`` and ``set_name`` are private to the user.
    """

    ncu_version: str | None = None
    cuda_version: str | None = None
    driver_version: str | None = None
    created: int | None = None
    origin: str = "profiled"
    citation: str | None = None
    set_name: str | None = None
    devices: list[Device] = field(default_factory=list)
    settings: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    command_line: str | None = field(default=None, repr=False)
    host: str | None = field(default=None, repr=False)
    executable: str | None = field(default=None, repr=False)


def text(raw: bytes) -> str:
    """Bytes of a report as text: UTF-8, what is not valid replaced, trailing NULs dropped."""
    return raw.decode("utf-8", "replace").rstrip("\0")


def scalar(value: Any) -> float | int | str | None:  # noqa: ANN401  protobuf messages have no static type
    """The content of a value message; None where it holds nothing."""
    for kind in ("float64", "uint64", "text", "uint32", "float32"):
        if value.HasField(kind):
            found = getattr(value, kind)
            return text(found) if kind == "text" else found
    return None


def merge(layout: Layout) -> Facts:
    """One set of facts from all session fragments and process messages of a report."""
    facts = Facts()
    pairs: dict[str, str] = {}
    devices: dict[int, Device] = {}
    options = None
    for fragment in layout.sessions:
        if fragment.HasField("created"):
            facts.created = fragment.created
        for machine in (fragment.host, fragment.target):
            facts.host = text(machine.name) or facts.host
        for device in fragment.devices:
            attributes = {text(a.name): scalar(a.value) for a in device.attributes}
            known = {k: v for k, v in attributes.items() if v is not None}
            devices[device.index] = Device(device.index, text(device.name) or None, known)
        pairs.update((text(f.key), text(f.value)) for f in fragment.facts)
        facts.executable = text(fragment.launch.executable) or facts.executable
        if fragment.HasField("options"):
            options = fragment.options
        facts.command_line = text(fragment.command_line).strip() or facts.command_line
    for process in layout.processes:
        facts.executable = facts.executable or text(process.executable) or None
    facts.devices = [devices[index] for index in sorted(devices)]
    version = (pairs.get("Nsight Compute Target") or pairs.get("Nsight Compute Host") or "").split(" ")[0]
    facts.ncu_version = version or None
    facts.cuda_version = pairs.get("CUDA Version") or None
    facts.driver_version = pairs.get("Display Driver Version") or None
    facts.origin = pairs.get(ORIGIN_FACT) or "profiled"
    facts.citation = pairs.get(CITATION_FACT) or None
    tokens = own_options(facts.command_line or "")
    facts.set_name = option(tokens, "--set")
    for setting in _OPTIONS:
        facts.settings[setting] = _setting(setting, facts, tokens, options, pairs)
    return facts


def _setting(
    setting: str,
    facts: Facts,
    tokens: list[str],
    options: Any,  # noqa: ANN401
    pairs: dict[str, str],
) -> tuple[str | None, str | None]:
    """Value and source of a setting."""
    name, allowed = _OPTIONS[setting]
    published = pairs.get(PUBLISHED_FACTS[setting])
    if published:
        return published, "published"
    if facts.origin != "profiled":
        return None, None
    given = option(tokens, name, allowed)
    if given is not None:
        return given, "command line"
    # Profile options of the UI: "Base" and "Kernel" where the command line of the same report says base and kernel.
    chosen = text(getattr(options, setting)).lower() if options is not None and setting in _IN_OPTIONS else ""
    if chosen in allowed:
        return chosen, "options"
    default = default_of(setting, facts.ncu_version)
    if default is None or any(token.startswith(_CONFIG_FILE) for token in tokens):
        return None, None  # unknown, or set by a file that is not in the report
    known = "" if facts.command_line else ", command line not stored"
    return default, f"default of ncu {facts.ncu_version}{known}"


def default_of(setting: str, ncu_version: str | None) -> str | None:
    """What ncu of this version does when an option is not given; None where that is not known.

    Clock control was ``base`` up to 2025.4 and is ``boost`` in 2026.2 (clock rates in reports agree with both); what
    2026.1 does is not known. Cache control (``all``) and replay (``kernel``) have kept their default since they exist.
    """
    match = re.match(r"(\d{4})\.(\d+)", ncu_version or "")
    if not match:
        return None
    release = (int(match[1]), int(match[2]))
    if setting == "clock_control":
        if release <= (2025, 4):
            return "base"
        return "boost" if release >= (2026, 2) else None
    return "all" if setting == "cache_control" else "kernel"
