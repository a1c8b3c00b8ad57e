"""Opening files: names, digests, compression."""

from __future__ import annotations

import hashlib
import os
import threading

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ncuroof.errors import DamagedError, InputError
from ncuroof.inputs import HASHED_AT_ONCE, display_name, open_input


def test_names_do_not_tell_the_home_of_a_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert display_name("a/b.ncu-rep") == "a/b.ncu-rep"
    assert display_name(tmp_path / "a" / "b.ncu-rep") == "a/b.ncu-rep"
    assert display_name("/home/alice/b.ncu-rep") == "b.ncu-rep"
    assert display_name("../../alice/b.ncu-rep") == "b.ncu-rep"


def test_plain_content_and_digest(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"hello")
    file = open_input(path)
    assert bytes(file.data) == b"hello"
    assert file.sha256 == hashlib.sha256(b"hello").hexdigest()
    assert file.size == 5


def test_digest_of_a_large_file(tmp_path):
    path = tmp_path / "x"
    content = bytes(range(256)) * (HASHED_AT_ONCE // 128)
    path.write_bytes(content)
    assert open_input(path).sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("sized", [True, False])
def test_zstd_frames_are_joined(tmp_path, sized):
    compress = zstandard.ZstdCompressor(write_content_size=sized).compress
    raw = compress(b"first ") + compress(b"second")
    path = tmp_path / "x.ncu-repz"
    path.write_bytes(raw)
    file = open_input(path)
    assert file.data == b"first second"
    assert file.sha256 == hashlib.sha256(raw).hexdigest()


@given(st.binary(min_size=1, max_size=300), st.data())
def test_cut_or_broken_zstd_is_one_error(tmp_path_factory, content, data):
    raw = zstandard.ZstdCompressor().compress(content)
    cut = data.draw(st.integers(4, len(raw) - 1))
    path = tmp_path_factory.mktemp("z") / "x.ncu-repz"
    path.write_bytes(raw[:cut])
    with pytest.raises(DamagedError, match="zstd"):
        open_input(path)


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_input(tmp_path / "absent")
    with pytest.raises(InputError, match="a folder"):
        open_input(tmp_path)
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="an empty file"):
        open_input(tmp_path / "empty")


def test_a_stream_that_expands_without_end_is_refused(tmp_path):
    bomb = zstandard.ZstdCompressor(level=19).compress(bytes(200 << 20))
    assert len(bomb) < 1 << 20
    path = tmp_path / "bomb.ncu-repz"
    path.write_bytes(bomb)
    with pytest.raises(DamagedError, match="expands to more than 200 times"):
        open_input(path)


def test_a_pipe_is_read_as_a_stream(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"hello"))
    writer.start()
    file = open_input(pipe)
    writer.join(timeout=20)
    assert bytes(file.data) == b"hello"


def test_devices_are_refused():
    with pytest.raises(InputError, match="a device or a socket"):
        open_input("/dev/zero")


def test_names_that_are_no_utf8_are_shown_as_escapes(tmp_path):
    raw = os.fsencode(tmp_path) + b"/lat\xe9.ncu-rep"
    with open(raw, "wb") as file:  # noqa: PTH123  pathlib takes no bytes
        file.write(b"x")
    name = open_input(os.fsdecode(raw)).name
    assert name == "lat\\xe9.ncu-rep"
    name.encode("utf-8")
