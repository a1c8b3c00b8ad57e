from __future__ import annotations

import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.samples import hostile, typical

from ncuroof.reporters import RenderOptions
from ncuroof.reporters.full import render


def test_a_finding_with_everything():
    block = render(typical(), RenderOptions()).split("\n\n")[0]
    assert block.splitlines() == [
        "R001 l2-resident  warning",
        "  kernel    softmax",
        "  launch    grid 4096, block 256",
        "  in        run.ncu-rep, result 4",
        "  found     Reads 64 MiB in 0.05 ms: 1.9 × the DRAM roof.",
        "  at stake  60 µs",
        "  advice    Measure again with a working set four times the L2 cache.",
        "  said by   ncuroof, and Nsight Compute's own rule, high confidence",
        "  evidence          value    limit  from",
        "  compulsory_bytes  67 MB  52.4 MB  annotation",
    ]


def test_identical_launches_share_a_block():
    assert "run.ncu-rep, result 1 and 2 identical ones" in render(typical(), RenderOptions())


def test_evidence_without_limit_or_source():
    evidence = [{"metric": "l2_hit_pct", "value": 97.0, "unit": "%", "limit": None, "source": None}]
    a = analysis([kernel()], [finding(evidence=evidence)])
    assert render(a, RenderOptions()).splitlines()[-3].split() == ["l2_hit_pct", "97", "%"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked(width):
    long = [{"metric": "m" * 90, "value": 1.0, "unit": "u" * 60, "limit": 2.0, "source": "s" * 90}]
    for a in (hostile(), analysis([kernel()], [finding(evidence=long)])):
        assert max(len(line) for line in render(a, RenderOptions(width=width)).splitlines()) <= width


def test_limit():
    a = analysis([kernel(grid_x=i) for i in (1, 2, 3)], [finding(i) for i in range(3)])
    assert "… and 2 more findings (--limit 0 shows all)" in render(a, RenderOptions(limit=1))
