"""The anomaly rules. One module of this package is one rule; nothing else needs an edit to add one.

A rule module has:

docstring
    Its manual page: first line ``CODE name: what it finds``, then the sections *What it does*, *Why it matters*,
    *How it decides*, *What to do*, *When it is wrong* (a test checks them). ``ncuroof rule CODE`` prints it.
``CODE``, ``NAME``
    ``R001``, ``l2-resident``. The module is called ``r001_l2_resident``. Families: D data quality, R roof, W waste,
    M memory access, T time, S sweeps, P program.
``SEVERITY``
    Default severity, one of :data:`ncuroof.tables.SEVERITIES`.
``NEEDS``
    Columns of the placed kernels table that must be known for a kernel to be judged. An entry may name alternatives:
    ``("flop_fp32", "flop_fp16")`` needs either. Kernels lacking one are counted as skipped, never passed.
``TIER``
    The ``ncuroof collect`` tier that supplies them (``roofline``, ``rules``, ``full``), or ``annotation``.
``LIMITS``
    The thresholds: name to :class:`Limit` (value, unit, why this value, source).
``check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame``
    Judges the kernels that have all it needs, at once, and returns :func:`ncuroof.rules._findings.findings` rows.
``applies() -> pl.Expr`` (optional)
    Which kernels the rule is about at all. Kernels outside are neither judged nor counted as skipped.
``summarize(skips, rules) -> pl.DataFrame`` (optional)
    Called once after all rules have run, with what they could not judge.

A rule never prints, reads files, or asks whether a column is there. Besides the columns of the placed kernels table it
may use those of :mod:`ncuroof.rules._context`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

import polars as pl

from ncuroof import tables
from ncuroof.errors import ConfigError, RegistryError
from ncuroof.model import Skip
from ncuroof.registry import scan
from ncuroof.rules import _context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncuroof.config import Config

ALL = "ALL"
FAMILIES = {
    "D": "data quality",
    "R": "roof",
    "W": "waste",
    "M": "memory access",
    "T": "time",
    "S": "sweeps",
    "P": "program",
}


@dataclass(frozen=True)
class Limit:
    """A threshold: its default value, its unit, why it is what it is, and where that comes from."""

    value: float
    unit: str
    reason: str
    source: str


class Rule(Protocol):
    """What a module of this package looks like; see the package's documentation."""

    CODE: str
    NAME: str
    SEVERITY: str
    NEEDS: tuple[str | tuple[str, ...], ...]
    TIER: str
    LIMITS: Mapping[str, Limit]
    __doc__: str | None

    @staticmethod
    def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
        """The findings among kernels that have all columns the rule needs."""


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, by code.

    Raises:
        RegistryError: when a module breaks the contract.
    """
    modules = scan(
        __name__,
        {
            "CODE": str,
            "NAME": str,
            "SEVERITY": str,
            "NEEDS": tuple,
            "TIER": str,
            "LIMITS": dict,
            "check": object,
        },
        unique=["CODE", "NAME"],
    )
    for module in modules:
        expected = f"{module.CODE}_{module.NAME}".lower().replace("-", "_")
        if not module.__name__.endswith(f".{expected}"):
            msg = f"{module.__name__}: a rule {module.CODE} {module.NAME} belongs in {expected}.py"
            raise RegistryError(msg)
        if module.SEVERITY not in tables.SEVERITIES:
            msg = f"{module.__name__}: SEVERITY {module.SEVERITY!r} is none of {', '.join(tables.SEVERITIES)}"
            raise RegistryError(msg)
    return tuple(sorted(cast("list[Rule]", modules), key=lambda r: r.CODE))


def rule(code_or_name: str) -> Rule:
    """The rule with this code or name, whatever the case.

    Raises:
        ConfigError: when there is none.
    """
    wanted = code_or_name.strip().lower()
    for candidate in rules():
        if wanted in {candidate.CODE.lower(), candidate.NAME}:
            return candidate
    msg = f"there is no rule {code_or_name!r}; `ncuroof rule --all` lists them"
    raise ConfigError(msg)


def summary(of: Rule) -> str:
    """What the rule finds, in one line: the first line of its manual page without code and name."""
    return (of.__doc__ or "").strip().partition("\n")[0].partition(": ")[2]


def manual(of: Rule) -> str:
    """The rule's manual page, with its thresholds."""
    lines = [(of.__doc__ or "").strip(), "", "Thresholds"]
    lines += [
        f"    {name} = {limit.value:g} {limit.unit}: {limit.reason} ({limit.source})"
        for name, limit in of.LIMITS.items()
    ] or ["    none"]
    needs = ", ".join(n if isinstance(n, str) else " or ".join(n) for n in of.NEEDS) or "nothing in particular"
    lines += ["", f"Needs: {needs}", f"Tier:  {of.TIER}", f"Severity: {of.SEVERITY}"]
    return "\n".join(lines) + "\n"


