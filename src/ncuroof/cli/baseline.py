"""``ncuroof baseline``: keep a profile under a name, to compare later ones with."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncuroof.cli._options import Quiet

if TYPE_CHECKING:
    from ncuroof.baseline import Baseline

NAME = "baseline"
ORDER = 45


class Action(StrEnum):
    """What to do."""

    SAVE = "save"
    LIST = "list"
    SHOW = "show"


def command(
    action: Annotated[Action, typer.Argument(help="save NAME FILES…, list, or show NAME.")],
    name: Annotated[str | None, typer.Argument(help="What the baseline is called.")] = None,
    files: Annotated[list[str] | None, typer.Argument(help="Reports, CSV, logs, tables, folders or globs.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Where baselines are (default .ncuroof/baselines).")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="save: write anew what has this name.")] = False,
    annotations: Annotated[Path | None, typer.Option(help="save: JSON-lines file with workload annotations.")] = None,
    output_format: Annotated[str, typer.Option("--format", "-f", help="list, show: text or json.")] = "text",
    quiet: Quiet = False,
) -> int:
    """Save profiles as a named baseline, list the baselines, or show one.

    A baseline is a folder of Parquet tables. `ncuroof compare NAME HEAD` and `ncuroof analyze FILES --baseline NAME`
    take it by its name.
    """
    from ncuroof import baseline
    from ncuroof.errors import EXIT_OK, UsageError

    if output_format not in {"text", "json"}:
        msg = f"--format {output_format}: choose text or json"
        raise UsageError(msg)
    home = folder or baseline.HOME
    if action is Action.SAVE:
        if name is None or not files:
            msg = "baseline save needs a name and reports: `ncuroof baseline save main reports/`"
            raise UsageError(msg)
        _save(name, files, home, annotations, replace=replace, quiet=quiet)
        return EXIT_OK
    if files or (name is not None) != (action is Action.SHOW):
        msg = "baseline list takes no name, and baseline show exactly one"
        raise UsageError(msg)
    if action is Action.LIST:
        _list(baseline.stored(home), output_format)
    else:
        _show(baseline.find(str(name), home), output_format)
    return EXIT_OK


def _save(name: str, files: list[str], home: Path, annotations: Path | None, *, replace: bool, quiet: bool) -> None:
    from ncuroof import baseline, pipeline
    from ncuroof.cli import _analysis, printable

    dataset = pipeline.load(files, pipeline.LoadOptions(annotations=annotations))
    path = baseline.save(dataset, name, home, replace=replace)
    if not quiet:
        _analysis.tell(dataset.notes)
        kernels = dataset.kernels.height
        what = f"{kernels} kernel{'s' * (kernels != 1)} saved as baseline {name} ({path})"
        typer.echo(printable(what), err=True)


def _list(found: list[Baseline], output_format: str) -> None:
    if output_format == "json":
        typer.echo(json.dumps([_facts(b) for b in found], indent=2, ensure_ascii=True))
        return
    if not found:
        typer.echo("no baseline is stored here; `ncuroof baseline save NAME FILES…` makes one", err=True)
        return
    from ncuroof.cli import printable
    from ncuroof.quantity_text import si

    records = [_facts(b) for b in found]
    width = max(len(r["name"]) for r in records)
    for r in records:
        gpus = ", ".join(r["gpus"]) or "unknown GPU"
        time = si(r["gpu_time_s"], "s")
        typer.echo(printable(f"{r['name']:<{width}}  {r['saved'][:16]}  {r['kernels']:>5} kernels  {time:>8}  {gpus}"))


def _show(of: Baseline, output_format: str) -> None:
    from ncuroof.cli import printable

    facts = _facts(of)
    if output_format == "json":
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=True))
        return
    from ncuroof.quantity_text import si

    lines = [
        f"{facts['name']}: {facts['kernels']} kernels, {si(facts['gpu_time_s'], 's')} GPU time, saved {facts['saved']}",
        f"  GPU      {', '.join(facts['gpus']) or 'unknown'}",
        f"  ncu      {', '.join(facts['ncu_versions']) or 'unknown'}",
        f"  clocks   {', '.join(facts['clock_controls']) or 'unknown'}",
        f"  caches   {', '.join(facts['cache_controls']) or 'unknown'}",
        *(f"  report   {s['name']} ({s['format']}, sha256 {s['sha256'][:12]})" for s in facts["sources"]),
        *(f"  kernel   {si(k['gpu_time_s'], 's'):>8}  ×{k['launches']}  {k['name'][:100]}" for k in facts["top"]),
    ]
    for line in lines:
        typer.echo(printable(line.replace("\n", " ")))


def _facts(of: Baseline) -> dict[str, Any]:
    """What a baseline holds, without what could tell a user or a host."""
    import polars as pl

    from ncuroof import store

    kernels, _, sources, _ = store.read(of.path, of.name)

    def values(column: str) -> list[str]:
        return kernels[column].drop_nulls().unique().sort().to_list()

    top = (
        kernels.group_by(name=pl.coalesce("kernel_name", pl.lit("unnamed")), maintain_order=True)
        .agg(launches=pl.len(), gpu_time_s=pl.col("duration_s").sum())
        .sort("gpu_time_s", descending=True, maintain_order=True)
        .head(10)
    )
    known = kernels["duration_s"].drop_nulls()
    return {
        "name": of.name,
        "saved": of.saved.isoformat(),
        "size": of.size,
        "kernels": kernels.height,
        "gpu_time_s": float(known.sum()) if known.len() else None,
        "gpus": values("gpu_name"),
        "ncu_versions": values("ncu_version"),
        "clock_controls": values("clock_control"),
        "cache_controls": values("cache_control"),
        "sources": [{"name": s.name, "sha256": s.sha256, "format": s.format} for s in sources],
        "top": top.to_dicts(),
    }
