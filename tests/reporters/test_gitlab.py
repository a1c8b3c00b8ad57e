from __future__ import annotations

import json

import jsonschema
import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.samples import empty, hostile, typical
from tests.reporters.schemas import GITLAB

from ncuroof.reporters import RenderOptions
from ncuroof.reporters.gitlab import render


def violations(a):
    return json.loads(render(a, RenderOptions()))


@pytest.mark.parametrize("sample", [typical, hostile, empty])
def test_schema(sample):
    jsonschema.validate(violations(sample()), GITLAB)


def test_the_schema_refuses_what_gitlab_does():
    for broken in (
        {"severity": "warning"},
        {"fingerprint": "x"},
        {"location": {"path": "/abs", "lines": {"begin": 1}}},
    ):
        (entry,) = violations(analysis([kernel()], [finding()]))
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate([entry | broken], GITLAB)


def test_entry():
    first, second, third, last = violations(typical())
    assert first["description"].startswith("R001 l2-resident: softmax, 60 µs at stake. Reads 64 MiB")
    assert first["check_name"] == "R001-l2-resident"
    assert first["location"] == {"path": "run.ncu-rep", "lines": {"begin": 5}}
    assert [first["severity"], second["severity"], last["severity"]] == ["major", "minor", "info"]
    assert third["description"].endswith("(3 launches)")
    assert last["location"]["path"] == "run"


def test_fingerprints_are_unique_and_follow_from_what_was_launched():
    def prints(duration, order=(1, 2)):
        kernels = [kernel(grid_x=x, duration_s=duration) for x in order]
        found = [finding(i, message=f"{duration}", time_at_stake_s=duration / (i + 1)) for i in range(2)]
        return {v["fingerprint"] for v in violations(analysis(kernels, found))}

    assert prints(1e-4) == prints(2e-4) == prints(1e-4, order=(2, 1))
    assert len(prints(1e-4)) == 2
    assert prints(1e-4) != prints(1e-4, order=(1, 3))
    every = [v["fingerprint"] for v in violations(hostile())]
    assert len(every) == len(set(every))


@pytest.mark.parametrize(
    ("source", "path"),
    [("a/b.ncu-rep", "a/b.ncu-rep"), ("/x/y", "x/y"), ("a\\b", "a/b"), ("./a", "a"), ("/", "run")],
)
def test_paths_are_relative(source, path):
    (entry,) = violations(analysis([kernel(source=source)], [finding()]))
    assert entry["location"]["path"] == path
