"""Nsight Compute's own rule results as findings beside ours: one finding with both voices where they say the same.

What of theirs speaks of what of ours is data, ``nsight_voices.toml``. Their messages of type *optimization* and
*warning* are findings; *ok* and *none* say that all is well, *error* that the rule itself failed.

Their estimated speedup is a time at stake where it is of type *global*: NVIDIA's NvRules API calls that "the
proportional reduction in runtime of the entire workload" (https://docs.nvidia.com/nsight-compute/NvRulesAPI/index.html,
IFrontend.SpeedupType_GLOBAL and IFrontend.speedup), so p % of a kernel of T seconds are T·p/100. Their own figures
agree: 4 threads in a block of one warp give 87.5 %, which is 1 - 4/32, not the 700 % that a ratio of runtimes would be.
A *local* speedup is the gain "when viewing the performance problem in isolation" and puts no time at stake.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof import rules, tables
from ncuroof.errors import RegistryError

if TYPE_CHECKING:
    from ncuroof.model import Analysis

PREFIX = "NCU:"
"""Codes of findings that only Nsight Compute makes: this and what they are about, such as ``NCU:block-size``."""

SPEAKING = ("optimization", "warning")
_MANY = frozenset({"Occupancy"})
_EVIDENCE = next(c.dtype for c in tables.ANOMALIES if c.name == "evidence")


@dataclass(frozen=True)
class Voice:
    """An entry of ``nsight_voices.toml``; ``ours`` holds codes."""

    rule: str
    says: re.Pattern[str]
    ours: tuple[str, ...]
    name: str

    def matches(self, rule_id: str, message: str) -> bool:
        """Whether a message, as ``title: text``, is of this kind."""
        return fnmatchcase(rule_id, self.rule) and self.says.search(message) is not None


@cache
def voices() -> tuple[tuple[Voice, ...], tuple[Voice, ...]]:
    """The entries: what speaks, and what is no finding.

    Raises:
        RegistryError: when an entry names a rule of ours that does not exist, or is malformed.
    """
    text = resources.files("ncuroof").joinpath("nsight_voices.toml").read_text(encoding="utf-8")
    codes = {r.NAME: r.CODE for r in rules.rules()}

    def voice(entry: dict[str, Any]) -> Voice:
        unknown = [name for name in entry.get("ours", ()) if name not in codes]
        if unknown:
            msg = f"nsight_voices.toml, {entry['rule']}: there is no rule {', '.join(unknown)}"
            raise RegistryError(msg)
        ours = tuple(codes[name] for name in entry.get("ours", ()))
        return Voice(entry["rule"], re.compile(entry.get("says", "")), ours, entry.get("name", ""))

    try:
        document = tomllib.loads(text)
        return tuple(voice(e) for e in document["voice"]), tuple(voice(e) for e in document["silent"])
    except (tomllib.TOMLDecodeError, KeyError, re.error) as error:
        msg = f"nsight_voices.toml: {error}"
        raise RegistryError(msg) from error


def findings(kernels: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    """Nsight Compute's rule results as findings.

    Args:
        kernels: placed kernels with a ``row`` column.
        results: columns :data:`ncuroof.tables.NSIGHT_RULES`.

    Returns:
        Columns :data:`ncuroof.tables.ANOMALIES`, severity info, voice nsight, the name made of their rule's; and
        ``rule_id``, and ``ours``: codes of our rules that speak of the same thing (a list, may be empty).
    """
    said = results.filter(pl.col("message_type").is_in(SPEAKING) & pl.col("text").is_not_null())
    message = pl.concat_str(pl.col("title").fill_null(""), pl.lit(": "), pl.col("text"))
    # Texts differ in their figures alone, so a few hundred kinds stand for any number of messages.
    # Logs print the texts without the identifiers of the rules.
    said = said.with_columns(pl.col("rule_id").fill_null(""))
    said = said.with_columns(_message=message, _kind=pl.concat_str("rule_id", message.str.replace_all(r"\d+", "#")))
    first = said.unique("_kind", keep="first", maintain_order=True)
    kinds = pl.DataFrame(
        [
            (key, _kebab(rule), *_kind(rule, text))
            for key, rule, text in first.select("_kind", "rule_id", "_message").iter_rows()
        ],
        schema={"_kind": pl.String, "name": pl.String, "topic": pl.String, "ours": pl.List(pl.String)},
        orient="row",
    )
    said = said.join(kinds, on="_kind", how="left", maintain_order="left").filter(pl.col("topic").is_not_null())
    launch = kernels.select("row", "source", "source_sha256", "result_index", "duration_s", kernel="kernel_name")
    said = said.join(launch, on=["source_sha256", "result_index"], how="inner", maintain_order="left")
    stake = pl.when(pl.col("speedup_type") == "global").then(
        pl.col("duration_s") * pl.col("speedup_pct").clip(0, 100) / 100
    )
    frame = said.select(
        code=pl.concat_str(pl.lit(PREFIX), "topic"),
        name="name",
        severity=pl.lit("info"),
        row="row",
        source="source",
        source_sha256="source_sha256",
        result_index="result_index",
        kernel="kernel",
        message="text",
        advice=pl.lit(None, dtype=pl.String),
        time_at_stake_s=stake,
        confidence=pl.lit(None, dtype=pl.String),
        voice=pl.lit("nsight"),
        evidence=pl.concat_list(_testimony()),
        rule_id="rule_id",
        ours="ours",
    )
    return tables.conform(frame.drop("rule_id", "ours"), tables.ANOMALIES).hstack(frame.select("rule_id", "ours"))


def _kind(rule_id: str, message: str) -> tuple[str | None, list[str]]:
    """What a message is about, and our codes for it; no topic for what is no finding."""
    speaking, silent = voices()
    if any(v.matches(rule_id, message) for v in silent):
        return None, []
    hits = [v for v in speaking if v.matches(rule_id, message)]
    if not hits:
        return _kebab(rule_id), []
    hits = hits if rule_id in _MANY else hits[:1]
    return hits[0].name, [code for v in hits for code in v.ours]


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def _testimony() -> pl.Expr:
    """One piece of evidence per message: their rule, its estimated speedup, and what it says."""
    return pl.struct(
        metric=pl.concat_str(
            pl.lit("Nsight Compute "),
            "rule_id",
            pl.when(pl.col("speedup_type").is_not_null())
            .then(pl.format(", estimated {} speedup", "speedup_type"))
            .otherwise(pl.lit("")),
        ),
        value="speedup_pct",
        unit=pl.lit("%"),
        limit=pl.lit(None, dtype=pl.Float64),
        source=pl.col("text"),
    )


def add(
    kernels: pl.DataFrame, ours: pl.DataFrame, results: pl.DataFrame, mode: str
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Bring Nsight Compute's voice into the findings of our rules.

    Args:
        kernels: placed kernels with a ``row`` column.
        ours: findings of our rules.
        results: columns :data:`ncuroof.tables.NSIGHT_RULES`.
        mode: ``merge``: theirs counts where ours says the same, the rest is given apart; ``show``: the rest joins the
            findings; ``hide``: theirs is not looked at.

    Returns:
        The findings, and those that Nsight Compute alone makes, where they are not among them.
    """
    if mode == "hide" or results.is_empty():
        return ours, None
    merged, alone = merge(ours, findings(kernels, results))
    # A time at stake that only theirs knows may have changed the order.
    merged = rules.ranked(merged)
    return (rules.ranked(pl.concat([merged, alone])), None) if mode == "show" else (merged, rules.ranked(alone))


