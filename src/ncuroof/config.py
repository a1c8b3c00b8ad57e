"""What the user has chosen: rules, severities, thresholds, exceptions, roofs; from options and from a file.

The file is ``ncuroof.toml`` or the table ``[tool.ncuroof]`` of ``pyproject.toml``, the nearest one at or above the
current directory. Options on the command line win over the file.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ncuroof.errors import ConfigError, UsageError
from ncuroof.tables import SEVERITIES

FILE_NAMES = ("ncuroof.toml", "pyproject.toml")
NSIGHT_MODES = ("merge", "show", "hide")
ROOF_SOURCES = ("report", "measured", "device", "datasheet")


@dataclass(frozen=True)
class KernelException:
    """Findings that are accepted: rules, for kernels whose name matches a regular expression, with the reason."""

    kernel: str
    rules: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Config:
    """The choices an analysis runs with.

    Attributes:
        select: code prefixes of the rules to run ("ALL" for every rule).
        ignore: code prefixes of the rules not to run; the longer prefix wins over a shorter one in ``select``.
        severity: rule code or name to severity, instead of the rule's own.
        thresholds: rule code or name to threshold name to value, instead of the rule's own.
        exceptions: accepted findings.
        roof_order: where roofs may come from, first that has one wins.
        roofs_file: user's roofs (TOML), preferred over all other sources.
        fail_on: what makes the exit status 1.
        nsight: what becomes of Nsight Compute's own findings: merge, show or hide; see :func:`ncuroof.nsight.add`.
    """

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    severity: dict[str, str] = field(default_factory=dict)
    thresholds: dict[str, dict[str, float]] = field(default_factory=dict)
    exceptions: tuple[KernelException, ...] = ()
    roof_order: tuple[str, ...] = ROOF_SOURCES
    roofs_file: Path | None = None
    fail_on: tuple[str, ...] = ()
    nsight: str = "merge"

    def with_options(
        self,
        *,
        select: tuple[str, ...] = (),
        extend_select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        fail_on: tuple[str, ...] = (),
        roofs_file: Path | None = None,
        roof: str | None = None,
        nsight: str | None = None,
    ) -> Config:
        """The same choices with those of the command line on top."""
        changed = replace(
            self,
            select=(select or self.select) + extend_select,
            ignore=self.ignore + ignore,
            fail_on=fail_on or self.fail_on,
            roofs_file=roofs_file or self.roofs_file,
            roof_order=self.roof_order if roof is None else (roof,),
            nsight=nsight or self.nsight,
        )
        _check_roofs(changed.roof_order, "--roof")
        if changed.nsight not in NSIGHT_MODES:
            msg = f"--nsight: {changed.nsight!r} is none of {', '.join(NSIGHT_MODES)}"
            raise ConfigError(msg)
        return changed


def find(start: Path | None = None) -> Path | None:
    """The nearest configuration file at or above ``start`` (default: the current directory)."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        for name in FILE_NAMES:
            path = folder / name
            if path.is_file() and (name != "pyproject.toml" or b"[tool.ncuroof" in path.read_bytes()):
                return path
    return None


def load(path: Path | None = None) -> Config:
    """Read the configuration.

    Args:
        path: the file; None looks for the nearest one, and no file means the defaults.

    Raises:
        ConfigError: naming the file and every key that is wrong.
    """
    chosen = path or find()
    if chosen is None:
        return Config()
    try:
        document = tomllib.loads(chosen.read_text(encoding="utf-8"))
    except FileNotFoundError:
        msg = f"{chosen.name}: there is no such configuration file"
        raise ConfigError(msg) from None
    except OSError as error:
        msg = f"{chosen.name}: it cannot be read ({error.strerror or error})"
        raise ConfigError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{chosen.name}: it is no UTF-8 text"
        raise ConfigError(msg) from error
    except tomllib.TOMLDecodeError as error:
        msg = f"{chosen.name}: not valid TOML ({error})"
        raise ConfigError(msg) from error
    table = document.get("tool", {}).get("ncuroof", {}) if chosen.name == "pyproject.toml" else document
    if not isinstance(table, dict):
        msg = f"{chosen.name}: tool.ncuroof must be a table"
        raise ConfigError(msg)
    parsed = _parse(table, chosen)
    _check_rules(parsed, chosen)
    return parsed


