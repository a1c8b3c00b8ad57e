"""The second backend: against a stand-in for NVIDIA's package, and against our reader where it is installed."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ncuroof import tables
from ncuroof.errors import DamagedError, InputError, MissingBackendError
from ncuroof.inputs import open_input
from ncuroof.readers import choose, ncu_rep, ncu_report
from ncuroof.testing import NvtxRange, ReportBuilder

if TYPE_CHECKING:
    from pathlib import Path

EXECUTED = "sass__inst_executed_per_opcode_with_modifier_all"
INSTALLED = importlib.util.find_spec("ncu_report") is not None


class Metric:
    """As documented: a metric without a value still gives one of its kind."""

    def __init__(
        self, value: Any, unit: str = "", *, has: bool = True, instances: dict[str, float] | None = None
    ) -> None:
        opcodes = instances or {}
        self.num_instances = lambda: len(opcodes)
        self.has_correlation_ids = lambda: bool(opcodes)
        self.correlation_ids = lambda: Ids(list(opcodes))
        self.as_double = lambda i: list(opcodes.values())[i]
        self.value = lambda: value
        self.unit = lambda: unit
        self.has_value = lambda: has


class Ids:
    """Correlation ids, which the package gives as a metric of their own."""

    def __init__(self, names: list[str]) -> None:
        self.as_string = lambda i: names[i]


class Domain:
    def __init__(self, name: str, ranges: tuple[str, ...]) -> None:
        self.name = lambda: name
        self.push_pop_ranges = lambda: ranges
        self.start_end_ranges = lambda: ("epoch",) if ranges else ()


class State:
    def __init__(self, *domains: Domain) -> None:
        self.domains = lambda: tuple(range(len(domains)))
        self.domain_by_id = lambda i: domains[i]


class Action:
    NameBase_FUNCTION, NameBase_DEMANGLED, NameBase_MANGLED = 0, 1, 2
    WorkloadType_KERNEL, WorkloadType_RANGE, WorkloadType_GRAPH, WorkloadType_CMDLIST = 0, 1, 2, 3

    def __init__(self, metrics: dict[str, Metric], kind: int = 0, state: State | None = None) -> None:
        self.metric_names = lambda: tuple(sorted(metrics))
        self.metric_by_name = metrics.get
        self.workload_type = lambda: kind
        self.nvtx_state = lambda: state

    def name(self, base: int = 0) -> str:
        return ("gemm", "gemm(int)", "_Z4gemmi")[base]

    def rule_results_as_dicts(self) -> list[dict[str, Any]]:
        return [
            {
                "name": "Bottleneck",
                "rule_identifier": "SOLBottleneck",
                "section_identifier": "SpeedOfLight",
                "rule_message": {"title": "T", "message": "see @url:a:http://b@", "type": 2},
                "speedup_estimation": {"type": 2, "speedup": 12.5},
                "focus_metrics": [{"name": "sm__x", "value": 1.0, "severity": 1, "info": "i"}],
            }
        ]


class Range:
    def __init__(self, *actions: Action) -> None:
        self.num_actions = lambda: len(actions)
        self.action_by_idx = lambda i: actions[i]


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A stand-in for the package with two actions; gives the paths that were loaded."""
    loaded: list[str] = []
    metrics = {
        "gpu__time_duration.sum": Metric(2048.5, "nsecond"),
        "sm__count.sum": Metric((1 << 64) - 1, "inst"),
        "device__attribute_display_name": Metric("GPU"),
        "launch__grid_dim_x": Metric(8),
        "empty": Metric(0, has=False),
        EXECUTED: Metric(8.0, "inst", instances={"FFMA": 6.0, "FADD.FTZ": 2.0}),
    }
    state = State(Domain("<default domain>", ()), Domain("torch", ("step", "mm")))
    actions = Range(Action(metrics, 0, state), Action({}, 1))

    class Context:
        num_ranges = staticmethod(lambda: 1)
        range_by_idx = staticmethod(lambda _: actions)

    module = ModuleType("ncu_report")
    module.IAction = Action  # type: ignore[attr-defined]
    module.load_report = lambda path: loaded.append(path) or Context()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ncu_report", module)
    return loaded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    builder = ReportBuilder(command_line="ncu --clock-control none ./app")
    return builder.kernel("gemm", {}, nvtx=[NvtxRange("step")]).write(tmp_path / "a.ncu-rep")


