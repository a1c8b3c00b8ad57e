"""``ncuroof rule``: explain one rule, or list all."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ncuroof.rules import Rule

_ITEM = re.compile(r"\([a-z]\) |[a-z_0-9]+ = ")
"""How an item within a paragraph begins: ``(a) `` of an enumeration, ``name = `` of a threshold."""

NAME = "rule"
ORDER = 70


def command(
    code: Annotated[str | None, typer.Argument(help="Code or name of a rule, such as R001.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List all rules.")] = False,
    output_format: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
) -> int:
    """Explain a rule: what it finds, how it decides, what to do, when it is wrong."""
    from ncuroof import rules
    from ncuroof.cli import _analysis
    from ncuroof.errors import EXIT_OK, UsageError

    if output_format not in {"text", "json"}:
        msg = f"--format {output_format}: choose text or json"
        raise UsageError(msg)
    if every == (code is not None):
        msg = "name one rule, or --all"
        raise UsageError(msg)
    chosen = rules.rules() if code is None else (rules.rule(code),)
    if output_format == "json":
        listed = [_record(r) for r in chosen]
        typer.echo(json.dumps(listed if code is None else listed[0], indent=2, ensure_ascii=False))
    elif code is not None:
        typer.echo(reflow(rules.manual(chosen[0]), _analysis.width()), nl=False)
    else:
        for r in chosen:
            line = f"{r.CODE}  {r.NAME:<22} {r.SEVERITY:<8} {rules.summary(r).rstrip('.')}"
            typer.echo("\n".join(textwrap.wrap(line, _analysis.width(), subsequent_indent=" " * 38)))
    return EXIT_OK


def reflow(text: str, width: int) -> str:
    """A manual page within ``width`` columns: paragraphs are filled, items such as ``(a)`` keep apart."""
    out: list[str] = []
    paragraph: list[str] = []
    indent = ""
    depth = 0

    def flush() -> None:
        if paragraph:
            joined = " ".join(paragraph)
            hang = indent + " " * 4 if _ITEM.match(paragraph[0]) else indent
            out.extend(
                textwrap.wrap(joined, width, initial_indent=indent, subsequent_indent=hang, break_on_hyphens=False)
            )
            paragraph.clear()

    for line in text.splitlines():
        content = line.strip()
        before, depth = depth, len(line) - len(line.lstrip())
        here = " " * min(depth, 4)
        if not content or _ITEM.match(content) or here != indent or depth < before or _ends_item(paragraph, depth):
            flush()
        if not content:
            out.append("")
            continue
        indent = here
        paragraph.append(content)
        if not indent:
            flush()
    flush()
    return "\n".join(out) + "\n"


def _ends_item(paragraph: list[str], depth: int) -> bool:
    """Whether a line at ``depth`` follows an item without continuing it: continued lines stand deeper."""
    return bool(paragraph) and _ITEM.match(paragraph[0]) is not None and depth <= 4


def _record(r: Rule) -> dict[str, object]:
    from ncuroof import rules

    return {
        "code": r.CODE,
        "name": r.NAME,
        "family": rules.FAMILIES[r.CODE[0]],
        "severity": r.SEVERITY,
        "summary": rules.summary(r),
        "needs": [n if isinstance(n, str) else list(n) for n in r.NEEDS],
        "tier": r.TIER,
        "thresholds": {
            name: {"value": x.value, "unit": x.unit, "reason": x.reason, "source": x.source}
            for name, x in r.LIMITS.items()
        },
        "manual": rules.manual(r),
    }
