"""NVTX ranges as ncu prints them into a CSV column.

The column ``thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg`` holds, after the thread's
number, one quoted entry for each open range, outermost first: ``1  "<default
domain>:outer:none:none:none:none:none:none"``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

DEFAULT_DOMAIN = "<default domain>"
# A range's name may hold colons and quotes (our own annotations are JSON), so its end is found from the six fields
# behind it.
_ENTRY = re.compile(
    r'"(?P<domain>(?:[^":]|::)*):(?P<name>.*?)'
    r'(?::(?P<pl_type>[\w ]*):(?P<payload>[^:"]*):(?P<clr_type>[\w ]*):(?P<color>[^:"]*)'
    r':(?P<msg_type>[\w ]*):(?P<message>.*?))"(?=\s|$)',
    re.DOTALL,
)
_BARE = re.compile(r'"(?P<domain>[^":]*):(?P<name>[^":]*)(?::[^"]*)?"')
_NONE = ("", "none", "NONE", "-")


@dataclass(frozen=True)
class Ranges:
    """The ranges around a launch.

    Attributes:
        path: ``domain:range/range``, outermost first; the default domain is left out. None where no range is open.
        ranges: fields of :data:`ncuroof.tables.NVTX_RANGE`.
    """

    path: str | None
    ranges: list[dict[str, Any]]


@lru_cache(maxsize=1024)
def parse_ranges(text: str) -> Ranges:
    """The ranges that a column's text lists; none for anything that has another form."""
    thread = re.match(r"\s*(\d{1,19})\b", text)
    found: list[dict[str, Any]] = []
    matches = list(_ENTRY.finditer(text)) or list(_BARE.finditer(text))
    for match in matches:
        part = match.groupdict()
        name = part["name"]
        if name in _NONE and part.get("message") not in (None, *_NONE):
            name = part["message"]
        color = part.get("color")
        payload = part.get("payload")
        found.append(
            {
                "domain": part["domain"],
                "name": name,
                "payload": payload if payload not in (None, *_NONE) else None,
                "category": None,
                "color": color if color not in (None, *_NONE) else None,
                "thread": int(thread[1]) if thread else None,
            }
        )
    by_domain: dict[str, list[str]] = {}
    for one in found:
        by_domain.setdefault(one["domain"], []).append(one["name"])
    if not by_domain:
        return Ranges(None, [])
    domain, names = list(by_domain.items())[-1]
    return Ranges(("" if domain == DEFAULT_DOMAIN else f"{domain}:") + "/".join(names), found)
