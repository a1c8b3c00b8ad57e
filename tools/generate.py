"""Writes the generated files, ``schemas/*.json`` and ``docs/rules.md``: ``python tools/generate.py [--check]``.

``--check`` writes nothing and fails if a committed file is not what would be written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ncuroof import rules, store, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
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
    made[ROOT / "docs" / "rules.md"] = rule_pages()
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


def rule_pages() -> str:
    """All rules' manual pages, from their docstrings."""
    parts = ["# Rules", "", "Generated from the rules themselves; `ncuroof rule CODE` prints the same.", ""]
    parts += [f"- [{r.CODE} {r.NAME}](#{r.CODE.lower()}-{r.NAME}): {rules.summary(r)}" for r in rules.rules()]
    for r in rules.rules():
        parts += ["", f"## {r.CODE} {r.NAME}", "", "```text", rules.manual(r).rstrip(), "```"]
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write, or with ``--check`` compare."""
    check = "--check" in sys.argv[1:]
    stale = []
    for path, content in files().items():
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                stale.append(path.relative_to(ROOT))
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
    for path in stale:
        print(f"stale: {path}; run python tools/generate.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
