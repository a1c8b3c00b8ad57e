"""Writes ``schemas/*.json``, ``docs/rules.md`` and ``docs/rules/*.md``: ``python tools/generate.py [--check]``.

``--check`` writes nothing and fails if a committed file is not what would be written.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from ncuroof import nsight, rules, store, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
RULE_PAGES = "rules"
TABLES: dict[str, Sequence[tables.Column]] = {
    "kernels": store.stored_columns(),
    "metrics": tables.METRICS,
    "nsight_rules": tables.NSIGHT_RULES,
    "placement": tables.PLACEMENT,
    "anomalies": tables.ANOMALIES,
}


def files() -> dict[Path, str]:
    """Every generated file with its content."""
    made = {ROOT / "schemas" / f"{name}.json": schema(name, columns) for name, columns in TABLES.items()}
    made[ROOT / "docs" / "rules.md"] = rule_index()
    made |= {ROOT / "docs" / RULE_PAGES / page_name(r): rule_page(r) for r in rules.rules()}
    return made


def schema(table: str, columns: Sequence[tables.Column]) -> str:
    """A table's columns as JSON, with their Arrow types."""
    arrow = store.arrow_schema(columns)
    document = {
        "table": table,
        "schema_version": tables.SCHEMA_VERSION,
        "columns": [
            {"name": c.name, "type": str(arrow.field(c.name).type), "unit": c.unit, "meaning": c.meaning}
            for c in columns
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def rule_index() -> str:
    """All rules in one table a family, each with a link to its page."""
    parts = [
        "# Rules",
        "",
        "Generated from the rules themselves; `ncuroof rule CODE` prints the same, and",
        "`ncuroof rule --all --format json` lists them. *Tier* is what `ncuroof collect` has to be asked for;",
        "a severity may differ from finding to finding.",
    ]
    for letter, family in rules.FAMILIES.items():
        rows = [index_row(r) for r in rules.rules() if r.CODE.startswith(letter)]
        if rows:
            head = ["| rule | finds | severity | tier |", "| --- | --- | --- | --- |"]
            parts += ["", f"## {letter}: {family}", "", *head, *rows]
    return "\n".join(parts) + "\n"


def index_row(of: rules.Rule) -> str:
    """A rule in the table of its family."""
    link = f"[{of.CODE} {of.NAME}]({RULE_PAGES}/{page_name(of)})"
    return f"| {link} | {cell(rules.summary(of).rstrip('.'))} | {of.SEVERITY} | {cell(of.TIER)} |"


def rule_page(of: rules.Rule) -> str:
    """A rule's manual page: the sections of its docstring, its thresholds, and what it needs."""
    summary = rules.summary(of).rstrip(".")
    parts = [f"# {of.CODE} {of.NAME}", "", markdown(f"{summary[:1].upper()}{summary[1:]}.")]
    for title, body in sections(of.__doc__ or ""):
        parts += ["", f"## {title}", "", markdown(body)]
    parts += ["", "## Thresholds", "", *thresholds(of)]
    needs = [f"`{n}`" if isinstance(n, str) else " or ".join(f"`{c}`" for c in n) for n in of.NEEDS]
    theirs = sorted({v.rule for v in nsight.voices()[0] if of.CODE in v.ours})
    parts += [
        "",
        "## Facts",
        "",
        f"- Family: {rules.FAMILIES[of.CODE[0]]}",
        f"- Severity: {of.SEVERITY}",
        f"- Tier of `ncuroof collect`: {of.TIER}",
        f"- Needs: {', '.join(needs) or 'nothing in particular'}",
        f"- Nsight Compute rules that speak of the same: {', '.join(f'`{t}`' for t in theirs) or 'none'}",
    ]
    return "\n".join(parts) + "\n"


def thresholds(of: rules.Rule) -> list[str]:
    """A rule's thresholds as a table, with how to set them."""
    if not of.LIMITS:
        return ["None."]
    lines = ["| name | default | why | source |", "| --- | --: | --- | --- |"]
    for name, limit in of.LIMITS.items():
        value = f"{limit.value:g}" if limit.unit == "1" else f"{limit.value:g} {cell(limit.unit)}"
        lines.append(f"| `{name}` | {value} | {cell(limit.reason)} | {cell(limit.source)} |")
    first = next(iter(of.LIMITS))
    lines += ["", "Set them in ncuroof.toml, or in pyproject.toml under `[tool.ncuroof.thresholds]`:", ""]
    return [*lines, "```toml", "[thresholds]", f"{of.CODE} = {{ {first} = {of.LIMITS[first].value:g} }}", "```"]


def page_name(of: rules.Rule) -> str:
    """File name of a rule's page."""
    return f"{of.CODE.lower()}-{of.NAME}.md"


def sections(docstring: str) -> list[tuple[str, str]]:
    """The sections of a manual page: a title is a line at the margin, its text is indented below."""
    found: list[tuple[str, str]] = []
    for block in re.split(r"\n(?=\S)", inspect.cleandoc(docstring))[1:]:
        title, _, body = block.partition("\n")
        found.append((title.strip(), textwrap.dedent(body).strip()))
    return found


def markdown(text: str) -> str:
    """Plain text as Markdown that shows the same; what stands between backticks is code already."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*<>|])", r"\\\1", p) for p in parts)


def cell(text: str) -> str:
    """Markdown for a table cell, on one line."""
    return markdown(" ".join(text.split()))


def main() -> int:
    """Write, or with ``--check`` compare."""
    check = "--check" in sys.argv[1:]
    made = files()
    stale = [p for p in (ROOT / "docs" / RULE_PAGES).glob("*.md") if p not in made]
    if not check:
        for path in stale:
            path.unlink()
        stale = []
    for path, content in made.items():
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                stale.append(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
    for path in stale:
        print(f"stale: {path.relative_to(ROOT)}; run python tools/generate.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
