"""Expands ``tensor.toml`` into quantities: work, dense peak and sparse work of every tensor path."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ncuroof.errors import RegistryError
from ncuroof.metrics.catalogue import Quantity, parse_quantity
from ncuroof.paths import BY_NAME, INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "sm__ops_path_tensor_"
OPCODES = "sass__inst_executed_per_opcode_with_modifier_all"
INTEGER_PATHS = tuple(path.name for path in INTEGER)
HALVED = "report (sparse÷2)"
"""Source label of a dense peak worked out as half of an aggregate's, which is sparse."""
CITE = "unit of the counter: one multiply-add is 2 operations; a 4096³ product on a T4 reads 2·4096³"


@dataclass(frozen=True)
class TensorType:
    """One combination of source and accumulator type; see ``tensor.toml``."""

    name: str
    path: str
    parts: tuple[str, ...]
    accumulator: str = ""
    covers: tuple[str, ...] = ()
    required_part: str = ""
    has_sparse: bool = True

    @property
    def work(self) -> str:
        """Name of the intermediate that holds the operations of this type."""
        return f"_ops_{self.name}"

    @property
    def peak(self) -> str:
        """Name of the intermediate that holds the dense peak where the opcode is unknown."""
        return f"_peak_{self.name}"


def part_work(part: str) -> str:
    """Name of the intermediate that holds the operations of one opcode family."""
    return f"_ops_{part}"


def part_peak(part: str) -> str:
    """Name of the intermediate that holds the dense peak of one opcode family."""
    return f"_peak_{part}"


def family(part: str) -> str:
    """The opcode family in a part's name: ``hmma`` of ``op_hmma_src_…``."""
    return part.split("_")[1]