def merge(ours: pl.DataFrame, theirs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One finding where both speak of the same kernel and thing.

    Args:
        ours: findings of our rules.
        theirs: as :func:`findings` gives them.

    Returns:
        Ours, with voice ``both``, their messages as evidence, and their time at stake where we have none, wherever they
        agree; and those of theirs that no finding of ours speaks of (columns :data:`ncuroof.tables.ANOMALIES`).
    """
    told = theirs.with_row_index("_their").explode("ours", empty_as_null=False).rename({"ours": "_code"})
    pairs = told.select("_their", "row", code="_code", _stake="time_at_stake_s", _said="evidence").join(
        ours.drop_nulls("row").select("row", "code").unique(), on=["row", "code"], how="semi"
    )
    per_finding = pairs.group_by("row", "code", maintain_order=True).agg(
        pl.col("_said").explode(), pl.col("_stake").max()
    )
    both = pl.col("_said").is_not_null()
    merged = (
        ours.join(per_finding, on=["row", "code"], how="left", maintain_order="left")
        .with_columns(
            voice=pl.when(both).then(pl.lit("both")).otherwise("voice"),
            time_at_stake_s=pl.coalesce("time_at_stake_s", "_stake"),
            evidence=pl.when(both)
            .then(pl.concat_list(pl.col("evidence").fill_null([]), "_said"))
            .otherwise("evidence")
            .cast(_EVIDENCE),
        )
        .drop("_said", "_stake")
    )
    alone = theirs.with_row_index("_their").join(pairs, on="_their", how="anti").drop("_their", "rule_id", "ours")
    return merged, alone


def agreement(analysis: Analysis) -> pl.DataFrame:
    """Where both sides judged a kernel: who spoke.

    Returns:
        One row per kernel and rule of ours that at least one side spoke through: ``row``, ``code``, ``name``,
        ``kernel``, ``rule_id`` (of Nsight Compute), ``who`` (both, ncuroof, nsight) and ``message`` of the one that
        spoke, ours first. Nsight Compute's rule ran on the kernel, and ours ran and had the counters it needs: anything
        else is no disagreement.
    """
    speaking, _ = voices()
    names = {r.CODE: r.NAME for r in rules.rules()}
    ran = [code for code in analysis.judged if any(code in v.ours for v in speaking)]
    rows = [
        pl.DataFrame({"row": able}, schema={"row": pl.UInt32}).with_columns(code=pl.lit(code))
        for code, able in rules.judged_rows(analysis.kernels, ran).items()
    ]
    results = analysis.dataset.rules
    launch = analysis.kernels.select("row", "source_sha256", "result_index", kernel="kernel_name")
    theirs_ran = (
        results.filter(pl.col("message_type").is_null() | (pl.col("message_type") != "error"))
        .select("source_sha256", "result_index", "rule_id")
        .unique(maintain_order=True)
        .join(launch, on=["source_sha256", "result_index"], how="inner", maintain_order="left")
        .select("row", "kernel", "rule_id")
    )
    topics = pl.DataFrame(
        [
            (rule_id, code)
            for rule_id in theirs_ran["rule_id"].unique(maintain_order=True).drop_nulls()
            for code in sorted({c for v in speaking if fnmatchcase(rule_id, v.rule) for c in v.ours})
        ],
        schema={"rule_id": pl.String, "code": pl.String},
        orient="row",
    )
    judged = theirs_ran.join(topics, on="rule_id", how="inner").join(
        pl.concat(rows) if rows else pl.DataFrame(schema={"row": pl.UInt32, "code": pl.String}),
        on=["row", "code"],
        how="semi",
    )
    said = findings(analysis.kernels, results).explode("ours", empty_as_null=False)
    theirs = said.select("row", "rule_id", code="ours", _theirs="message").unique(
        ["row", "code", "rule_id"], keep="first", maintain_order=True
    )
    ours = (
        analysis.findings.filter(pl.col("voice") != "nsight")
        .select("row", "code", _ours="message")
        .unique(["row", "code"], keep="first", maintain_order=True)
    )
    we, they = pl.col("_ours").is_not_null(), pl.col("_theirs").is_not_null()
    spoken = (
        judged.join(theirs, on=["row", "code", "rule_id"], how="left")
        .join(ours, on=["row", "code"], how="left")
        .filter(we | they)
        .with_columns(
            who=pl.when(we & they).then(pl.lit("both")).when(we).then(pl.lit("ncuroof")).otherwise(pl.lit("nsight"))
        )
    )
    # Where several rules of one side speak of the same thing, one that agrees is enough.
    agreed = pl.col("who") == "both"
    settled = (
        pl.when(pl.col("who") == "nsight")
        .then(agreed.any().over("row", "rule_id"))
        .when(pl.col("who") == "ncuroof")
        .then(agreed.any().over("row", "code"))
        .otherwise(pl.lit(value=False))
    )
    return (
        spoken.filter(~settled)
        .select(
            "row",
            "code",
            pl.col("code").replace_strict(names, return_dtype=pl.String).alias("name"),
            "kernel",
            "rule_id",
            "who",
            message=pl.coalesce("_ours", "_theirs"),
        )
        .sort("code", "rule_id", "row")
    )
