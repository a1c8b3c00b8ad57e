from __future__ import annotations

import re

from tests.builders import analysis, finding, kernel
from tests.reporters.samples import hostile, typical

from ncuroof.reporters import RenderOptions
from ncuroof.reporters.github import render

COMMAND = re.compile(r"::(error|warning|notice) (?:file=([^,:]*),)?title=([^,:]*)::(.*)")


def commands(text):
    return [match.groups() for line in text.splitlines() if (match := COMMAND.fullmatch(line))]


def test_commands():
    found = commands(render(typical(), RenderOptions()))
    assert found[0] == (
        "warning",
        "run.ncu-rep",
        "R001 l2-resident%3A softmax%2C 60 µs at stake",
        "Reads 64 MiB in 0.05 ms: 1.9 × the DRAM roof. Measure again with a working set four times the L2 cache.",
    )
    assert [kind for kind, *_ in found] == ["warning", "notice", "warning", "notice"]
    assert found[2][3].endswith("(3 launches)")
    assert found[3][:2] == ("notice", None)  # concerns the run: no file, and after what concerns kernels


def test_what_was_found_ends_before_what_to_do_begins():
    # Rules write no full stop at the end of what they found; Nsight Compute does.
    texts = {"open": "takes twice the time", "closed": "Takes twice the time.", "asks": "Twice?"}
    found = [finding(i, code=f"R00{i}", message=text, advice="Fuse it.") for i, text in enumerate(texts.values())]
    alone = finding(3, code="R009", message="takes twice the time", advice=None)
    shown = commands(render(analysis([kernel(grid_x=i + 1) for i in range(4)], [*found, alone]), RenderOptions()))
    assert sorted(text for *_, text in shown) == [
        "Takes twice the time. Fuse it.",
        "Twice? Fuse it.",
        "takes twice the time",
        "takes twice the time. Fuse it.",
    ]


def many():
    kernels = [kernel(grid_x=i + 1) for i in range(40)]
    kinds = ["warning"] * 15 + ["error"] * 12 + ["info"] * 13
    return analysis(
        kernels, [finding(i, severity=kind, time_at_stake_s=(i + 1) * 1e-6) for i, kind in enumerate(kinds)]
    )


def test_ten_of_each_kind_most_costly_first_and_the_rest_counted():
    text = render(many(), RenderOptions())
    found = commands(text)
    warnings = [title for kind, _, title, _ in found if kind == "warning"]
    assert len(found) == 30
    # 15 warnings with 1 … 15 µs at stake: the dearest ten are 15 … 6 µs.
    assert [re.search(r"%2C (\d+) µs", t).group(1) for t in warnings] == [str(n) for n in range(15, 5, -1)]
    last = text.splitlines()[-1]
    assert not last.startswith("::")
    assert last.endswith("; not shown as annotations: 2 errors, 5 warnings, 3 notices")


def test_fewer_on_request_never_more():
    assert len(commands(render(many(), RenderOptions(limit=2)))) == 6
    assert len(commands(render(many(), RenderOptions(limit=0)))) == 30


def test_hostile_names_cannot_start_a_command():
    text = render(hostile(), RenderOptions(limit=0))
    assert len(commands(text)) == 10
    assert len(text.splitlines()) == 11
    assert "%0A" not in text.replace("%250A", "")
