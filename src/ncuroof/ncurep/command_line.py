"""ncu's own options in a stored command line: what stands after the name of the program is the program's.

``usage: ncu [options] [program] [program-arguments]`` (NVIDIA Nsight Compute CLI documentation; ``ncu --help``): the
first word that is neither an option nor the value of one is the program.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKEN = re.compile(r'"([^"]*)"|\'([^\']*)\'|(\S+)')
_NCU = re.compile(r"(?:.*[/\\])?(?:ncu|nv-nsight-cu-cli)(?:\.exe)?", re.IGNORECASE)

# Options without a value, of all versions since 2019 (`ncu --help`, and the CLI documentation by version).
_FLAGS = {
    "-h", "--help", "-v", "--version", "-f", "--force-overwrite", "--call-stack", "--csv", "--details-all",
    "--disable-extra-suffixes", "--disable-pm-warp-sampling", "--disable-profiler-start-stop", "--fp",
    "--list-chips", "--list-metrics", "--list-rules", "--list-sections", "--list-sets", "--null-stdin", "--nvtx",
    "--open-in-ui", "--print-fp", "--print-rule-details", "--query-metrics", "--quiet", "--section-folder-restore",
    "--support-32bit", "--verbose",
}  # fmt: skip


def own_options(command_line: str) -> list[str]:
    """The words of a stored command line that are ncu's: from its name on, up to the program or ``--``.

    What stands before ncu (env, sudo, a launcher) is left out. Quotes group words and are removed; a line that was
    stored without the quoting of the shell is read as it stands.
    """
    tokens = [double or single or bare for double, single, bare in _TOKEN.findall(command_line)]
    names = (place for place, token in enumerate(tokens) if _NCU.fullmatch(token))
    start = next(names, 0 if tokens and not tokens[0].startswith("-") else -1) + 1
    end = start
    while end < len(tokens) and tokens[end].startswith("-") and tokens[end] != "--":
        # "--name=value" and "-ovalue" hold their value.
        whole = "=" in tokens[end] or tokens[end] in _FLAGS or re.match(r"-[^-].", tokens[end])
        has_value = not whole and end + 1 < len(tokens) and not tokens[end + 1].startswith("-")
        end += 2 if has_value else 1
    return tokens[start:end]


def option(tokens: list[str], name: str, allowed: Iterable[str] | None = None) -> str | None:
    """The value of an option, written ``--name value`` or ``--name=value``; the last one counts."""
    found = None
    for place, token in enumerate(tokens):
        if token.startswith(name + "="):
            value = token[len(name) + 1 :]
        elif token == name and place + 1 < len(tokens):
            value = tokens[place + 1]
        else:
            continue
        if allowed is None or value in allowed:
            found = value
    return found
