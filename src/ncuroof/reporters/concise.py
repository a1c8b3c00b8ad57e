"""One line per finding, for editors, grep and short logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.reporters._findings import location
from ncuroof.reporters._lines import SEVERITY_COLOR, paint
from ncuroof.reporters._names import shorten, visible
from ncuroof.reporters.text import summary

if TYPE_CHECKING:
    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "concise"
DESCRIPTION = "One line per finding: file:index: CODE severity message [kernel]."
SUFFIX = ".txt"

NAME_WIDTH = 60


def render(analysis: Analysis, options: RenderOptions) -> str:
    """A line per finding in the order of the analysis, and the summary line.

    The index is the position of the result in its report, from 0; findings about a whole run have neither.
    """
    lines = []
    for row in analysis.findings.head(options.limit or analysis.findings.height).iter_rows(named=True):
        severity = str(row["severity"])
        kernel = f" [{shorten(str(row['kernel']), NAME_WIDTH)}]" if row["kernel"] else ""
        lines.append(
            f"{location(row)}: {paint(visible(str(row['code'])), 'bold', on=options.color)} "
            f"{paint(severity, SEVERITY_COLOR.get(severity, 'dim'), on=options.color)} "
            f"{visible(str(row['message'] or ''))}{kernel}"
        )
    left = analysis.findings.height - len(lines)
    if left > 0:
        lines.append(f"… and {left} more")
    lines.append(summary(analysis, verbose=options.verbose))
    return "\n".join(lines) + "\n"
