from __future__ import annotations

import json

import jsonschema
import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.samples import GEMM, empty, hostile, typical
from tests.reporters.schemas import SARIF

from ncuroof.reporters import RenderOptions, RuleText
from ncuroof.reporters.sarif import render


def log(a, **options):
    return json.loads(render(a, RenderOptions(**options)))


def run(a, **options):
    return log(a, **options)["runs"][0]


@pytest.mark.parametrize("sample", [typical, hostile, empty])
def test_schema(sample):
    jsonschema.validate(log(sample()), SARIF)


def test_rules_carry_what_they_say_about_themselves():
    page = "R001 l2-resident\n\nWhat it does\n    Finds kernels."
    text = RuleText("l2-resident", "the data comes from L2", page, "error")
    rules = run(typical(), rules={"R001": text})["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == ["D006", "R001", "T001", "W001"]
    assert rules[1]["name"] == "L2Resident"
    assert rules[1]["shortDescription"]["text"] == "the data comes from L2"
    assert rules[1]["help"]["text"] == page
    assert rules[1]["defaultConfiguration"]["level"] == "error"
    assert rules[3]["help"]["text"] == "Pad M to 64."  # without a manual page: the advice


def test_results():
    r = run(typical())
    first, second = r["results"][:2]
    assert r["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "R001"
    assert first["level"] == "warning"
    assert first["message"]["text"].startswith("Reads 64 MiB")
    location = first["locations"][0]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "run.ncu-rep", "index": 0}
    assert location["logicalLocations"][0]["name"] == "softmax"
    assert second["locations"][0]["logicalLocations"][0]["name"] == GEMM
    assert first["properties"]["timeAtStakeSeconds"] == 6e-5
    assert first["properties"]["voice"] == "both"
    assert r["results"][2]["occurrenceCount"] == 3


def test_levels():
    kernels = [kernel(grid_x=i) for i in range(4)]
    severities = ("error", "warning", "info", "note")
    found = [finding(i, severity=s, time_at_stake_s=1.0 - i / 10) for i, s in enumerate(severities)]
    assert [x["level"] for x in run(analysis(kernels, found))["results"]] == ["error", "warning", "note", "note"]


def test_what_concerns_the_run_is_put_at_the_first_report():
    last = run(typical())["results"][-1]
    assert last["ruleId"] == "D006"
    assert last["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "run.ncu-rep", "index": 0},
                "region": {"startLine": 1},
            }
        }
    ]


def test_what_could_not_be_judged_is_a_notification():
    notifications = run(typical())["invocations"][0]["toolExecutionNotifications"]
    texts = [n["message"]["text"] for n in notifications]
    assert texts[0] == "R001 could not judge 4 of 6 kernels: without compulsory_bytes (4)"
    assert texts[2] == "run.ncu-rep: the file ends early"
    assert notifications[0]["associatedRule"]["id"] == "R001"


def test_messages_hold_no_links_or_placeholders():
    message = "see [here](http://example.invalid) {0}"
    (result,) = run(analysis([kernel()], [finding(message=message, advice=None)]))["results"]
    assert result["message"]["text"] == "see \\[here\\](http://example.invalid) {{0}}"


def test_uris_are_escaped():
    a = analysis([kernel(source="a b/ü#1?.ncu-rep")], [finding()])
    assert run(a)["artifacts"][0]["location"]["uri"] == "a%20b/%C3%BC%231%3F.ncu-rep"
