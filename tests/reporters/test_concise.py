from __future__ import annotations

import re

from tests.builders import analysis, finding, kernel
from tests.reporters.samples import hostile, typical

from ncuroof.reporters import RenderOptions
from ncuroof.reporters.concise import render


def test_one_line_per_finding():
    out = render(typical(), RenderOptions()).splitlines()
    assert out[0] == "run.ncu-rep:4: R001 warning Reads 64 MiB in 0.05 ms: 1.9 × the DRAM roof. [softmax]"
    assert out[-2] == "run: D006 note caches flushed"
    assert out[-1].startswith("6 kernels, 820 µs GPU time; 6 findings")
    assert len(out) == 7


def test_a_hostile_finding_is_still_one_line():
    out = render(hostile(), RenderOptions()).splitlines()
    pattern = re.compile(r".+:0: R001 warning .* \[.{1,60}\]")
    assert all(pattern.fullmatch(line) for line in out[:-1])


def test_limit():
    a = analysis([kernel()], [finding(), finding(), finding()])
    out = render(a, RenderOptions(limit=1)).splitlines()
    assert [out[1], len(out)] == ["… and 2 more", 3]
