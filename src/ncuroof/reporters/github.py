"""Workflow commands that GitHub Actions shows as annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._findings import message, path, title
from ncuroof.reporters._groups import finding_groups, kernel_groups
from ncuroof.reporters.text import summary

if TYPE_CHECKING:
    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "github"
DESCRIPTION = "Annotations of GitHub Actions, the most costly ten of each kind; the rest is counted in the last line."
SUFFIX = ".txt"

PER_KIND = 10
"""GitHub shows at most ten errors, ten warnings and ten notices per step and drops the rest without a word."""
KINDS = {"error": "error", "warning": "warning", "info": "notice", "note": "notice"}


def render(analysis: Analysis, options: RenderOptions) -> str:
    """At most ten commands of each kind, most time at stake first; identical launches share one."""
    found = finding_groups(analysis, kernel_groups(analysis))
    # Notes about the data compete with information about kernels for the same ten notices: kernels first.
    found.sort(key=lambda f: f.is_data_note)
    limit = min(options.limit, PER_KIND) if options.limit else PER_KIND
    used = dict.fromkeys(KINDS.values(), 0)
    left = dict.fromkeys(KINDS.values(), 0)
    lines = []
    for f in found:
        kind = KINDS.get(str(f.row["severity"]), "notice")
        if used[kind] >= limit:
            left[kind] += 1
            continue
        used[kind] += 1
        times = f" ({f.launches} launches)" if f.launches > 1 else ""
        row = f.row | {"time_at_stake_s": f.stake_s}
        properties = f"title={escape_property(title(row))}"
        if row["source"]:
            properties = f"file={escape_property(path(row))},{properties}"
        lines.append(f"::{kind} {properties}::{escape_data(message(row) + times)}")
    rest = ", ".join(fig.count(number, kind) for kind, number in left.items() if number)
    lines.append(
        f"ncuroof: {summary(analysis, verbose=True)}" + (f"; not shown as annotations: {rest}" if rest else "")
    )
    return "\n".join(lines) + "\n"


def escape_data(text: str) -> str:
    """Text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Text as a property of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")
