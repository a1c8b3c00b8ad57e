"""Every finding with all it rests on, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._findings import LONGEST_NAME
from ncuroof.reporters._groups import FindingGroup, finding_groups, full_name, kernel_groups, label, launch_shape
from ncuroof.reporters._lines import NARROWEST, SEVERITY_COLOR, columns, paint, wrap
from ncuroof.reporters._names import cut, visible
from ncuroof.reporters.text import summary

if TYPE_CHECKING:
    import polars as pl

    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "full"
DESCRIPTION = "Every finding with its evidence, limits and their sources, advice and confidence."
SUFFIX = ".txt"


def render(analysis: Analysis, options: RenderOptions) -> str:
    """One block per finding; identical launches share one, as in ``text``. The summary line comes last."""
    groups = kernel_groups(analysis)
    found = finding_groups(analysis, groups)
    cap = options.cap(0)
    shown = found[:cap] if cap else found
    width = max(options.width, NARROWEST)
    blocks = [_block(f, groups, options, width) for f in shown]
    if len(shown) < len(found):
        blocks.append([f"… and {fig.count(len(found) - len(shown), 'more finding')} (--limit 0 shows all)"])
    blocks.append(wrap(summary(analysis, verbose=options.verbose), width))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _block(f: FindingGroup, groups: pl.DataFrame, options: RenderOptions, width: int) -> list[str]:
    row = f.row
    severity = str(row["severity"])
    head = paint(f"{cut(str(row['code']), 8)} {cut(str(row['name']), 36)}", "bold", on=options.color)
    lines = [f"{head}  {paint(severity, SEVERITY_COLOR.get(severity, 'dim'), on=options.color)}"]
    facts: list[tuple[str, str]] = []
    if f.group is not None:
        group = groups.row(f.group, named=True)
        facts.append(("kernel", cut(full_name(group), LONGEST_NAME)))
        facts.append(("launch", ", ".join(part for part in (visible(label(group)), launch_shape(group)) if part)))
    elif row["kernel"]:
        facts.append(("kernel", cut(str(row["kernel"]), LONGEST_NAME)))
    if row["source"]:
        index = f", result {row['result_index']}" if row["result_index"] is not None else ""
        more = f" and {f.launches - 1} identical ones" if f.launches > 1 else ""
        facts.append(("in", cut(str(row["source"]), 200) + index + more))
    facts.append(("found", visible(str(row["message"] or ""))))
    facts.append(("at stake", fig.si(f.stake_s, "s") if f.stake_s is not None else ""))
    facts.append(("advice", visible(str(row["advice"] or ""))))
    voice = {"nsight": "Nsight Compute's own rule", "both": "ncuroof, and Nsight Compute's own rule"}.get(
        str(row["voice"]), "ncuroof"
    )
    facts.append(("said by", f"{voice}, {visible(str(row['confidence']))} confidence" if row["confidence"] else voice))
    for name, value in facts:
        if value:
            lines += wrap(value, width, " " * 12, f"  {name:<10}")
    return lines + _evidence(f, width)


def _evidence(f: FindingGroup, width: int) -> list[str]:
    evidence = f.row["evidence"]
    if not evidence:
        return []
    cells = [["evidence", "value", "limit"]]
    for item in evidence:
        limit = fig.quantity(item["limit"], item["unit"]) if item["limit"] is not None else ""
        cells.append([cut(str(item["metric"]), 30), cut(fig.quantity(item["value"], item["unit"]), 12), cut(limit, 12)])
    lines = columns(cells, [False, True, True])
    start = max(len(line) for line in lines) + 2
    sources = ["from", *(visible(str(item["source"] or "")) for item in evidence)]
    out: list[str] = []
    for line, source in zip(lines, sources, strict=True):
        first = f"  {line:<{start}}"
        if len(first) + len(source) <= width or len(first) + 20 <= width:
            out += wrap(source, width, " " * len(first), first) or [first.rstrip()]
        else:
            out += [first.rstrip(), *wrap(source, width, " " * 6)]
    return out
