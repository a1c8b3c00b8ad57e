"""Reads ``--annotations FILE``: JSON lines that say which launches did what, for reports without NVTX ranges.

One JSON object a line; empty lines and lines that begin with ``#`` are skipped::

    {"match": {"kernel": "ampere_sgemm"}, "op": "gemm", "m": 1024, "n": 1024, "k": 1024, "dtype": "fp32"}
    {"match": {"nvtx": "layer14/q_proj", "order": 0}, "op": "gemm", "m": 8, "n": 3584, "k": 3584, "dtype": "bf16"}
    {"match": {"source": "a.ncu-rep", "index": 3}, "op": "copy", "n": 1048576, "dtype": "fp32"}

``match`` selects launches; all of its keys must hold: ``kernel`` and ``nvtx`` are regular expressions searched in the
kernel's names and in its NVTX path, ``source`` is the end of the file's name, ``index`` the result's position in its
file, ``order`` the position among the launches that the other keys select in one file, from 0. The first line that
selects a launch decides; a line that selects none is announced.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.errors import InputError
from ncuroof.inputs import display_name, open_input
from ncuroof.model import Note
from ncuroof.workloads.annotation import Annotation, AnnotationError, from_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TEXTS = ("kernel", "nvtx", "source")
NUMBERS = ("index", "order")
REMEDY = 'A line looks like {"match": {"kernel": "gemm"}, "op": "gemm", "m": 8, "n": 8, "k": 8, "dtype": "fp16"}.'


def assign(kernels: pl.DataFrame, path: Path) -> tuple[list[Annotation | None], list[Note]]:
    """The annotation of each launch from the file, None where no line selects it.

    Args:
        kernels: the kernels table.
        path: the file.

    Raises:
        InputError: naming the line and what is wrong with it.
    """
    result: list[Annotation | None] = [None] * kernels.height
    notes = []
    # A line number, the launches it selects, what it says.
    for number, wanted, annotation in _lines(path):
        try:
            selected = _select(kernels, wanted)
        except pl.exceptions.ComputeError as error:
            raise _fault(path, number, f"a regular expression that is not valid ({_first_line(error)})") from None
        free = [row for row in selected if result[row] is None]
        for row in free:
            result[row] = annotation
        if not free:
            why = "no launch" if not selected else "only launches that an earlier line has"
            notes.append(
                Note("annotation-unused", f"Line {number} of the annotations selects {why}.", display_name(path))
            )
    return result, notes


def _lines(path: Path) -> list[tuple[int, Mapping[str, Any], Annotation]]:
    raw = bytes(open_input(path).data)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(display_name(path), "no UTF-8 text", REMEDY) from None
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            body = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _fault(path, number, f"no valid JSON ({_first_line(error)})") from None
        if not isinstance(body, dict):
            raise _fault(path, number, "JSON that is no object")
        wanted = body.pop("match", None)
        _check_match(path, number, wanted)
        try:
            lines.append((number, wanted, from_mapping(body)))
        except AnnotationError as error:
            raise _fault(path, number, f"an annotation that cannot be used: {error}") from None
    return lines


def _check_match(path: Path, number: int, wanted: object) -> None:
    if not isinstance(wanted, dict) or not wanted:
        raise _fault(path, number, 'no "match", which says which launches the line is about')
    for key, value in wanted.items():
        if key not in (*TEXTS, *NUMBERS):
            raise _fault(path, number, f"{key!r} in match; it may hold {', '.join((*TEXTS, *NUMBERS))}")
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if (key in TEXTS and not isinstance(value, str)) or (key in NUMBERS and not whole):
            kind = "a text" if key in TEXTS else "a whole number from 0"
            raise _fault(path, number, f"{key} in match is no {kind.split(' ', 1)[1]}")


def _select(kernels: pl.DataFrame, wanted: Mapping[str, Any]) -> list[int]:
    """Rows that a ``match`` selects. Polars' regular expressions take linear time, whatever the pattern."""
    condition = pl.lit(value=True)
    if "kernel" in wanted:
        names = [n for n in ("kernel_name", "kernel_demangled", "kernel_mangled") if n in kernels.columns]
        found = [pl.col(n).str.contains(wanted["kernel"]).fill_null(value=False) for n in names]
        condition = condition & (pl.any_horizontal(found) if found else pl.lit(value=False))
    if "nvtx" in wanted:
        condition = condition & _known(kernels, "nvtx_path", lambda c: c.str.contains(wanted["nvtx"]))
    if "source" in wanted:
        condition = condition & _known(kernels, "source", lambda c: c.str.ends_with(wanted["source"]))
    if "index" in wanted:
        condition = condition & _known(kernels, "result_index", lambda c: c == wanted["index"])
    rows = kernels.with_row_index("_row").filter(condition)
    if "order" in wanted:
        file = [n for n in ("source_sha256",) if n in kernels.columns]
        position = pl.int_range(pl.len()).over(file) if file else pl.int_range(pl.len())
        rows = rows.filter(position == wanted["order"])
    return rows["_row"].to_list()


def _known(kernels: pl.DataFrame, name: str, test: Any) -> pl.Expr:  # noqa: ANN401  a function of an expression
    if name not in kernels.columns:
        return pl.lit(value=False)
    result: pl.Expr = test(pl.col(name)).fill_null(value=False)
    return result


def _fault(path: Path, number: int, found: str) -> InputError:
    return InputError(display_name(path), f"line {number} holds {found}", REMEDY)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