@cache
def table() -> dict[str, Any]:
    """``tensor.toml`` as it stands."""
    text = (resources.files(__package__) / "tensor.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def types() -> tuple[TensorType, ...]:
    """All rows of the table.

    Raises:
        RegistryError: when a row is malformed.
    """
    try:
        rows: list[dict[str, Any]] = table()["type"]
        return tuple(_row(row) for row in rows)
    except (TypeError, KeyError) as error:
        msg = f"metrics: tensor.toml: {error}"
        raise RegistryError(msg) from error


def _row(row: dict[str, Any]) -> TensorType:
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return TensorType(**(row | lists))


def parts() -> dict[str, TensorType]:
    """Every opcode part, with a type it belongs to."""
    return {part: t for t in types() for part in t.parts}


def paths() -> tuple[str, ...]:
    """The tensor paths, in table order."""
    return tuple(dict.fromkeys(t.path for t in types()))


def work_column(path: str) -> str:
    """The column that holds a path's work: ``flop_fp16``, ``op_int8``."""
    return BY_NAME[path].work


def peak_column(path: str) -> str:
    """The column that holds a path's dense peak: ``peak_flop_s_fp16``, ``peak_op_s_int8``."""
    return BY_NAME[path].peak


def _sparsity(base: str) -> list[object]:
    return [f"{PREFIX}{base}_sparsity_off", [f"{PREFIX}{base}_sparsity_on", 1.0, "optional"]]


def _work_of_part(part: str) -> dict[str, Any]:
    return {
        "name": part_work(part),
        "unit": "op",
        "meaning": f"operations of {part}",
        "candidates": [
            {"count": [PREFIX + part]},
            {"count": _sparsity(part)},
            {"add": [f"opcode:{part}"], "source": "sass", "needs": [OPCODES], "cite": "opcodes.py"},
        ],
    }


def _peak(name: str, base: str, *, has_sparse: bool) -> dict[str, Any]:
    """Dense peak behind a counter name. Names without ``_sparsity_off`` give the sparse peak where sparsity exists."""
    off = f"{PREFIX}{base}_sparsity_off.sum.peak_sustained"
    whole = f"{PREFIX}{base}.sum.peak_sustained"
    halved = {"add": [whole], "factor": 0.5, "times": ["@sm_hz"], "source": HALVED, "cc": [["8.0", "99.0"]]}
    plain = {"add": [whole], "times": ["@sm_hz"], "source": "report"}
    candidates: list[dict[str, Any]] = [
        {"add": [off], "times": ["@sm_hz"], "source": "report"},
        {"add": [f"{off}_elapsed.per_second"], "source": "report"},
    ]
    candidates += [halved, {**plain, "cc": [["7.0", "7.5"]]}] if has_sparse else [plain]
    return {
        "name": name,
        "unit": "op/s",
        "meaning": f"dense peak of {base}",
        "positive": True,
        "candidates": candidates,
    }


def _work_of_type(row: TensorType) -> dict[str, Any]:
    candidates: list[dict[str, Any]] = [{"count": [PREFIX + row.name], "cite": CITE}]
    if row.has_sparse:
        candidates.append({"count": _sparsity(row.name), "cite": CITE})
    if row.parts:
        terms = [
            f"@{part_work(p)}" if p == row.required_part else [f"@{part_work(p)}", 1.0, "optional"] for p in row.parts
        ]
        candidates.append({"add": terms, "source": "inherit", "cite": CITE})
    return {"name": row.work, "unit": "op", "meaning": f"operations of {row.name}", "candidates": candidates}


def accumulated(path: str, accumulator: str) -> str:
    """The column that holds the part of a path's work with that accumulator."""
    return f"{work_column(path)}_acc_{accumulator}"


def _accumulators(path: str) -> list[str]:
    kinds = dict.fromkeys(t.accumulator for t in types() if t.path == path and t.accumulator)
    return [f"@{accumulated(path, kind)}" for kind in kinds]


def _sums(rows: list[TensorType]) -> list[dict[str, Any]]:
    """The ways to add up types: an aggregate with the types that it does not cover, or the types without aggregates."""
    apart = [t for t in rows if not t.covers]
    candidates: list[dict[str, Any]] = []
    for whole in (*(t for t in rows if t.covers), None):
        beside = [t for t in apart if whole is None or t.name not in whole.covers]
        terms: list[object] = [[f"@{t.work}", 1.0, "optional"] for t in beside]
        if whole is not None:
            terms.insert(0, f"@{whole.work}")
        if terms:
            candidates.append({"add": terms, "source": "inherit", "cite": CITE})
    return candidates


def _path(path: str) -> Iterator[dict[str, Any]]:
    """Work and peak columns of one path."""
    rows = [t for t in types() if t.path == path]
    integer = path in INTEGER_PATHS
    what = "integer tensor operations" if integer else "executed tensor core work"
    candidates = _sums(rows)
    counters = [f"@{t.work}" for t in types()]
    instructions = "_inst_imma" if integer else "_inst_dmma" if path == "fp64_tensor" else "_inst_hmma"
    for function, operands in (
        ("tensor_from_instructions", [f"@{instructions}"]),
        ("tensor_from_activity", ["@tensor_pct", "@sm_cycles", "@sm_count"]),
    ):
        needs = [*operands, "@path_hint", "@_tensor_gmma_pct", "@_tensor_hmma_pct", *counters]
        row = {"function": function, "args": {"path": path}, "needs": needs, "source": "estimated"}
        candidates.append(row | {"cite": "estimates.py: 0 to 5 % high against counters"})
    yield {
        "name": work_column(path),
        "unit": "op" if integer else "FLOP",
        "meaning": f"{what} of path {path}; 2 per multiply-add",
        "candidates": candidates,
    }
    operands = [
        f"@{name}" for t in rows for name in (t.work, t.peak, *map(part_work, t.parts), *map(part_peak, t.parts))
    ]
    yield {
        "name": peak_column(path),
        "unit": "op/s" if integer else "FLOP/s",
        "meaning": f"dense peak of path {path} for the opcodes and accumulators really used, at the clock of this run",
        "positive": True,
        "candidates": [
            {"function": "tensor_peak", "args": {"path": path, "halved": False}, "needs": operands, "source": "report"},
            {"function": "tensor_peak", "args": {"path": path, "halved": True}, "needs": operands, "source": HALVED},
            {
                "function": "tensor_rate_peak",
                "args": {"path": path},
                "needs": ["@sm_hz", "@sm_count", f"@{work_column(path)}", "@path_hint", *_accumulators(path)],
                "source": "rate×clock",
                "cite": "dense rate of the chip for the instruction used, where the report has no peak of its own",
            },
        ],
    }
    for accumulator in ("fp16", "fp32"):
        typed = [t for t in rows if t.accumulator == accumulator]
        if typed:
            yield {
                "name": accumulated(path, accumulator),
                "unit": "FLOP",
                "meaning": f"part of {work_column(path)} with {accumulator} accumulation; GeForce halves the FP32 rate",
                "candidates": _sums(typed),
            }


def tensor_quantities() -> list[Quantity]:
    """All quantities that follow from the table, intermediates first."""
    rows: list[dict[str, Any]] = []
    for part, row in parts().items():
        rows += [_work_of_part(part), _peak(part_peak(part), part, has_sparse=row.has_sparse)]
    for row in types():
        rows += [_work_of_type(row), _peak(row.peak, row.name, has_sparse=row.has_sparse)]
    for path in paths():
        rows += _path(path)
    float_paths = [p for p in paths() if p not in INTEGER_PATHS]
    rows.append(
        {
            "name": "flop_tensor",
            "unit": "FLOP",
            "meaning": "executed floating-point work of all tensor paths",
            "candidates": [
                {"add": [[f"@{work_column(p)}", 1.0, "optional"] for p in float_paths], "source": "inherit"}
            ],
        }
    )
    sparse = [
        [f"{PREFIX}{base}_sparsity_on", 1.0, "optional"]
        for base in (*[t.name for t in types() if t.has_sparse], *parts())
    ]
    rows.append(
        {
            "name": "op_tensor_sparse",
            "unit": "op",
            "meaning": "tensor operations on 2:4 sparse operands, as the counters give them",
            "candidates": [{"count": sparse}],
        }
    )
    every = [f"@{part_work(p)}" for p in parts()]
    rows.append(
        {
            "name": "tensor_family",
            "unit": "",
            "kind": "text",
            "meaning": "opcode families that did tensor work, joined by +: hmma is mma.sync, hgmma wgmma, utc… tcgen05",
            "candidates": [{"function": "tensor_family", "needs": every}],
        }
    )
    return [parse_quantity(row) for row in rows]
