"""Results of Nsight Compute's own rules, as stored with each result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ncuroof.ncurep.messages import message
from ncuroof.ncurep.session import text

MESSAGE_TYPES = {0: "none", 1: "ok", 2: "warning", 3: "error", 4: "optimization"}
SPEEDUP_TYPES = {1: "local", 2: "global"}
# @url:text:link@, @section:id:text@, @sass:address:text@, @source:...:text@: links of the tool's own window.
_URL = re.compile(r"@url:([^@:]*):([^@]*)@")
_MARK = re.compile(r"@(section|sass|source):([^@]*)@")


@dataclass(frozen=True)
class Item:
    """One message of a rule, with the fields of :data:`ncuroof.tables.NSIGHT_RULES` that it decides."""

    rule_id: str
    rule_name: str
    section_id: str
    item: int
    message_type: str | None
    title: str | None
    text: str | None
    speedup_type: str | None
    speedup_pct: float | None
    focus: list[dict[str, Any]]


def read_rule(raw: bytes) -> list[Item]:
    """The items of a rule result (field 19 of a result); a rule that had nothing to say gives one item without text.

    Raises:
        google.protobuf.message.DecodeError: for bytes that are no rule result.
    """
    rule = message("RuleResult").FromString(raw)
    head = (text(rule.id), text(rule.name), text(rule.section))
    if not rule.body.items:
        return [Item(*head, 0, None, None, None, None, None, [])]
    items = []
    for place, item in enumerate(rule.body.items):
        said = item.message
        speedup = SPEEDUP_TYPES.get(item.speedup.type)
        focus = [
            {
                "metric": text(f.name),
                "value": f.value if f.HasField("value") else None,
                "severity": f.severity & 0x7FFFFFFF if f.HasField("severity") else None,
                "info": text(f.info),
            }
            for f in item.focus
        ]
        items.append(
            Item(
                *head,
                place,
                MESSAGE_TYPES.get(said.type, str(said.type)) if item.HasField("message") else None,
                plain_text(text(said.title)) or None,
                plain_text(text(said.text)) or None,
                speedup,
                item.speedup.percent if speedup else None,
                focus,
            )
        )
    return items


def plain_text(marked: str) -> str:
    """A message without the link marks of the tool's window.

    ``@url:text:link@`` becomes ``text (link)``, all others their text.
    """
    if "@" not in marked:
        return marked
    marked = _URL.sub(lambda m: f"{m[1]} ({m[2]})" if m[1] else m[2], marked)
    return _MARK.sub(lambda m: m[2].rpartition(":")[2], marked)
