"""Reads binary reports through NVIDIA's Python package: an optional second backend, ``--reader ncu-report``.

The package is proprietary and never installed with ncuroof; only its documented interface is used (NVIDIA Nsight
Compute, "Python Report Interface"). It reports no damage, so the container is walked by ncuroof first, which also
gives the facts about the session; names, metrics, units, NVTX ranges and rule results come from the package.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.errors import DamagedError, MissingBackendError, NothingMeasuredError
from ncuroof.inputs import ZSTD_MAGIC
from ncuroof.model import Chunk, RawReport, Source
from ncuroof.ncurep import container, opcodes, session
from ncuroof.ncurep.nsight_rules import plain_text
from ncuroof.ncurep.nvtx import DEFAULT_DOMAIN
from ncuroof.readers import ncu_rep
from ncuroof.readers._units import base_unit
from ncuroof.tables import LAUNCHES, METRICS, NSIGHT_RULES, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.inputs import InputFile

NAME = "ncu-report"
DESCRIPTION = "Nsight Compute report through NVIDIA's own package (only with --reader ncu-report)"
RANK = 20

CHUNK_RESULTS = 256
# Message types and speed-up types as the package numbers them; in the file warnings and optimizations are numbered
# otherwise.
_MESSAGE_TYPES = {0: "none", 1: "ok", 2: "optimization", 3: "warning", 4: "error"}
_SPEEDUP_TYPES = {1: "local", 2: "global"}
_KINDS = ("KERNEL", "RANGE", "CMDLIST", "GRAPH")
_SIZES = {f"{size}_{axis}": f"launch__{size}_dim_{axis}" for size in ("grid", "block") for axis in "xyz"}
_INTEGERS = {
    **_SIZES,
    "process_id": "launch__process_id",
    "context_id": "launch__context_id",
    "stream_id": "launch__stream_id",
    "device_index": "device__attribute_device_index",
    "cc_major": "device__attribute_compute_capability_major",
    "cc_minor": "device__attribute_compute_capability_minor",
}


def recognises(head: bytes, name: str) -> str | None:
    """Never: this reader is used where it is asked for by name."""
    return None


def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
    """Read a report; see :mod:`ncuroof.readers`.

    Raises:
        MissingBackendError: when the package is not installed.
        DamagedError: for a broken or cut file.
        NothingMeasuredError: for a report without results.
    """
    package = _package()
    if file.data[:4] != container.MAGIC:
        raise DamagedError(file.name, "no Nsight Compute report", container.REMEDY)
    layout = container.walk(file.data, file.name)
    facts = session.merge(layout)
    source = Source(file.name, file.sha256, file.size, NAME, recognised)
    known, notes = ncu_rep.facts_of(file, layout, facts)
    return RawReport(source, known, notes, _chunks(file, package, facts, want))


def _package() -> Any:  # noqa: ANN401  the package has no types
    try:
        return importlib.import_module("ncu_report")
    except ImportError as error:
        msg = (
            f"--reader ncu-report needs NVIDIA's package, which cannot be imported ({error}). Read its licence, then "
            "install it with: pip install ncu-report; or leave the option out: ncuroof reads reports without it."
        )
        raise MissingBackendError(msg) from error


def _chunks(file: InputFile, package: Any, facts: session.Facts, want: frozenset[str] | None) -> Iterator[Chunk]:  # noqa: ANN401
    with tempfile.TemporaryDirectory() as folder:
        context = package.load_report(str(_on_disk(file, Path(folder))))
        actions = (
            context.range_by_idx(r).action_by_idx(a)
            for r in range(context.num_ranges())
            for a in range(context.range_by_idx(r).num_actions())
        )
        rows: tuple[list[Any], ...] = ([], [], [], [])
        index = -1
        for index, action in enumerate(actions):
            who = {"source_sha256": file.sha256, "result_index": index}
            metrics = _metrics(action)
            rows[0].append({**who, "source": file.name, **_launch(package, action, metrics, facts)})
            rows[1].extend({**who, **row} for row in metrics.values() if want is None or row["metric"] in want)
            rows[2].extend({**who, **row} for row in _rules(action))
            rows[3].extend({**who, **row} for row in _opcodes(action, want))
            if len(rows[0]) >= CHUNK_RESULTS:
                yield _chunk(*rows)
                rows = ([], [], [], [])
        if rows[0]:
            yield _chunk(*rows)
        if index < 0:
            raise NothingMeasuredError(
                file.name, "a Nsight Compute report without any result", ncu_rep.NO_RESULT_REMEDY
            )


def _on_disk(file: InputFile, folder: Path) -> Path:
    """A file that the package reads: it tells compressed reports by their name alone, and reads no standard input."""
    if file.path is not None:
        with file.path.open("rb") as stream:
            compressed = stream.read(4) == ZSTD_MAGIC
        if compressed == (file.path.suffix == ".ncu-repz"):
            return file.path
    path = folder / "report.ncu-rep"
    path.write_bytes(file.data)
    return path


def _chunk(launches: list[Any], metrics: list[Any], rules: list[Any], executed: list[Any]) -> Chunk:
    return Chunk(
        _frame(launches, schema(LAUNCHES)),
        _frame(metrics, schema(METRICS)),
        _frame(rules, schema(NSIGHT_RULES)),
        _frame(executed, pl.Schema(opcodes.SCHEMA)),
    )


def _frame(rows: list[Any], columns: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def _metrics(action: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401
    """The rows of an action's metrics, by name."""
    rows: dict[str, dict[str, Any]] = {}
    for name in action.metric_names():
        metric = action.metric_by_name(name)
        row: dict[str, Any] = {"metric": name, "value": None, "value_int": None, "text": None}
        value = metric.value() if metric.has_value() else None
        if isinstance(value, str):
            row["text"] = value
        elif isinstance(value, int):
            row["value"], row["value_int"] = float(value), value
        elif value is not None:
            row["value"] = value
        row["unit"] = base_unit(metric.unit())[0]  # the package gives base units, in its own spelling
        rows[name] = row
    return rows


