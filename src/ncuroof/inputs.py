"""Opens an input file once: bytes, digest and name, whatever the container around it (zstd, standard input)."""

from __future__ import annotations

import hashlib
import mmap
import stat
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ncuroof.errors import DamagedError, InputError

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
STDIN = "-"
HEAD_BYTES = 64 * 1024
PIECE_BYTES = 1 << 12
"""Compressed bytes taken at a time: few, because a hostile stream can grow some ten thousand times."""
EXPANSION_LIMIT = 200
SMALLEST_LIMIT = 1 << 26
HASHED_AT_ONCE = 1 << 20
"""Bytes that are hashed sooner than a thread would start."""
"""A compressed report may grow to 200 times its size, and to 64 MiB in any case; reports shrink about 5 to 20 times."""


@dataclass(frozen=True)
class InputFile:
    """An input, opened.

    Attributes:
        name: how to call it in outputs (see :func:`display_name`).
        path: where it lies; None for standard input.
        data: the content, decompressed. A memory map for plain files: slicing it copies, a memoryview of it does not.
        digest: SHA-256 of the bytes on disk (before decompression), lower-case hex; for large files still on its way.
        size: of the bytes on disk.
    """

    name: str
    path: Path | None
    data: bytes | mmap.mmap
    digest: str | Future[str]
    size: int

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes on disk (before decompression), lower-case hex; waits for it where it must."""
        return self.digest if isinstance(self.digest, str) else self.digest.result()

    @property
    def head(self) -> bytes:
        """The first 64 KiB of the content: what readers recognise a file by."""
        return bytes(self.data[:HEAD_BYTES])


def display_name(path: str | Path) -> str:
    """How a file is called in outputs: relative to the current directory if under it, else its bare name.

    Absolute paths often hold a user name, which stays out of outputs.
    """
    path = Path(path)
    if not path.is_absolute():
        return _text(str(path) if ".." not in path.parts else path.name)
    try:
        return _text(str(path.relative_to(Path.cwd())))
    except (ValueError, OSError):
        return _text(path.name)


def _text(name: str) -> str:
    """A file name as text that can be written anywhere: bytes that are no UTF-8 are shown as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def open_input(path: str | Path) -> InputFile:
    """Open a file, or standard input for ``-``.

    Raises:
        InputError: when it does not exist, cannot be read, is a folder or is empty.
        DamagedError: when it is a broken zstd stream.
    """
    if str(path) == STDIN:
        name = "standard input"
        data = sys.stdin.buffer.read()
        if not data:
            raise InputError(name, "nothing at all", "Pipe ncu's output into the command.")
        return _build(name, None, data)
    path = Path(path)
    name = display_name(path)
    try:
        kind = path.stat().st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind) or stat.S_ISSOCK(kind):
            raise InputError(name, "a device or a socket, not a file", "Name a report, or pipe one in with -.")
        with path.open("rb") as file:
            if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
                piped = file.read()
                if not piped:
                    raise InputError(name, "a pipe with nothing in it", "Check the command that writes into it.")
                return _build(name, None, piped)
            if path.stat().st_size == 0:
                raise InputError(
                    name,
                    "an empty file",
                    "The profiler may have been stopped before it wrote anything: profile again.",
                )
            try:
                content: bytes | mmap.mmap = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except (ValueError, OSError):  # pipes and other files that cannot be mapped
                content = file.read()
    except FileNotFoundError:
        raise InputError(name, "no such file", "Check the path.") from None
    except IsADirectoryError:
        raise InputError(name, "a folder", "Name files, or a folder that holds reports.") from None
    except OSError as error:
        raise InputError(name, f"it cannot be read ({error.strerror or error})", "Check its permissions.") from error
    return _build(name, path, content)


def _build(name: str, path: Path | None, raw: bytes | mmap.mmap) -> InputFile:
    digest = _digest(raw) if len(raw) < HASHED_AT_ONCE else _hash_beside(raw)
    data = _decompress(name, raw) if raw[:4] == ZSTD_MAGIC else raw
    return InputFile(name, path, data, digest, len(raw))


def _digest(raw: bytes | mmap.mmap) -> str:
    return hashlib.sha256(raw).hexdigest()


def _hash_beside(raw: bytes | mmap.mmap) -> Future[str]:
    """The digest, computed in a thread while readers begin: hashlib lets others run."""
    pool = ThreadPoolExecutor(1)
    digest = pool.submit(_digest, raw)
    pool.shutdown(wait=False)
    return digest


def _decompress(name: str, raw: bytes | mmap.mmap) -> bytes:
    """All zstd frames of ``raw``, one after another, with or without a content size."""
    import zstandard  # noqa: PLC0415  only for compressed reports

    limit = max(SMALLEST_LIMIT, EXPANSION_LIMIT * len(raw))
    out = bytearray()
    start = 0
    try:
        while start < len(raw):
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof:
                piece = raw[start : start + PIECE_BYTES]
                if not piece:
                    raise DamagedError(
                        name, "a zstd stream that ends in the middle", "Copy or download the file again."
                    )
                out += frame.decompress(piece)
                start += len(piece) - len(frame.unused_data)
                if len(out) > limit:
                    what = (
                        f"a zstd stream that expands to more than {EXPANSION_LIMIT} times its size, as no report does"
                    )
                    raise DamagedError(name, what, "Copy or download the file again.")
    except zstandard.ZstdError as error:
        raise DamagedError(name, f"a broken zstd stream ({error})", "Copy or download the file again.") from error
    if not out:
        raise DamagedError(name, "an empty zstd stream", "Copy or download the file again.")
    return bytes(out)