def _check_rules(parsed: Config, path: Path) -> None:
    """Look for rules and thresholds that do not exist while it is known that the file names them.

    Raises:
        ConfigError: naming the file.
    """
    from ncuroof import gate, rules  # noqa: PLC0415  rules need polars; the defaults need neither

    try:
        rules.selected(parsed)
        for name in parsed.severity:
            rules.rule(name)
        for name, values in parsed.thresholds.items():
            known = rules.rule(name).LIMITS
            if wrong := [key for key in values if key not in known]:
                msg = f"rule {name} has no threshold {wrong[0]!r}; it has {', '.join(known) or 'none'}"
                raise ConfigError(msg)
        gate.check(parsed.fail_on, compares=True)
    except (ConfigError, UsageError) as error:
        msg = f"{path.name}: {str(error).removeprefix('--')}"
        raise ConfigError(msg) from error


_KEYS = (
    "select",
    "extend-select",
    "ignore",
    "severity",
    "thresholds",
    "exceptions",
    "roof-order",
    "roofs-file",
    "fail-on",
    "nsight",
)


def _parse(table: dict[str, Any], path: Path) -> Config:
    faults: list[str] = []

    def strings(key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        value = table.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            faults.append(f"{key} must be a list of strings")
            return default
        return tuple(value)

    selectors = {key: strings(key) for key in ("extend-select", "ignore", "fail-on")}
    select = strings("select", ("ALL",))
    for key in table:
        if key not in _KEYS:
            close = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; known keys are {', '.join(_KEYS)}"
            faults.append(f"there is no key {key!r}{hint}")
    severity = table.get("severity", {})
    if not isinstance(severity, dict) or any(v not in SEVERITIES for v in severity.values()):
        faults.append(f"severity must map rule codes to one of {', '.join(SEVERITIES)}")
        severity = {}
    thresholds = table.get("thresholds", {})
    if not _is_thresholds(thresholds):
        faults.append(
            "thresholds must map rule codes to tables of numbers, such as W001 = { executed_over_useful = 1.5 }"
        )
        thresholds = {}
    exceptions = _exceptions(table.get("exceptions", []), faults)
    order = strings("roof-order", ROOF_SOURCES)
    roofs = table.get("roofs-file")
    if roofs is not None and not isinstance(roofs, str):
        faults.append("roofs-file must be a path")
        roofs = None
    unknown = [s for s in order if s not in ROOF_SOURCES]
    if unknown:
        faults.append(f"roof-order: {', '.join(map(repr, unknown))} is none of {', '.join(ROOF_SOURCES)}")
    nsight = table.get("nsight", "merge")
    if nsight not in NSIGHT_MODES:
        faults.append(f"nsight must be one of {', '.join(NSIGHT_MODES)}")
    if faults:
        msg = f"{path.name}: " + "; ".join(faults)
        raise ConfigError(msg)
    return Config(
        select=select + selectors["extend-select"],
        ignore=selectors["ignore"],
        severity=severity,
        thresholds={k: {n: float(x) for n, x in v.items()} for k, v in thresholds.items()},
        exceptions=exceptions,
        roof_order=order,
        roofs_file=path.parent / roofs if roofs else None,
        fail_on=selectors["fail-on"],
        nsight=nsight,
    )


def _is_thresholds(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(rule, dict) and all(isinstance(x, int | float) and not isinstance(x, bool) for x in rule.values())
        for rule in value.values()
    )


def _exceptions(value: object, faults: list[str]) -> tuple[KernelException, ...]:
    if not isinstance(value, list):
        faults.append("exceptions must be a list of tables ([[exceptions]])")
        return ()
    result = []
    for number, entry in enumerate(value, start=1):
        where = f"exceptions, entry {number}"
        if not isinstance(entry, dict) or set(entry) != {"kernel", "rules", "reason"}:
            faults.append(f"{where}: needs exactly kernel (a regular expression), rules (a list of codes) and reason")
            continue
        kernel, rules, reason = entry["kernel"], entry["rules"], entry["reason"]
        if not isinstance(rules, list) or not all(isinstance(r, str) for r in rules):
            faults.append(f"{where}: rules must be a list of codes")
            continue
        if not isinstance(reason, str) or not reason.strip():
            faults.append(f"{where}: reason must say why")
            continue
        try:
            re.compile(str(kernel))
        except re.error as error:
            faults.append(f"{where}: kernel is not a regular expression ({error})")
            continue
        result.append(KernelException(str(kernel), tuple(rules), reason))
    return tuple(result)


def _check_roofs(order: tuple[str, ...], where: str) -> None:
    for source in order:
        if source not in ROOF_SOURCES:
            msg = f"{where}: {source!r} is none of {', '.join(ROOF_SOURCES)}"
            raise ConfigError(msg)
