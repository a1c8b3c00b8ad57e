from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.hostile import MARKUP
from tests.reporters.samples import GEMM, empty, hostile, typical
from tests.reporters.schemas import junit_faults

from ncuroof.reporters import RenderOptions
from ncuroof.reporters.junit import render


def tree(a):
    return ET.fromstring(render(a, RenderOptions()))  # noqa: S314  our own output


@pytest.mark.parametrize("sample", [typical, hostile, empty])
def test_structure_and_counts(sample):
    assert junit_faults(tree(sample())) == []


def test_the_check_of_the_structure_finds_faults():
    document = tree(typical())
    document.set("tests", "99")
    document[0].append(ET.Element("error"))
    del document[0].attrib["name"]
    faults = junit_faults(document)
    assert len(faults) == 4  # wrong count, misplaced element, unknown element, missing attribute


def test_cases():
    root = tree(typical())
    assert [suite.get("name") for suite in root] == ["run.ncu-rep", "run", "not judged"]
    assert {k: root.get(k) for k in ("tests", "failures", "skipped")} == {"tests": "6", "failures": "2", "skipped": "2"}
    case = root[0][0]
    assert case.get("name") == "R001 l2-resident softmax #4"
    assert float(case.get("time")) == pytest.approx(1e-4)
    assert case[0].get("type") == "warning"
    assert "compulsory_bytes 67 MB, limit 52.4 MB (annotation)" in case[0].text
    info = root[0][1]
    assert info[0].tag == "system-out"
    assert info[0].text.splitlines()[-1] == GEMM
    assert root[2][0][0].get("message") == "R001 could not judge 4 of 6 kernels: without compulsory_bytes (4)"


def test_a_report_without_findings_has_a_passing_case():
    a = analysis([kernel(source="good.ncu-rep"), kernel(source="bad.ncu-rep")], [finding(1)])
    good = next(s for s in tree(a) if s.get("name") == "good.ncu-rep")
    assert [(c.get("name"), len(c)) for c in good] == [("no findings", 0)]


def test_names_survive_the_escape():
    names = [case.get("name") for case in tree(hostile()).iter("testcase")]
    assert any(MARKUP in name for name in names)
