from __future__ import annotations

import json
import math

from tests.builders import analysis, finding, kernel
from tests.reporters.hostile import MARKUP, NAMES
from tests.reporters.samples import empty, hostile, typical

from ncuroof import tables
from ncuroof.reporters import RenderOptions, choose


def document(a, **options):
    def refuse(constant):
        msg = f"{constant} is no JSON"
        raise ValueError(msg)

    return json.loads(choose("json").render(a, RenderOptions(**options)), parse_constant=refuse)


def test_layout():
    d = document(typical())
    assert list(d) == [
        "schema", "schema_version", "tables_version", "tool", "counts",
        "sources", "findings", "suite", "nsight_findings", "skips", "notes", "kernels",
    ]  # fmt: skip
    assert (d["schema"], d["schema_version"], d["tables_version"]) == (
        "ncuroof-analysis",
        "1.1",
        tables.SCHEMA_VERSION,
    )
    assert d["counts"] == {"kernels": 6, "findings": 6, "skips": 2, "sources": 1}


def test_kernels_are_complete():
    quantities = {"l2_hit_pct": 97.5, "l2_hit_pct_source": "counter", "waves": None}
    (record,) = document(analysis([kernel(quantities=quantities, flop=2e6)]))["kernels"]
    assert list(record)[:2] == ["row", "source"]
    assert list(record["placement"]) == [c.name for c in tables.PLACEMENT]
    assert list(record["workload"]) == [c.name for c in tables.WORKLOAD]
    assert record["placement"]["flop"] == 2e6
    assert record["placement"]["traffic_bytes_source"] == "counter"
    assert record["quantities"] == {
        "duration_s": {"value": 1e-4, "source": "counter"},
        "l2_hit_pct": {"value": 97.5, "source": "counter"},
    }


def test_findings_carry_their_evidence():
    first = document(typical())["findings"][0]
    assert list(first) == [c.name for c in tables.ANOMALIES]
    assert first["evidence"][0]["limit"] == 5.24e7
    assert document(analysis([kernel()], [finding(evidence=None)]))["findings"][0]["evidence"] == []


def test_skips_notes_and_sources():
    d = document(typical())
    assert d["skips"][0] == {"code": "R001", "count": 4, "missing": {"compulsory_bytes": 4}}
    assert d["notes"] == [{"kind": "cut-file", "message": "the file ends early", "source": "run.ncu-rep"}]
    assert d["sources"][0]["sha256"] == d["kernels"][0]["source_sha256"]


def test_no_nan_and_no_infinity():
    evidence = [{"metric": "x", "value": math.nan, "unit": "", "limit": -math.inf, "source": None}]
    a = analysis([kernel(intensity=math.nan, achieved_flop_s=math.inf)], [finding(evidence=evidence)])
    d = document(a)
    assert d["kernels"][0]["placement"]["intensity"] is None
    assert d["kernels"][0]["placement"]["achieved_flop_s"] is None
    assert d["findings"][0]["evidence"][0] == {"metric": "x", "value": None, "unit": "", "limit": None, "source": None}


def test_names_come_back_as_they_were():
    d = document(hostile())
    assert [k["kernel_name"] for k in d["kernels"]] == list(NAMES.values())
    assert "bad" in d["notes"][0]["source"]


def test_limit_does_not_shorten_it_and_verbose_adds_nsight():
    assert len(document(typical(), limit=1)["kernels"]) == 6
    assert document(typical(), verbose=True)["nsight_rules"] == []


def test_empty():
    assert document(empty())["kernels"] == []


def test_json_lines_hold_the_same_records():
    lines = [json.loads(line) for line in choose("json-lines").render(typical(), RenderOptions()).splitlines()]
    d = document(typical())
    assert [line["type"] for line in lines] == (
        ["header", "source"] + ["finding"] * 6 + ["skip"] * 2 + ["note"] + ["kernel"] * 6
    )
    assert [{k: v for k, v in x.items() if k != "type"} for x in lines if x["type"] == "kernel"] == d["kernels"]
    assert [{k: v for k, v in x.items() if k != "type"} for x in lines if x["type"] == "finding"] == d["findings"]
    assert lines[0]["counts"] == d["counts"]


def test_json_lines_are_lines():
    text = choose("json-lines").render(hostile(), RenderOptions())
    assert text.isascii()
    assert all(json.loads(line)["type"] for line in text.split("\n")[:-1])
    assert MARKUP in text
