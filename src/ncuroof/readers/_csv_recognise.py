"""Tells from the beginning of a file whether a table of ncu stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.readers._csv_header import Header, find_headers, from_titles, split_record
from ncuroof.readers._text_source import head_text

if TYPE_CHECKING:
    from collections.abc import Collection

_SAID = {
    "long": "a header row with {metric!r} and {value!r}",
    "summary": "a header row with {metric!r} and {average!r}",
    "wide": "a header row with {kernel!r} and {count} metric columns such as {example!r}",
}


def first_header(head: bytes) -> Header | None:
    """The first header row in the beginning of a file; one that is longer than it counts with what is there."""
    text = head_text(head)
    if text is None:
        return None
    block = text.encode()
    for _, end, header in find_headers(block):
        if end < len(block) or header is not None:
            return header
    # A raw page can have more titles than fit into the beginning.
    tail = text[text.rfind("\n") + 1 :]
    if len(tail) > 1000:
        delimiter = max(",;\t", key=tail.count)
        line = tail[: tail.rfind(delimiter)]
        names = split_record(line, delimiter)
        if names:
            return from_titles(tuple(n.strip() for n in names), delimiter, quoted=line.startswith('"'))
    return None


def recognise(head: bytes, kinds: Collection[str]) -> str | None:
    """Why this is a table of one of these kinds; None if it is not."""
    header = first_header(head)
    if header is None or header.kind not in kinds:
        return None
    named = {k: header.names[i] for k, i in header.at.items()}
    kernel = named.get("kernel") or named.get("function") or named.get("shown_name")
    example = next((name for _, name, _ in header.metrics if "__" in name), "")
    return _SAID[header.kind].format(**{**named, "kernel": kernel, "count": len(header.metrics), "example": example})