def read(path: Path, want: frozenset[str] | None = None) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    file = open_input(path)
    reader, reason = choose(file, "ncu-report")
    chunks = list(reader.read(file, reason, want).chunks)
    launches, metrics, rules = (pl.concat([getattr(c, t) for c in chunks]) for t in ("launches", "metrics", "rules"))
    tables.check(launches, tables.LAUNCHES, "launches")
    tables.check(metrics, tables.METRICS, "metrics")
    tables.check(rules, tables.NSIGHT_RULES, "rules")
    return launches, metrics, rules


def test_it_is_never_chosen_by_itself(path: Path) -> None:
    file = open_input(path)
    assert ncu_report.recognises(file.head, file.name) is None
    assert choose(file)[0].NAME == "ncu-rep"


@pytest.mark.skipif(INSTALLED, reason="NVIDIA's package is installed")
def test_without_the_package_it_says_what_to_do(path: Path) -> None:
    with pytest.raises(MissingBackendError, match="pip install ncu-report; or leave the option out"):
        read(path)


def test_conversion(package: list[str], path: Path) -> None:
    launches, metrics, rules = read(path)
    assert package == [str(path)]
    first, second = launches.iter_rows(named=True)
    assert (first["kernel_name"], first["kernel_demangled"], first["kernel_mangled"]) == (
        "gemm",
        "gemm(int)",
        "_Z4gemmi",
    )
    assert (first["result_kind"], second["result_kind"]) == ("kernel", "range")
    assert (first["grid_x"], first["gpu_name"], first["clock_control"]) == (8, "GPU", "none")
    assert (first["nvtx_path"], second["nvtx"]) == ("torch:epoch/step/mm", None)
    assert [(r["domain"], r["name"]) for r in first["nvtx"]] == [("torch", "epoch"), ("torch", "step"), ("torch", "mm")]
    assert metrics.select("metric", "value", "value_int", "text", "unit").rows() == [
        ("device__attribute_display_name", None, None, "GPU", None),
        ("empty", None, None, None, None),
        ("gpu__time_duration.sum", 2048.5, None, None, "ns"),
        ("launch__grid_dim_x", 8.0, 8, None, None),
        (EXECUTED, 8.0, None, None, "inst"),
        ("sm__count.sum", 2.0**64, (1 << 64) - 1, None, "inst"),
    ]
    row = rules.row(0, named=True)
    assert (row["rule_id"], row["message_type"], row["text"]) == ("SOLBottleneck", "optimization", "see a (http://b)")
    assert (row["speedup_type"], row["speedup_pct"], row["focus"][0]["metric"]) == ("global", 12.5, "sm__x")


def test_executed_instructions_per_opcode(package: list[str], path: Path) -> None:
    file = open_input(path)
    (chunk,) = ncu_report.read(file, "asked for", None).chunks
    assert chunk.instances is not None
    assert chunk.instances.select("result_index", "metric", "instance", "value").rows() == [
        (0, EXECUTED, "FFMA", 6.0),
        (0, EXECUTED, "FADD.FTZ", 2.0),
    ]
    (chunk,) = ncu_report.read(file, "asked for", frozenset({"sm__count.sum"})).chunks
    assert chunk.instances is not None
    assert chunk.instances.is_empty()


def test_only_wanted_metrics(package: list[str], path: Path) -> None:
    launches, metrics, _ = read(path, frozenset({"sm__count.sum"}))
    assert set(metrics["metric"]) == {"sm__count.sum"}
    assert launches["grid_x"][0] == 8
    assert package


def test_a_compressed_report_goes_in_under_a_name_that_the_package_understands(package: list[str], path: Path) -> None:
    packed = ReportBuilder().kernel("gemm", {}).write(path.with_suffix(".ncu-repz"))
    read(packed)
    misnamed = packed.rename(packed.with_name("b.ncu-rep"))
    read(misnamed)
    assert package[0] == str(packed)
    assert package[1].endswith("report.ncu-rep")
    assert package[1] != str(misnamed)


def test_damage_is_found_before_the_package_sees_it(package: list[str], path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedError):
        read(path)
    assert package == []


@pytest.mark.skipif(not INSTALLED, reason="NVIDIA's package ncu-report is not installed; it never is by this project")
def test_both_backends_agree(corpus: Path) -> None:
    for one in sorted((corpus / "reports").iterdir()):
        file = open_input(one)
        try:
            chunks = list(ncu_rep.read(file, "", None).chunks)
        except InputError:
            continue
        launches, metrics, _ = read(one)
        ours = pl.concat([c.metrics for c in chunks])
        keys = ["result_index", "metric"]
        same = ours.select(*keys, "value", "value_int", "text").sort(keys)
        assert same.equals(metrics.select(*keys, "value", "value_int", "text").sort(keys)), one.name
        names = pl.concat([c.launches for c in chunks])["kernel_name"]
        assert names.equals(launches["kernel_name"]), one.name
