"""``ncuroof rule``: explain one rule, or list all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ncuroof.rules import Rule

NAME = "rule"
ORDER = 70


def command(
    code: Annotated[str | None, typer.Argument(help="Code or name of a rule, such as R001.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List all rules.")] = False,
    output_format: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
) -> int:
    """Explain a rule: what it finds, how it decides, what to do, when it is wrong."""
    from ncuroof import rules
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
        typer.echo(rules.manual(chosen[0]), nl=False)
    else:
        for r in chosen:
            typer.echo(f"{r.CODE}  {r.NAME:<24} {r.SEVERITY:<8} {rules.summary(r)}")
    return EXIT_OK


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
