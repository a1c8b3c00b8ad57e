"""``ncuroof doctor``: what is installed, what is allowed, what would work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NAME = "doctor"
ORDER = 90

MARKS = {"ok": "ok", "missing": "--", "bad": "!!", "unknown": "??"}


def command(
    output_format: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
) -> int:
    """Say what is installed and allowed here, and which commands would work.

    Exit status: 0 if reports can be read and analysed, 2 if something ncuroof itself needs is broken.
    """
    import json
    import os
    import textwrap
    from dataclasses import asdict

    from ncuroof.cli import _analysis, printable
    from ncuroof.collect import doctor
    from ncuroof.errors import EXIT_ERROR, EXIT_OK, UsageError

    if output_format not in ("text", "json"):
        msg = f"--format {output_format}: choose text or json"
        raise UsageError(msg)
    checks, abilities = doctor.examine(os.environ, root=Path("/"))
    if output_format == "json":
        document = {"checks": [asdict(c) for c in checks], "abilities": [asdict(a) for a in abilities]}
        typer.echo(json.dumps(document, indent=1))
    else:
        width = max(len(check.topic) for check in checks)
        columns = _analysis.width()
        for check in checks:
            remedy = f"\n{check.remedy}" if check.remedy and check.state != "ok" else ""
            lines = [
                line
                for part in (check.detail + remedy).split("\n")
                for line in textwrap.wrap(part, max(30, columns - width - 6)) or [""]
            ]
            typer.echo(printable(f"{MARKS[check.state]}  {check.topic:<{width}}  {lines[0]}"))
            for line in lines[1:]:
                typer.echo(printable(f"{'':<{width + 6}}{line}"))
        typer.echo("\nWould work here:")
        for ability in abilities:
            why = f" ({ability.why})" if ability.why else ""
            line = f"  {'yes' if ability.works else 'no ':<4} {ability.what}{why}"
            typer.echo(printable("\n".join(textwrap.wrap(line, columns, subsequent_indent=" " * 7))))
    return EXIT_ERROR if any(check.needed and check.state != "ok" for check in checks) else EXIT_OK
