"""The code quality report that GitLab shows in merge requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.reporters._findings import identified, message, path, title
from ncuroof.reporters._names import visible
from ncuroof.reporters._records import dump

if TYPE_CHECKING:
    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "gitlab"
DESCRIPTION = "Code quality report of GitLab (JSON with fingerprints)."
SUFFIX = ".json"

SEVERITIES = {"error": "critical", "warning": "major", "info": "minor", "note": "info"}


def render(analysis: Analysis, options: RenderOptions) -> str:
    """A JSON array with one violation per finding; identical launches share one.

    A report has no lines: ``begin`` is the number of the result in it, from 1.
    """
    violations = [
        {
            "description": f"{title(f.row)}. {message(f.row)}"
            + (f" ({f.launches} launches)" if f.launches > 1 else ""),
            "check_name": visible(f"{f.row['code']}-{f.row['name']}"),
            "fingerprint": f.fingerprint,
            "severity": SEVERITIES.get(str(f.row["severity"]), "info"),
            "location": {"path": path(f.row), "lines": {"begin": (f.row["result_index"] or 0) + 1}},
        }
        for f in identified(analysis)
    ]
    return dump(violations, indent=2) + "\n"
