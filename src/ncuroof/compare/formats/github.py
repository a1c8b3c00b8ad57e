"""A comparison as workflow commands, which GitHub Actions shows as annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.compare import NOT_COMPARABLE, REGRESSED
from ncuroof.compare.differences import NEW
from ncuroof.compare.formats import _lines as lines
from ncuroof.reporters import _figures as fig
from ncuroof.reporters._names import cut, shorten, visible
from ncuroof.reporters.github import KINDS, PER_KIND, escape_data, escape_property

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.compare import Comparison
    from ncuroof.reporters import RenderOptions

NAME = "github"


def render(comparison: Comparison, options: RenderOptions) -> str:
    """At most ten annotations of a kind, most time first: regressions are errors; the last line is the summary."""
    limit = min(options.limit, PER_KIND) if options.limit else PER_KIND
    used: dict[str, int] = {}
    left: dict[str, int] = {}
    out = []
    for kind, title, text in _annotations(comparison):
        if used.get(kind, 0) >= limit:
            left[kind] = left.get(kind, 0) + 1
            continue
        used[kind] = used.get(kind, 0) + 1
        out.append(f"::{kind} title={escape_property(visible(title))}::{escape_data(cut(text, 1000))}")
    rest = ", ".join(fig.count(number, kind) for kind, number in left.items())
    out.append(
        visible(f"ncuroof: {lines.summary(comparison)}") + (f"; not shown as annotations: {rest}" if rest else "")
    )
    return "\n".join(out) + "\n"


def _annotations(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    for row in comparison.in_state(REGRESSED).iter_rows(named=True):
        name = shorten(str(row["head_name"]), 80)
        text = "; ".join([f"{lines.times(row)} ({lines.change(row)})", *lines.facts(row), lines.resolution(row)])
        yield "error", f"{lines.change(row)} time: {name}", text
    for row in lines.shown_findings(comparison, NEW, notes=False):
        kernel = f": {shorten(str(row['kernel']), 80)}" if row["kernel"] else ""
        kind = KINDS.get(str(row["severity"]), "notice")
        yield kind, f"new {row['code']} {row['name']}{kernel}", str(row["message"] or row["name"])
    for reason, pairs, time in lines.reasons(comparison):
        yield "warning", f"{fig.count(pairs, 'kernel')} {NOT_COMPARABLE}", f"{fig.si(time, 's')} GPU time: {reason}"
