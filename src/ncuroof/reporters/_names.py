"""Makes text from reports harmless to look at, and shortens C++ names so that the function stays readable."""

from __future__ import annotations

ELLIPSIS = "…"
LONGEST = 4000
"""Longer names are cut before anything else looks at them, so that hostile input costs no time."""

_OPEN = {"<": ">", "(": ")", "[": "]", "{": "}"}
_AFTER_PARAMETERS = ("", "const", "volatile", "noexcept", "&", "&&")


def visible(text: str) -> str:
    r"""``text`` with everything that does not print made visible (``\x1b``, ``\u202e``), on one line.

    Control characters, line breaks, bidirectional overrides, zero-width characters and lone surrogates can no longer
    drive a terminal, break a line or fail to encode.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def clean(text: str) -> str:
    """``text`` that can be encoded: lone surrogates become U+FFFD. For formats whose own escapes cover the rest."""
    return text.encode("utf-8", "replace").decode("utf-8") if not _encodable(text) else text


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def cut(text: str, width: int) -> str:
    """``text`` visible and at most ``width`` characters long; what is left out in the middle becomes an ellipsis."""
    text = visible(text[: LONGEST + 1])
    if len(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[:width]
    head = (width - 1 + 1) // 2
    tail = width - 1 - head
    return text[:head] + ELLIPSIS + (text[-tail:] if tail else "")


def shorten(name: str, width: int) -> str:
    """A C++ function name in at most ``width`` characters.

    Return type and parameters go first, then namespaces, then template arguments from the back; the function name
    itself is cut only when it alone is too long. Text that is no well-formed C++ name is cut in the middle.
    """
    text = visible(name[:LONGEST])
    parts = _split(text)
    if parts is None:
        return cut(text, width)
    qualified = _without_parameters(parts)
    qualified = _after_last(qualified, " ")
    bare = _after_last(qualified, "::")
    for candidate in (qualified, bare, [p if p[0] != "<" else "<…>" for p in qualified]):
        whole = "".join(candidate)
        if 0 < len(whole) <= width and whole != "<…>":
            # Prefer arguments over namespaces only where some arguments were shown before.
            if candidate is not qualified and candidate is not bare and any(p[0] == "<" for p in bare):
                break
            return whole
    return _fit(bare, width)


def _fit(parts: list[str], width: int) -> str:
    """Bare function name with as many leading template arguments as fit."""
    templates = [i for i, p in enumerate(parts) if p[0] == "<"]
    if not templates:
        return cut("".join(parts), width)
    at = templates[-1]
    before = "".join("<…>" if p[0] == "<" else p for p in parts[:at])
    after = "".join("<…>" if p[0] == "<" else p for p in parts[at + 1 :])
    room = width - len(before) - len(after) - len("<…>")
    if room < 0:
        return cut(before + "<…>" + after, width)
    kept: list[str] = []
    for argument in _arguments(parts[at]):
        if len(", ".join([*kept, argument])) + 2 > room:
            break
        kept.append(argument)
    if kept:
        return f"{before}<{', '.join(kept)}, …>{after}"
    first = _arguments(parts[at])[0]
    inner = _split(first)
    if inner is not None:
        first = "".join(_after_last(inner, "::"))
    return f"{before}<{first[:room]}…>{after}" if room >= 8 else f"{before}<…>{after}"


def _split(text: str) -> list[str] | None:
    """``text`` as its top-level pieces, plain or bracketed; None where brackets do not match."""
    parts: list[str] = []
    stack: list[str] = []
    start = 0
    position = 0
    while position < len(text):
        character = text[position]
        if not stack and text.startswith("operator", position):
            position = _skip_operator(text, position + len("operator"))
            continue
        if character == ">" and position and text[position - 1] == "-":
            position += 1
            continue
        if character in _OPEN:
            if not stack and position > start:
                parts.append(text[start:position])
                start = position
            stack.append(_OPEN[character])
        elif stack and character == stack[-1]:
            stack.pop()
            if not stack:
                parts.append(text[start : position + 1])
                start = position + 1
        elif character in ">)]}":
            return None
        position += 1
    # An open bracket at the end is a name that was cut, by its writer or by us: its last piece stays bracketed.
    if start < len(text):
        parts.append(text[start:])
    return parts or None


def _skip_operator(text: str, position: int) -> int:
    """The position after an operator's symbol, which may look like a bracket."""
    if text.startswith(("()", "[]"), position):
        return position + 2
    while position < len(text) and text[position] in "<>=!+-*/%^&|~":
        position += 1
    return position


def _without_parameters(parts: list[str]) -> list[str]:
    for index in range(len(parts) - 1, 0, -1):
        part = parts[index]
        if part[0] == "(" and part != "(anonymous namespace)":
            return parts[:index]
        if part[0] != "[" and part.strip() not in _AFTER_PARAMETERS:
            break
    return parts


def _after_last(parts: list[str], separator: str) -> list[str]:
    """What follows the last top-level ``separator``; all of it where that would be nothing."""
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if part[0] in _OPEN:
            continue
        head, found, tail = part.rpartition(separator)
        if not found or head.endswith("operator") or (not tail and index == len(parts) - 1):
            continue
        rest = [tail, *parts[index + 1 :]] if tail else parts[index + 1 :]
        # A lone bracket is no name: "(anonymous namespace)::f" keeps f, "void (*)(int)" stays whole.
        return rest if rest and rest[0][0] not in _OPEN else parts
    return parts


def _arguments(group: str) -> list[str]:
    """The top-level arguments of ``<a, b<c, d>, e>``."""
    found: list[str] = []
    depth = 0
    start = 1
    for position in range(1, len(group) - 1):
        character = group[position]
        if character in _OPEN:
            depth += 1
        elif character in ">)]}" and group[position - 1] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(group[start:position].strip())
            start = position + 1
    found.append(group[start:-1].strip())
    return found
