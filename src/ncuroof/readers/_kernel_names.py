"""Takes kernel names apart: the function's own name in a demangled or mangled one."""

from __future__ import annotations

import re
from functools import lru_cache

_MANGLED = re.compile(r"^_Z[A-Za-z0-9_.$]+$")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$.]*$")
_UNNAMED = re.compile(r"(?<![<\w])unnamed>::")
# Where brackets do not match: the first name that something in brackets follows, without its scope.
_FIRST = re.compile(r"^(?:(?:void|static|inline|const)\s+)*(?:[\w~$]+::)*([A-Za-z_$][\w$.]*)\s*[<(\[]")
_PAIRS = {")": "(", ">": "<", "]": "["}
_QUALIFIERS = (" const", " volatile", " &", "&&", " noexcept")


def is_mangled(name: str) -> bool:
    """Whether this is a name as the linker knows it (Itanium C++ ABI)."""
    return bool(_MANGLED.match(name))


@lru_cache(maxsize=4096)
def function_name(name: str) -> str:
    """The function's name alone: no return type, scope, template arguments or parameters.

    ``void at::native::reduce_kernel<512, 1>(T3)`` gives ``reduce_kernel``. A name that cannot be taken apart is
    returned as it is.
    """
    if is_mangled(name):
        return _from_mangled(name) or name
    # ncu shortens "<unnamed>::" to "unnamed>::" where it simplifies names, which leaves a bracket without its partner.
    name = _UNNAMED.sub("unnamed::", name)
    rest = name.rstrip()
    # From the end: the parameter list, then template arguments or tags. Return types in front can hold anything.
    while rest and (rest[-1] in _PAIRS or rest.endswith(_QUALIFIERS)):
        start = _opening(rest) if rest[-1] in _PAIRS else rest.rindex(" ") if " " in rest else -1
        if start <= 0:
            break
        rest = rest[:start].rstrip()
    if rest and rest[-1] in _PAIRS:
        match = _FIRST.match(name)
        return match[1] if match else name
    match = _IDENTIFIER.search(rest)
    return match[0] if match else name


def _opening(text: str) -> int:
    """Where the bracket that closes at the end of ``text`` opens; -1 if it does not."""
    closing = text[-1]
    opening = _PAIRS[closing]
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        letter = text[place]
        if letter == closing and not (letter == ">" and text[place - 1 : place] in ("-", "=")):
            depth += 1
        elif letter == opening:
            depth -= 1
            if depth == 0:
                return place
    return -1


def _from_mangled(name: str) -> str | None:
    """The last source name before the template arguments of a mangled name."""
    at = 2
    if name[at : at + 1] == "N":
        at += 1
        while name[at : at + 1] in ("K", "V", "r", "R", "O"):
            at += 1
    if name[at : at + 2] == "St":
        at += 2
    last = None
    while match := re.match(r"\d+", name[at:]):
        size = int(match[0])
        start = at + len(match[0])
        if size == 0 or start + size > len(name):
            break
        last = name[start : start + size]
        at = start + size
    return last
