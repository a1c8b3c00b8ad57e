"""D007 not-judged: rules that could not judge some kernels, and what would let them.

What it does
    Counts, once per analysis, the kernels that rules had to leave out because the reports lack their counters.

Why it matters
    A rule that is silent for want of data is no clean bill of health.

How it decides
    Every rule names the columns it needs. Kernels that lack one are skipped and counted here, grouped by the collection
    tier that would supply them.

What to do
    Collect the tier named, or annotate the launches where a shape is needed.

When it is wrong
    Never; ignore the code where the gap is known and accepted.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ncuroof.rules._findings import none, report_findings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from ncuroof.model import Skip
    from ncuroof.rules import Limit, Rule

CODE = "D007"
NAME = "not-judged"
SEVERITY = "note"
NEEDS: tuple[str, ...] = ()
TIER = "none"
LIMITS: dict[str, Limit] = {}


def check(_kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """Nothing by itself: :func:`summarize` speaks when all rules have run."""
    return none()


def summarize(skips: Sequence[Skip], rules: Sequence[Rule]) -> pl.DataFrame:
    """One note that names, for each collection tier, the rules it would have let judge more kernels."""
    tiers: dict[str, list[Skip]] = defaultdict(list)
    by_code = {r.CODE: r for r in rules}
    for skip in skips:
        tiers[by_code[skip.code].TIER].append(skip)
    if not tiers:
        return none()
    advice = "; ".join(f"the {tier} tier brings what {_codes(group)} need" for tier, group in tiers.items())
    evidence = [
        {
            "metric": f"{s.code} skipped",
            "value": float(s.count),
            "unit": "kernels",
            "limit": None,
            "source": f"lacks {', '.join(s.missing)}",
        }
        for group in tiers.values()
        for s in group
    ]
    return report_findings(
        [
            {
                "message": _message(skips),
                "advice": f"Collect more (`ncuroof collect --tier ...`): {advice}.",
                "confidence": "high",
                "evidence": evidence,
            }
        ]
    )


def _message(skips: Sequence[Skip]) -> str:
    rules = f"{len(skips)} rules" if len(skips) > 1 else "1 rule"
    most = max(s.count for s in skips)
    kernels = f"up to {most} kernels" if most > 1 else "1 kernel"
    return f"{rules} could not judge {kernels} for want of counters: {_codes(skips)}"


def _codes(skips: Sequence[Skip]) -> str:
    return ", ".join(sorted(s.code for s in skips))
