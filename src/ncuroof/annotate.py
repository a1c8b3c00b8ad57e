"""Says what a kernel was asked to do: NVTX ranges that carry the operation's shape into the report.

Counters tell what a GPU executed, never what was wanted. A range pushed around a launch does::

    from ncuroof import annotate

    with annotate.gemm(m=8, n=8192, k=8192, dtype="fp16", sweep="m"):
        torch.mm(a, b, out=c)

    @annotate.elementwise(n=1 << 20, dtype="fp32")
    def scale(x): ...

The message of the range is ``ncuroof:`` followed by one JSON object: ``op``, the sizes of its shape,
``dtype`` and, where given, ``label`` and ``sweep``, and a running ``id``: a range that runs several kernels
describes them together, and the id tells one such range from its repetition. From these
:mod:`ncuroof.workloads` computes useful FLOPs and compulsory bytes.

Nothing here needs a GPU, and importing this module imports nothing but the standard library. The range
goes to ``torch.cuda.nvtx`` if the program has imported torch, else to the ``nvtx`` package, else to
``libnvToolsExt``; where none of them works it does nothing. If the environment variable
:data:`LOG_VARIABLE` names a file, every push and pop is also appended to it as a JSON line (``event``,
``message``, ``time_ns``, ``pid``).
"""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import itertools
import json
import os
import sys
import time
from contextlib import ContextDecorator, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from types import TracebackType

PREFIX = "ncuroof:"
"""What the message of every annotation begins with."""

LOG_VARIABLE = "NCUROOF_ANNOTATION_LOG"
"""Environment variable that names a file to which pushes and pops are appended as JSON lines."""

SPAN_VARIABLE = "NCUROOF_ANNOTATION_SPAN"
"""Environment variable that names a file which at exit gets the seconds from the first push to the last pop."""

RESERVED = ("op", "dtype", "label", "name", "sweep", "id", "v", "flops", "bytes")
"""Keys of the message that are not part of the shape."""

MAX_MESSAGE = 1024
"""Longest message in characters. Longer ranges cost time in the profiler and are cut by some of its views."""

ID_LENGTH = 24
"""Room for the id."""

Size = int | float | str | bool

_uses = itertools.count(1)


class Sink(Protocol):
    """Where ranges go."""

    def push(self, message: str) -> None:
        """Open a range in the calling thread."""

    def pop(self) -> None:
        """Close the innermost range of the calling thread."""


class Annotation(ContextDecorator):
    """A range around launches; a context manager and a decorator, usable any number of times and nested.

    Attributes:
        message: the text of the NVTX range, but for the ``id`` that each use adds.
    """

    def __init__(self, message: str) -> None:
        self.message = message

    def __enter__(self) -> Annotation:
        push(f'{self.message[:-1]},"id":{next(_uses)}}}')
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        pop()

    def __repr__(self) -> str:
        return f"Annotation({self.message!r})"


def op(name: str, *, dtype: str, label: str | None = None, sweep: str | None = None, **shape: Size) -> Annotation:
    """Annotate any operation.

    Args:
        name: the operation, as :mod:`ncuroof.workloads` knows it (``gemm``, ``copy``, ``attention`` ...).
            A name it does not know is kept and shown, but no work follows from it.
        dtype: element type: ``fp64``, ``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8``, ``fp4``, ``int8``.
        label: what to call this launch in outputs.
        sweep: name of the series of sizes that this launch is a point of; neighbours in it are compared.
        shape: sizes by name, in elements unless the operation says otherwise.

    Raises:
        ValueError: if the message would be longer than :data:`MAX_MESSAGE`, a size is negative, or a size has
            the name of another key.
    """
    clash = [key for key in shape if key in RESERVED]
    if clash:
        msg = f"a size of an operation cannot be called {clash[0]}"
        raise ValueError(msg)
    for key, value in shape.items():
        if isinstance(value, int | float) and value < 0:
            msg = f"{key} of {name} is {value}; sizes are not negative"
            raise ValueError(msg)
    body: dict[str, Size] = {"op": name, **shape, "dtype": dtype}
    if label is not None:
        body["label"] = label
    if sweep is not None:
        body["sweep"] = sweep
    message = PREFIX + json.dumps(body, separators=(",", ":"))
    if len(message) + ID_LENGTH > MAX_MESSAGE:
        msg = f"the annotation of {name} takes {len(message)} characters; at most {MAX_MESSAGE} are allowed"
        raise ValueError(msg)
    return Annotation(message)


def gemm(
    *,
    m: int,
    n: int,
    k: int,
    dtype: str,
    batch: int = 1,
    label: str | None = None,
    sweep: str | None = None,
    **more: Size,
) -> Annotation:
    """Annotate ``batch`` matrix products ``(m, k) x (k, n)``: 2·batch·m·n·k FLOP."""
    if batch != 1:
        more["batch"] = batch
    return op("gemm", dtype=dtype, label=label, sweep=sweep, m=m, n=n, k=k, **more)


