"""SARIF 2.1.0, the format of static analysis that code scanning services read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ncuroof import __version__
from ncuroof.reporters._findings import LONGEST_NAME, identified, message, path
from ncuroof.reporters._groups import full_name, label, launch_shape, skip_text
from ncuroof.reporters._names import cut, visible
from ncuroof.reporters._records import dump, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions, RuleText
    from ncuroof.reporters._findings import Identified
    from ncuroof.reporters._groups import Row

NAME = "sarif"
DESCRIPTION = "SARIF 2.1.0 with the documentation of the rules."
SUFFIX = ".sarif"

LEVELS = {"error": "error", "warning": "warning", "info": "note", "note": "note"}
FINGERPRINT = "ncuroofFinding/v1"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(analysis: Analysis, options: RenderOptions) -> str:
    """One run: rules with their help, a result per finding, what could not be judged as notifications."""
    found = identified(analysis)
    rules = _rules([f.row for f in found], options.rules)
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    artifacts = [
        {
            "location": {"uri": _uri(path({"source": source.name}))},
            "length": source.size,
            "hashes": {"sha-256": source.sha256},
            "roles": ["analysisTarget"],
        }
        for source in analysis.dataset.sources
    ]
    positions = {source.sha256: number for number, source in enumerate(analysis.dataset.sources)}
    run = {
        "tool": {
            "driver": {
                "name": "ncuroof",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": rules,
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(analysis, index)}],
        "artifacts": artifacts,
        "results": [_result(f, index, artifacts, positions) for f in found],
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules(rows: list[Row], texts: Mapping[str, RuleText]) -> list[dict[str, Any]]:
    """A descriptor per rule that found something; what the rule says about itself where the caller gave it."""
    first = {str(row["code"]): row for row in reversed(rows)}
    rules = []
    for code, row in sorted(first.items()):
        text = texts.get(code)
        name = text.name if text else str(row["name"] or code)
        summary = text.summary if text else name.replace("-", " ")
        page = text.help if text else str(row["advice"] or summary)
        rules.append(
            {
                "id": visible(code),
                "name": "".join(part.capitalize() for part in visible(name).split("-")),
                "shortDescription": {"text": visible(summary)},
                "help": {"text": plain(page)},
                "defaultConfiguration": {"level": LEVELS.get(text.severity if text else str(row["severity"]), "note")},
                "properties": {"tags": ["gpu", "performance"]},
            }
        )
    return rules


def _result(
    found: Identified, index: Mapping[str, int], artifacts: Sequence[dict[str, Any]], positions: Mapping[str, int]
) -> dict[str, Any]:
    row, kernel = found.row, found.kernel
    location: dict[str, Any] = {}
    # Code scanning drops results without a place: what concerns the whole run is put at the first report.
    position = positions.get(str(row["source_sha256"]), 0)
    if position < len(artifacts):
        artifact = {"uri": artifacts[position]["location"]["uri"], "index": position}
        # A report is no text, but code scanning wants a region; its first line stands for the file.
        location["physicalLocation"] = {"artifactLocation": artifact, "region": {"startLine": 1}}
    name = full_name(kernel) if kernel is not None else row["kernel"]
    if name:
        place = {"name": cut(str(name), LONGEST_NAME), "kind": "function"}
        if kernel is not None and kernel.get("kernel_mangled"):
            place["decoratedName"] = cut(str(kernel["kernel_mangled"]), LONGEST_NAME)
        location["logicalLocations"] = [place]
    properties = {
        "resultIndex": row["result_index"],
        "launch": visible(", ".join(p for p in (label(kernel), launch_shape(kernel)) if p))
        if kernel is not None
        else None,
        "timeAtStakeSeconds": plain(row["time_at_stake_s"]),
        "confidence": row["confidence"],
        "voice": row["voice"],
        "evidence": plain(row["evidence"]) or None,
    }
    result: dict[str, Any] = {
        "ruleId": visible(str(row["code"])),
        "ruleIndex": index[visible(str(row["code"]))],
        "level": LEVELS.get(str(row["severity"]), "note"),
        "message": {"text": _literal(message(row))},
        "partialFingerprints": {FINGERPRINT: found.fingerprint},
        "occurrenceCount": max(found.launches, 1),
        "properties": {name: value for name, value in properties.items() if value is not None},
    }
    if location:
        result["locations"] = [location]
    return result


def _notifications(analysis: Analysis, index: Mapping[str, int]) -> list[dict[str, Any]]:
    """What could not be judged, and what the readers had to say."""
    found = []
    for skip in analysis.skips:
        notification: dict[str, Any] = {
            "level": "note",
            "message": {"text": _literal(visible(skip_text(skip, analysis.kernels.height)))},
        }
        if skip.code in index:
            notification["associatedRule"] = {"id": skip.code, "index": index[skip.code]}
        found.append(notification)
    for note in analysis.dataset.notes:
        text = f"{note.source}: {note.message}" if note.source else note.message
        found.append({"level": "note", "message": {"text": _literal(visible(text))}})
    return found


def _literal(text: str) -> str:
    """Text without the embedded links and placeholders that SARIF messages may hold."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("{", "{{").replace("}", "}}")


def _uri(relative: str) -> str:
    return quote(relative, safe="/")
