from __future__ import annotations

import struct

import pytest
from tests.ncurep.handmade import NVR, block, number, prefixed, report, sized

from ncuroof.errors import DamagedError
from ncuroof.ncurep import container, describe
from ncuroof.ncurep.container import Entry, walk


def test_blocks_entries_and_strings_in_file_order() -> None:
    content = report(
        block(strings=["a", "b"]),
        block([b"\x08\x01", b"\x08\x02\x08\x03"], counts={1: 1, 2: 1}),
        block(strings=["c"]),
    )
    layout = walk(content, "x")
    assert (layout.version, layout.blocks, layout.strings) == (7, 3, [b"a", b"b", b"c"])
    first, second = layout.entries
    assert (first.kind, second.kind) == ("source", "kernel")
    assert content[first.offset : first.offset + first.size] == b"\x08\x01"
    assert content[second.offset : second.offset + second.size] == b"\x08\x02\x08\x03"
    assert layout.count("kernel") == 1


def test_order_of_entries_is_that_of_the_counts() -> None:
    content = report(block([b"\x08\x01"] * 7, counts={1: 1, 2: 2, 7: 1, 8: 1, 9: 1, 10: 1}))
    kinds = [entry.kind for entry in walk(content, "x").entries]
    assert kinds == ["source", "kernel", "kernel", "range", "cmdlist", "graph", "topology"]


def test_entries_that_no_known_field_counts_are_kept_as_unknown() -> None:
    content = report(block([b"\x08\x01", b"\x08\x02"], counts={2: 1, 11: 1}))
    assert [entry.kind for entry in walk(content, "x").entries] == ["kernel", "unknown"]


def test_an_empty_result_is_an_entry() -> None:
    assert walk(report(block([b""])), "x").entries == [Entry("kernel", len(report(block([b""]))), 0)]


def damage(content: bytes) -> str:
    with pytest.raises(DamagedError) as caught:
        walk(content, "cut.ncu-rep")
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (NVR + b"\x02\0", "at byte 4, the file ends in the middle of a file header"),
        (NVR + struct.pack("<I", 4_000_000_000), "at byte 4, a file header of 4000000000 bytes, of which 0 are there"),
        (report() + b"\x01\0", "at byte 10, the file ends in the middle of a block header"),
        (report() + struct.pack("<I", 0xFFFFFFFF) + b"x", "at byte 10, a block header of 4294967295 bytes"),
        (report() + prefixed(b"\xff"), "at byte 10, a block header that cannot be decoded"),
        (report(block([b""], size=1 << 40)), "a block with 1099511627776 bytes of payload, of which 4 are there"),
        (report(block([b"a"], counts={2: 1 << 60})), "a block that counts 1152921504606846976 entries in 5 bytes"),
        (report(block([b"abcd"], counts={2: 2})), "ends before the kernel entry that its header counts"),
        (report(block([b"a"], size=5) + block(counts={2: 0}, size=3) + b"abc"), "ends in the middle of an entry"),
        (
            report(block(counts={2: 1}, size=4) + struct.pack("<I", 9)),
            "an entry of 9 bytes in a payload that has 0 left",
        ),
        (b"PK\x03\x04", "at byte 0, no report begins with"),
    ],
)
def test_damage_names_offset_and_fault(content: bytes, found: str) -> None:
    message = damage(content)
    assert message.startswith("cut.ncu-rep: a damaged Nsight Compute report: at byte ")
    assert found in message
    assert message.endswith("profile again.")


def test_a_headless_report_is_told_by_its_first_block() -> None:
    process = sized(6, number(1, 4242) + sized(2, b"127.0.0.1"))
    assert container.headless(block(counts={2: 0}, extra=process))
    for other in (
        b"",
        b"\x00" * 64,
        b"ID,Process ID,Kernel Name",
        block(counts={2: 0}),
        struct.pack("<I", 1 << 31) * 4,
    ):
        assert not container.headless(other)


def test_describe() -> None:
    device = sized(6, number(1, 0) + sized(2, b"GPU"))
    version = sized(8, sized(1, b"Nsight Compute Target") + sized(2, b"2025.1.0.0 (build 1) (public-release)"))
    info = describe(report(block([b""], strings=["a"], extra=sized(3, device + version))), "x")
    assert (info.format_version, info.blocks, info.entries, info.strings) == (7, 1, {"kernel": 1}, 1)
    assert (info.ncu_version, info.cuda_version, info.gpus, info.origin) == ("2025.1.0.0", None, ("GPU",), "profiled")