def copy(*, n: int, dtype: str, label: str | None = None, sweep: str | None = None) -> Annotation:
    """Annotate a copy: ``n`` elements read and written, no FLOP."""
    return op("copy", dtype=dtype, label=label, sweep=sweep, n=n)


def elementwise(
    *,
    n: int,
    dtype: str,
    flop: float = 2,
    reads: int = 1,
    writes: int = 1,
    label: str | None = None,
    sweep: str | None = None,
) -> Annotation:
    """Annotate ``flop`` FLOP on each of ``n`` elements (y = x·a + b: 2), ``reads`` arrays in."""
    return op("elementwise", dtype=dtype, label=label, sweep=sweep, n=n, flop=flop, reads=reads, writes=writes)


def attention(
    *,
    batch: int,
    heads: int,
    q_len: int,
    kv_len: int,
    head_dim: int,
    dtype: str,
    kv_heads: int | None = None,
    causal: bool = False,
    label: str | None = None,
    sweep: str | None = None,
) -> Annotation:
    """Annotate scaled dot-product attention of ``q_len`` queries over ``kv_len`` keys, scores not stored.

    ``kv_heads`` is the number of key and value heads where they are shared by groups of query heads.
    """
    more: dict[str, Size] = {} if kv_heads is None else {"kv_heads": kv_heads}
    if causal:
        more["causal"] = True
    return op(
        "attention",
        dtype=dtype,
        label=label,
        sweep=sweep,
        batch=batch,
        heads=heads,
        q_len=q_len,
        kv_len=kv_len,
        head_dim=head_dim,
        **more,
    )


def push(message: str) -> None:
    """Open a range with this message; does nothing where ranges go nowhere."""
    if _State.first_ns is None:
        _begin_span()
    _log("push", message)
    sink = _sink()
    if sink is not None:
        sink.push(message)


def pop() -> None:
    """Close the innermost range of this thread."""
    sink = _sink()
    if sink is not None:
        sink.pop()
    _State.last_ns = time.perf_counter_ns()
    _log("pop", "")


class _Torch:
    """``torch.cuda.nvtx``; never imports torch."""

    def __init__(self) -> None:
        self._nvtx = sys.modules["torch"].cuda.nvtx

    def push(self, message: str) -> None:
        self._nvtx.range_push(message)

    def pop(self) -> None:
        self._nvtx.range_pop()


class _Package:
    """The ``nvtx`` package."""

    def __init__(self) -> None:
        import nvtx  # noqa: PLC0415  optional, and only where something is annotated

        self._nvtx = nvtx

    def push(self, message: str) -> None:
        self._nvtx.push_range(message=message)

    def pop(self) -> None:
        self._nvtx.pop_range()


class _Library:
    """``libnvToolsExt`` of a CUDA toolkit (up to 12)."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("nvToolsExt") or "libnvToolsExt.so.1"
        self._library = ctypes.CDLL(name)
        self._library.nvtxRangePushA.argtypes = [ctypes.c_char_p]

    def push(self, message: str) -> None:
        self._library.nvtxRangePushA(message.encode("ascii", "backslashreplace"))

    def pop(self) -> None:
        self._library.nvtxRangePop()


class _State:
    """The sink in use, for which state of the program it was chosen, and the times of the first push and last pop."""

    sink: Sink | None = None
    searched: bool = False
    with_torch: bool = False
    first_ns: int | None = None
    last_ns: int = 0


def _sink() -> Sink | None:
    """Return the sink: chosen once, and again if torch has been imported since none was found."""
    torch = "torch" in sys.modules
    if not _State.searched or (_State.sink is None and torch and not _State.with_torch):
        _State.sink = _choose(torch)
        _State.searched, _State.with_torch = True, torch
    return _State.sink


def _choose(torch: bool) -> Sink | None:
    candidates: tuple[type[_Torch | _Package | _Library], ...] = (_Package, _Library)
    for candidate in (_Torch, *candidates) if torch else candidates:
        # torch without CUDA raises RuntimeError on use; a missing package or library raises on creation.
        with suppress(Exception):
            sink = candidate()
            sink.push(PREFIX)
            sink.pop()
            return sink
    return None


def _begin_span() -> None:
    _State.first_ns = time.perf_counter_ns()
    path = os.environ.get(SPAN_VARIABLE)
    if path:
        # Writing once, at exit, leaves the program's own time as it is.
        atexit.register(_write_span, path)


def _write_span(path: str) -> None:
    seconds = (_State.last_ns - (_State.first_ns or 0)) / 1e9
    with suppress(OSError):
        Path(path).write_text(f"{seconds:.9f}\n", encoding="ascii")


def _log(event: str, message: str) -> None:
    path = os.environ.get(LOG_VARIABLE)
    if not path:
        return
    line = json.dumps({"event": event, "message": message, "time_ns": time.perf_counter_ns(), "pid": os.getpid()})
    # An unwritable log must not stop the program it describes. Appending one short line is atomic.
    with suppress(OSError), Path(path).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
