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
    document = records.header(analysis) | {
        "sources": list(records.sources(analysis)),
        "findings": list(records.findings(analysis)),
        "skips": list(records.skips(analysis)),
        "notes": list(records.notes(analysis)),
        "kernels": list(records.kernels(analysis)),
    }
    if options.verbose:
        document["nsight_rules"] = list(records.nsight_rules(analysis.dataset.rules))
    return records.dump(document, indent=2) + "\n"