def selected(config: Config) -> tuple[Rule, ...]:
    """The rules the configuration asks for: the longest matching prefix decides, and ``ignore`` wins a tie.

    Raises:
        ConfigError: when a selector matches no rule.
    """
    for selector in (*config.select, *config.ignore):
        if selector != ALL and not any(_matches(selector, r) for r in rules()):
            msg = f"the selector {selector!r} matches no rule; `ncuroof rule --all` lists them"
            raise ConfigError(msg)

    def weight(selectors: Sequence[str], candidate: Rule) -> int:
        return max((_weight(s) for s in selectors if s == ALL or _matches(s, candidate)), default=-1)

    return tuple(r for r in rules() if weight(config.select, r) > weight(config.ignore, r))


def settings(of: Rule, config: Config) -> tuple[str, dict[str, float]]:
    """The severity and the thresholds of a rule: its own, or those the user has chosen.

    Raises:
        ConfigError: when the configuration names a rule or a threshold that does not exist.
    """
    severities, limits = _overrides(config)
    values = {name: limit.value for name, limit in of.LIMITS.items()} | limits.get(of.CODE, {})
    return severities.get(of.CODE, of.SEVERITY), values


def _matches(selector: str, candidate: Rule) -> bool:
    return candidate.CODE.startswith(selector.upper()) or selector.lower() == candidate.NAME


def _weight(selector: str) -> int:
    return 0 if selector == ALL else len(selector)


@dataclass(frozen=True)
class Outcome:
    """What running the rules gave: findings (:data:`ncuroof.tables.ANOMALIES`), skips, and kernels judged per rule."""

    findings: pl.DataFrame
    skips: tuple[Skip, ...]
    judged: dict[str, int]


def run(kernels: pl.DataFrame, config: Config) -> Outcome:
    """Run the selected rules over a placed kernels table.

    Args:
        kernels: the placed kernels with a ``row`` column.
        config: what the user has chosen.

    Returns:
        The findings, sorted by time at stake with unknown last, and one :class:`Skip` for every rule that could not
        judge some of the kernels it is about.

    Raises:
        ConfigError: when a selector, a severity or a threshold names something that does not exist.
    """
    severities, limits = _overrides(config)
    # No rule reads the ranges, and a nested column makes every selection of kernels slow.
    kernels = _context.add(kernels.drop("nvtx", strict=False))
    found, skips = [], []
    counts: dict[str, int] = {}
    for each in selected(config):
        judged, skip = _judge(each, kernels)
        if skip is not None:
            skips.append(skip)
        counts[each.CODE] = judged.height
        if judged.is_empty():
            continue
        values = {name: limit.value for name, limit in each.LIMITS.items()} | limits.get(each.CODE, {})
        rows = each.check(judged, values)
        if not rows.is_empty():
            found.append(_complete(rows, each, severities.get(each.CODE, each.SEVERITY), kernels))
    for each in selected(config):
        summarize = getattr(each, "summarize", None)
        summed: pl.DataFrame | None = summarize(skips, rules()) if summarize is not None else None
        if summed is not None and not summed.is_empty():
            found.append(_complete(summed, each, severities.get(each.CODE, each.SEVERITY), kernels))
    findings = pl.concat(found) if found else tables.empty(tables.ANOMALIES)
    findings = _without_exceptions(findings, config)
    return Outcome(ranked(findings), tuple(skips), counts)


