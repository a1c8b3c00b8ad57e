from __future__ import annotations

import struct

import pytest
from tests.ncurep.handmade import double, number, single, sized

from ncuroof.ncurep.nvtx import payload, read_state


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"", None),
        (number(1, 0), None),
        (number(1, 0) + number(2, 0), None),
        (number(1, 1) + number(2, (1 << 64) - 1), "18446744073709551615"),  # unsigned 64 bits
        (number(1, 1) + number(2, 0), "0"),
        (number(1, 2) + number(3, (1 << 64) - 5), "-5"),  # signed 64 bits, as protobuf's int64 stores it
        (number(1, 3) + double(4, 0.1), "0.1"),
        (number(1, 4) + number(5, 4_000_000_000), "4000000000"),
        (number(1, 5) + number(6, (1 << 64) - 1), "-1"),  # a negative int32 takes ten bytes
        (number(1, 5) + number(6, 7), "7"),
        (number(1, 6) + single(7, 0.1), "0.100000001"),  # nine digits tell any float apart
        (number(1, 2) + b"\x11" + struct.pack("<q", -9), "-9"),  # fixed width
        (number(1, 4) + b"\x15" + struct.pack("<I", 9), "9"),
        (number(1, 7) + sized(8, b'{"m": 8}'), '{"m": 8}'),
    ],
)
def test_payload_of_every_type(raw: bytes, shown: str | None) -> None:
    assert payload(raw) == shown


def nvtx_range(name: bytes, attributes: bytes = b"") -> bytes:
    return sized(3, sized(1, name) + sized(2, attributes) + number(3, 0))


def test_domains_threads_and_nesting() -> None:
    domains = sized(1, number(1, 0) + sized(2, b"<default domain>")) + sized(1, number(1, 3) + sized(2, b"torch"))
    color = sized(3, number(1, 1) + number(2, 0xFFCC0011))
    outer = nvtx_range(b"step", number(1, 2) + number(2, 9) + color + sized(4, number(1, 1) + number(2, 42)))
    first = sized(2, number(1, 100) + sized(2, number(1, 0) + outer + nvtx_range(b"layer")))
    second = sized(2, number(1, 101) + sized(2, number(1, 0)) + sized(2, number(1, 3) + nvtx_range(b"mm")))
    state = read_state(domains + first + second)
    default = "<default domain>"
    assert state.ranges == [
        {"domain": default, "name": "step", "payload": "42", "category": 9, "color": "#FFCC0011", "thread": 100},
        {"domain": default, "name": "layer", "payload": None, "category": None, "color": None, "thread": 100},
        {"domain": "torch", "name": "mm", "payload": None, "category": None, "color": None, "thread": 101},
    ]
    assert state.path == "torch:mm"
    assert read_state(domains + first).path == "step/layer"


def test_a_state_without_ranges() -> None:
    state = read_state(sized(1, number(1, 0)) + sized(2, number(1, 5) + sized(2, number(1, 0))))
    assert (state.path, state.ranges) == (None, [])


def test_a_range_in_a_domain_that_has_no_name() -> None:
    state = read_state(sized(2, number(1, 5) + sized(2, number(1, 8) + nvtx_range(b"r"))))
    assert (state.path, state.ranges[0]["domain"]) == ("8:r", "8")


def test_start_end_ranges() -> None:
    domains = sized(1, number(1, 2) + sized(2, b"nsight-python"))
    started = sized(3, number(1, 2) + nvtx_range(b"gemm 8192") + sized(4, b"\xff\xff") + sized(5, b""))
    state = read_state(domains + started + sized(2, number(1, 7) + sized(2, number(1, 2))))
    assert state.path == "nsight-python:gemm 8192"
    assert [(r["domain"], r["name"], r["thread"]) for r in state.ranges] == [("nsight-python", "gemm 8192", None)]
    # Ranges of the thread itself come closer to the launch.
    inner = sized(2, number(1, 7) + sized(2, number(1, 2) + nvtx_range(b"inner")))
    assert read_state(domains + started + inner).path == "nsight-python:inner"
    assert [r["name"] for r in read_state(domains + started + inner).ranges] == ["gemm 8192", "inner"]
