"""Everything as one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.reporters import _records as records

if TYPE_CHECKING:
    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "json"
DESCRIPTION = "Everything as one JSON document: kernels with placement, findings with evidence, skips, notes, sources."
SUFFIX = ".json"


def render(analysis: Analysis, options: RenderOptions) -> str:
    """The document, whatever ``options.limit``; ``options.verbose`` adds Nsight Compute's own rule results."""
    lists = {
        "sources": records.sources(analysis),
        "findings": records.findings(analysis),
        "suite": records.suite_rows(analysis),
        "nsight_findings": records.nsight_findings(analysis),
        "skips": records.skips(analysis),
        "notes": records.notes(analysis),
        "kernels": records.kernels(analysis),
    }
    if options.verbose:
        lists["nsight_rules"] = records.nsight_rules(analysis.dataset.rules)
    # One record a line: a diff or grep finds it, and the file is half as long as with one key a line.
    parts = [f"{records.dump(name)}: {records.dump(value)}" for name, value in records.header(analysis).items()]
    for name, items in lists.items():
        lines = ",\n".join(f"    {records.dump(item)}" for item in items)
        parts.append(f"{records.dump(name)}: [\n{lines}\n  ]" if lines else f"{records.dump(name)}: []")
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"