def ranked(findings: pl.DataFrame) -> pl.DataFrame:
    """Findings by time at stake, largest first and unknown last, then most severe, then by code and row."""
    rank = pl.col("severity").replace_strict({s: i for i, s in enumerate(tables.SEVERITIES)}, return_dtype=pl.Int32)
    return (
        findings.with_columns(_rank=rank)
        .sort(
            ["time_at_stake_s", "_rank", "code", "row"],
            descending=[True, False, False, False],
            nulls_last=True,
        )
        .drop("_rank")
    )


def judged_rows(kernels: pl.DataFrame, codes: Sequence[str]) -> dict[str, pl.Series]:
    """Per rule, the ``row`` of every kernel it could judge: where it has found nothing, there is nothing.

    Args:
        kernels: the placed kernels with a ``row`` column, as in :class:`ncuroof.model.Analysis`.
        codes: rule codes; those of rules that do not exist are left out.
    """
    wanted = [each for each in rules() if each.CODE in set(codes)]
    if not wanted:
        return {}
    frame = _context.add(kernels)
    return {each.CODE: _judge(each, frame)[0]["row"] for each in wanted}


def _judge(each: Rule, kernels: pl.DataFrame) -> tuple[pl.DataFrame, Skip | None]:
    """The kernels a rule can judge, and what keeps it from judging the others it is about."""
    applies = getattr(each, "applies", None)
    needs = [(n,) if isinstance(n, str) else n for n in each.NEEDS]
    names = [" or ".join(n) for n in needs]
    # One narrow selection decides, and one of all columns takes the kernels that are judged.
    mask = kernels.select(
        pl.repeat(value=True, n=pl.len()).alias("about") if applies is None else applies().alias("about"),
        *(pl.all_horizontal(pl.col(c).is_null() for c in n).alias(name) for name, n in zip(names, needs, strict=True)),
    )
    about = mask["about"].fill_null(value=False)
    able = about & ~mask.select(lacks=pl.any_horizontal(pl.lit(value=False), *names)).to_series()
    judged = kernels if able.all() else kernels.filter(able)
    count = int(about.sum()) - judged.height
    if not count:
        return judged, None
    lacking = {name: int((mask[name] & about).sum()) for name in names}
    return judged, Skip(each.CODE, count, {name: lacks for name, lacks in lacking.items() if lacks})


def _complete(rows: pl.DataFrame, each: Rule, severity: str, kernels: pl.DataFrame) -> pl.DataFrame:
    """Add who found it and about which launch."""
    identity = kernels.select("row", "source", "source_sha256", "result_index", "invocations", kernel="kernel_name")
    taken = [c for c in ("source", "source_sha256") if c in rows.columns]
    rows = rows.join(identity.drop(taken), on="row", how="left", nulls_equal=False, maintain_order="left")
    return tables.conform(
        rows.with_columns(
            code=pl.lit(each.CODE),
            name=pl.lit(each.NAME),
            severity=pl.coalesce("severity", pl.lit(severity)) if "severity" in rows.columns else pl.lit(severity),
            voice=pl.lit("ncuroof"),
            # A row of a summary stands for all its launches, and so does what is at stake.
            time_at_stake_s=pl.col("time_at_stake_s") * pl.col("invocations").fill_null(1.0),
        ).drop("invocations"),
        tables.ANOMALIES,
    )


def _overrides(config: Config) -> tuple[dict[str, str], dict[str, dict[str, float]]]:
    severities = {rule(name).CODE: severity for name, severity in config.severity.items()}
    limits: dict[str, dict[str, float]] = {}
    for name, values in config.thresholds.items():
        target = rule(name)
        for key in values:
            if key not in target.LIMITS:
                known = ", ".join(target.LIMITS) or "none"
                msg = f"rule {target.CODE} has no threshold {key!r}; it has {known}"
                raise ConfigError(msg)
        limits[target.CODE] = values
    return severities, limits


def _without_exceptions(findings: pl.DataFrame, config: Config) -> pl.DataFrame:
    """Leave out the findings the configuration accepts."""
    keep = pl.lit(value=True)
    for exception in config.exceptions:
        codes = [r.CODE for r in rules() if any(s == ALL or _matches(s, r) for s in exception.rules)]
        pattern = re.compile(exception.kernel)
        names = [n for n in findings["kernel"].unique().drop_nulls() if pattern.search(n)]
        keep = keep & ~(pl.col("code").is_in(codes) & pl.col("kernel").is_in(names).fill_null(value=False))
    return findings.filter(keep)
