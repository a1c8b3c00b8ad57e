from __future__ import annotations

import pytest
from tests.ncurep.handmade import double, number, sized

from ncuroof.ncurep.nsight_rules import plain_text, read_rule


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("nothing marked", "nothing marked"),
        ("an @ alone, a@b.c", "an @ alone, a@b.c"),
        (
            "see the @url:Kernel Profiling Guide:https://docs.nvidia.com/a/index.html#roofline@ for more",
            "see the Kernel Profiling Guide (https://docs.nvidia.com/a/index.html#roofline) for more",
        ),
        (
            "go to @section:MemoryWorkloadAnalysis_Chart:Memory Workload Analysis Chart@.",
            "go to Memory Workload Analysis Chart.",
        ),
        ("at @sass:16:LDG@ and @source:3:line@", "at LDG and line"),
        ("@url:a:http://x@ @url:b:http://y@", "a (http://x) b (http://y)"),
    ],
)
def test_link_marks(marked: str, plain: str) -> None:
    assert plain_text(marked) == plain


HEAD = sized(1, b"SOLBottleneck") + sized(2, b"Bottleneck") + sized(4, b"SpeedOfLight")


def test_every_item_of_a_rule() -> None:
    said = sized(1, sized(1, b"Memory is busy.") + number(2, 4) + number(3, 0) + sized(4, b"High Memory"))
    focus = sized(8, number(1, 0) + sized(2, b"dram__a") + double(3, 91.5) + number(4, 2) + sized(5, b"info"))
    speedup = sized(10, number(1, 2) + double(2, 33.25))
    body = sized(
        3, sized(1, said + focus + focus + speedup) + sized(1, speedup) + sized(1, sized(1, sized(1, b"Fine.")))
    )
    first, second, third = read_rule(HEAD + body)
    assert (first.rule_id, first.rule_name, first.section_id) == ("SOLBottleneck", "Bottleneck", "SpeedOfLight")
    assert (first.item, first.message_type, first.title, first.text) == (
        0,
        "optimization",
        "High Memory",
        "Memory is busy.",
    )
    assert (first.speedup_type, first.speedup_pct) == ("global", 33.25)
    assert first.focus == [{"metric": "dram__a", "value": 91.5, "severity": 2, "info": "info"}] * 2
    assert (second.item, second.message_type, second.text, second.speedup_pct) == (1, None, None, 33.25)
    assert (third.item, third.message_type, third.text, third.speedup_type) == (2, "none", "Fine.", None)


@pytest.mark.parametrize(
    ("stored", "name"), [(0, "none"), (1, "ok"), (2, "warning"), (3, "error"), (4, "optimization"), (9, "9")]
)
def test_message_types(stored: int, name: str) -> None:
    (item,) = read_rule(HEAD + sized(3, sized(1, sized(1, sized(1, b"t") + number(2, stored)))))
    assert item.message_type == name


def test_a_rule_that_had_nothing_to_say() -> None:
    (item,) = read_rule(HEAD)
    assert (item.rule_id, item.text, item.message_type, item.focus) == ("SOLBottleneck", None, None, [])