def _opcodes(action: Any, want: frozenset[str] | None) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Executed instructions per opcode: instances whose correlation ids are the opcodes."""
    for name in opcodes.METRICS:
        metric = action.metric_by_name(name) if want is None or name in want else None
        if metric is None or not metric.num_instances() or not metric.has_correlation_ids():
            continue
        ids = metric.correlation_ids()
        for number in range(metric.num_instances()):
            yield {"metric": name, "instance": ids.as_string(number), "value": float(metric.as_double(number))}


def _launch(package: Any, action: Any, metrics: dict[str, dict[str, Any]], facts: session.Facts) -> dict[str, Any]:  # noqa: ANN401
    def number(name: str) -> int | None:
        value = metrics.get(name, {}).get("value")
        return int(value) if value is not None and value == value and value >= 0 else None  # noqa: PLR0124  NaN

    base = package.IAction
    row: dict[str, Any] = {column: number(metric) for column, metric in _INTEGERS.items()}
    demangled = action.name(base.NameBase_DEMANGLED) or None
    mangled = action.name(base.NameBase_MANGLED) or None
    ranges, path = _nvtx(action)
    row.update(
        result_kind=_kind(base, action),
        kernel_name=action.name() or demangled or mangled,
        kernel_demangled=demangled,
        kernel_mangled=mangled,
        gpu_name=metrics.get("device__attribute_display_name", {}).get("text"),
        nvtx=ranges,
        nvtx_path=path,
        ncu_version=facts.ncu_version,
        cuda_version=facts.cuda_version,
        driver_version=facts.driver_version,
        origin=facts.origin,
    )
    for setting, (value, source) in facts.settings.items():
        row[setting], row[f"{setting}_source"] = value, source
    return row


def _kind(base: Any, action: Any) -> str:  # noqa: ANN401
    """Kind of result; packages before 2024 know kernels only."""
    if not hasattr(action, "workload_type"):
        return "kernel"
    kind = action.workload_type()
    return next((k.lower() for k in _KINDS if getattr(base, f"WorkloadType_{k}", None) == kind), "kernel")


def _nvtx(action: Any) -> tuple[list[dict[str, Any]] | None, str | None]:  # noqa: ANN401
    """The NVTX ranges of an action, without thread, which the package does not tell; None where no state was stored."""
    state = action.nvtx_state()
    if state is None:
        return None, None
    ranges: list[dict[str, Any]] = []
    path = None
    for number in state.domains():
        domain = state.domain_by_id(number)
        name = domain.name()
        own = [*domain.start_end_ranges(), *domain.push_pop_ranges()]
        ranges += [{"domain": name, "name": one} for one in own]
        if own:
            path = ("" if name == DEFAULT_DOMAIN else f"{name}:") + "/".join(own)
    return ranges, path


def _rules(action: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Rows of the rule messages; the package leaves out rules that had nothing to say."""
    if not hasattr(action, "rule_results_as_dicts"):
        return
    items: dict[str, int] = {}
    for rule in action.rule_results_as_dicts():
        identifier = rule.get("rule_identifier")
        said = rule.get("rule_message") or {}
        speedup = rule.get("speedup_estimation") or {}
        kind = _SPEEDUP_TYPES.get(_number(speedup.get("type")))
        yield {
            "rule_id": identifier,
            "rule_name": rule.get("name"),
            "section_id": rule.get("section_identifier"),
            "item": items.get(identifier, 0),
            "message_type": _MESSAGE_TYPES.get(_number(said.get("type"))),
            "title": plain_text(said.get("title") or "") or None,
            "text": plain_text(said.get("message") or "") or None,
            "speedup_type": kind,
            "speedup_pct": speedup.get("speedup") if kind else None,
            "focus": [
                {
                    "metric": f.get("name"),
                    "value": f.get("value"),
                    "severity": _number(f.get("severity")),
                    "info": f.get("info"),
                }
                for f in rule.get("focus_metrics") or []
            ],
        }
        items[identifier] = items.get(identifier, 0) + 1


def _number(value: Any) -> int:  # noqa: ANN401
    """An enumerator as its number, whether the package gives an ``enum`` or an integer; -1 where it gives neither."""
    value = getattr(value, "value", value)
    return value if isinstance(value, int) else -1
