"""The parts of public formats that our outputs use, written down from their documentation, and stricter than it.

SARIF: OASIS, Static Analysis Results Interchange Format 2.1.0, sections 3.13 (log) to 3.58 (notification).
GitLab: documentation of "Code Quality report format". JUnit: the elements that Ant, Jenkins and GitLab agree on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def _object(required: dict, optional: dict | None = None) -> dict:
    return {
        "type": "object",
        "required": list(required),
        "properties": required | (optional or {}),
        "additionalProperties": False,
    }


_TEXT = {"type": "string", "minLength": 1}
_INDEX = {"type": "integer", "minimum": 0}
_MESSAGE = _object({"text": _TEXT})
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_URI = {"type": "string", "pattern": r"^[A-Za-z0-9._~!$&'()*+,;=:@/%-]+$"}
_BAG = {"type": "object"}

SARIF = _object(
    {
        "$schema": _TEXT,
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": _object(
                {
                    "tool": _object(
                        {
                            "driver": _object(
                                {
                                    "name": _TEXT,
                                    "version": _TEXT,
                                    "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": _object(
                                            {
                                                "id": _TEXT,
                                                "name": _TEXT,
                                                "shortDescription": _MESSAGE,
                                                "help": _MESSAGE,
                                                "defaultConfiguration": _object({"level": _LEVEL}),
                                            },
                                            {"properties": _BAG},
                                        ),
                                    },
                                }
                            )
                        }
                    ),
                    "results": {
                        "type": "array",
                        "items": _object(
                            {
                                "ruleId": _TEXT,
                                "ruleIndex": _INDEX,
                                "level": _LEVEL,
                                "message": _MESSAGE,
                                "partialFingerprints": {
                                    "type": "object",
                                    "minProperties": 1,
                                    "additionalProperties": _TEXT,
                                },
                                "occurrenceCount": {"type": "integer", "minimum": 1},
                            },
                            {
                                "properties": _BAG,
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": _object(
                                        {},
                                        {
                                            "physicalLocation": _object(
                                                {
                                                    "artifactLocation": _object({"uri": _URI}, {"index": _INDEX}),
                                                    "region": _object({"startLine": {"type": "integer", "minimum": 1}}),
                                                }
                                            ),
                                            "logicalLocations": {
                                                "type": "array",
                                                "uniqueItems": True,
                                                "items": _object(
                                                    {"name": _TEXT, "kind": _TEXT}, {"decoratedName": _TEXT}
                                                ),
                                            },
                                        },
                                    ),
                                },
                            },
                        ),
                    },
                },
                {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "artifacts": {
                        "type": "array",
                        "uniqueItems": True,
                        "items": _object(
                            {"location": _object({"uri": _URI})},
                            {
                                "length": _INDEX,
                                "hashes": {"type": "object", "additionalProperties": _TEXT},
                                "roles": {"type": "array", "items": {"enum": ["analysisTarget"]}},
                            },
                        ),
                    },
                    "invocations": {
                        "type": "array",
                        "items": _object(
                            {"executionSuccessful": {"type": "boolean"}},
                            {
                                "toolExecutionNotifications": {
                                    "type": "array",
                                    "items": _object(
                                        {"level": _LEVEL, "message": _MESSAGE},
                                        {"associatedRule": _object({"id": _TEXT, "index": _INDEX})},
                                    ),
                                }
                            },
                        ),
                    },
                },
            ),
        },
    }
)

GITLAB = {
    "type": "array",
    "items": _object(
        {
            "description": _TEXT,
            "check_name": _TEXT,
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": _object(
                {
                    "path": {"type": "string", "pattern": r"^(?!/|\./|.*\\\\).+$"},
                    "lines": _object({"begin": {"type": "integer", "minimum": 1}}),
                }
            ),
        }
    ),
}

_NUMBER = re.compile(r"\d+(\.\d+)?")
_COUNTS = {"tests": _NUMBER, "failures": _NUMBER, "errors": _NUMBER, "skipped": _NUMBER}
_ANY = re.compile(r"(?s).+")
# element: (required attributes, optional attributes, allowed children)
_JUNIT: dict[str, tuple[dict, dict, set[str]]] = {
    "testsuites": ({"name": _ANY, **_COUNTS}, {}, {"testsuite"}),
    "testsuite": ({"name": _ANY, **_COUNTS}, {}, {"testcase"}),
    "testcase": ({"name": _ANY, "classname": _ANY}, {"time": _NUMBER}, {"failure", "skipped", "system-out"}),
    "failure": ({"message": _ANY, "type": _ANY}, {}, set()),
    "skipped": ({"message": _ANY}, {}, set()),
    "system-out": ({}, {}, set()),
}


def junit_faults(element: Element) -> list[str]:
    """Everything about a JUnit document that a CI system might trip over; the counts are checked as well."""
    if element.tag not in _JUNIT:
        return [f"unknown element {element.tag}"]
    required, optional, children = _JUNIT[element.tag]
    faults = [f"{element.tag} lacks {name}" for name in required if name not in element.attrib]
    for name, value in element.attrib.items():
        pattern = (required | optional).get(name)
        if pattern is None:
            faults.append(f"{element.tag} has {name}")
        elif not pattern.fullmatch(value):
            faults.append(f"{element.tag} {name}={value!r}")
    for child in element:
        if child.tag not in children:
            faults.append(f"{child.tag} in {element.tag}")
        faults += junit_faults(child)
    if "tests" in required:
        for name, path in (("tests", ".//testcase"), ("failures", ".//failure"), ("skipped", ".//skipped")):
            number = len(element.findall(path))
            if element.get(name) != str(number):
                faults.append(f"{element.tag} says {element.get(name)} {name}, has {number}")
    return faults
