"""Options that several commands take: one spelling and one help text each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Roof = Annotated[str | None, typer.Option(help="Only roofs from: report, measured, device or datasheet.")]
Roofs = Annotated[Path | None, typer.Option(help="Your own roofs (TOML), preferred over all others.")]
Annotations = Annotated[Path | None, typer.Option(help="JSON-lines file with workload annotations.")]
Gpu = Annotated[str | None, typer.Option(help="The GPU, for exports that do not name it (H100-PCIe, rtx 4080 ...).")]
NumberFormat = Annotated[
    str | None, typer.Option(help="How numbers are written in text inputs, such as '1,234.5' or '1.234,5'.")
]
Reader = Annotated[str | None, typer.Option(help="Use this reader, whatever the content looks like.")]
ConfigFile = Annotated[Path | None, typer.Option(help="Configuration file, instead of the nearest one.")]
Color = Annotated[str, typer.Option(help="auto, always or never.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes on stderr.")]
