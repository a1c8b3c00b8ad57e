"""Reads what a range says about the launches inside it: the operation, its sizes, its element type.

Recognised, innermost range first:

- ``ncuroof:{"op":"gemm","m":8,"n":3584,"k":3584,"dtype":"bf16"}`` in any domain, as message or payload;
- the same JSON without the prefix in a domain called ``roofline``;
- plain text ``gemm m=8 n=3584 k=3584 bf16``, where the first word is an operation with a formula.

Besides the sizes: ``label`` (or ``name``), ``sweep``, ``id`` (which instance of the range this is), and ``flops`` and
``bytes`` where the program knows better than the formula. An annotation that cannot be used is announced, not guessed.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ncuroof.workloads.cost import LARGEST, ShapeError
from ncuroof.workloads.dtypes import dtype
from ncuroof.workloads.formulas import cost, operations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.workloads.cost import Value

PREFIX = "ncuroof:"
DOMAIN = "roofline"
LONGEST = 16 * 1024
"""Messages above this many characters are not parsed."""

FACTS = ("op", "dtype", "label", "name", "sweep", "id", "v", "flops", "bytes")
"""Keys of an annotation that are no sizes."""

_PLAIN = re.compile(r"^([a-z][a-z0-9_]*)((?: +[a-z][a-z0-9_]*=[^ =]+)+)(?: +([a-z0-9_]+))?$", re.IGNORECASE)


class AnnotationError(ValueError):
    """An annotation that was meant as one and cannot be used; the message says why."""


@dataclass(frozen=True)
class Annotation:
    """What one annotation says.

    Attributes:
        op: the operation; one without a formula is kept and shown.
        values: its sizes and element types, as :func:`ncuroof.workloads.formulas.cost` takes them.
        dtype: canonical element type where known, else as written; None where absent.
        label: what to call the launch.
        sweep: the series it is a point of.
        instance: text of ``id``: which instance of the range this is; None where absent.
        useful_flop: FLOP; None where neither a formula nor the annotation says.
        compulsory_bytes: byte; None likewise.
        compulsory_write_bytes: the part of it that is output; None where the formula did not give it.
        remark: why no formula could be applied; empty where one was.
    """

    op: str
    values: Mapping[str, Value]
    dtype: str | None
    label: str | None
    sweep: str | None
    instance: str | None
    useful_flop: float | None
    compulsory_bytes: float | None
    compulsory_write_bytes: float | None
    remark: str

    def row(self) -> dict[str, Any]:
        """The columns :data:`ncuroof.tables.WORKLOAD` of a launch with this annotation, without the source."""
        return {
            "op": self.op,
            "op_dtype": self.dtype,
            "op_shape": json.dumps(dict(self.values), sort_keys=True, separators=(",", ":")),
            "op_m": _index(self.values.get("m")),
            "op_n": _index(self.values.get("n")),
            "op_k": _index(self.values.get("k")),
            "op_label": self.label,
            "op_sweep": self.sweep,
            "useful_flop": self.useful_flop,
            "compulsory_bytes": self.compulsory_bytes,
            "compulsory_write_bytes": self.compulsory_write_bytes,
        }


def _index(value: object) -> int | None:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, bool) and 0 <= value < LARGEST else None  # type: ignore[call-overload,operator]


def parse(domain: str | None, name: str | None, payload: str | None = None) -> Annotation | None:
    """The annotation of one range, None for a range that is none.

    Raises:
        AnnotationError: if it was meant as one and cannot be used.
    """
    for text in (name, payload):
        if not text:
            continue
        text = text.strip()  # noqa: PLW2901
        if text.startswith(PREFIX):
            return from_json(text[len(PREFIX) :])
        if domain == DOMAIN and text.startswith("{"):
            return from_json(text)
        plain = _PLAIN.match(text) if len(text) <= LONGEST else None
        if plain and plain[1].lower() in operations():
            return _from_text(plain)
    return None


def parse_path(path: str) -> Annotation | None:
    """The innermost annotation in an ``nvtx_path`` text (``domain:range/range``), for inputs that keep only that.

    Raises:
        AnnotationError: if it was meant as one and cannot be used.
    """
    start = path.rfind(PREFIX + "{")
    if start >= 0:
        text = path[start + len(PREFIX) :]
        if len(text) > LONGEST:
            msg = f"longer than {LONGEST} characters"
            raise AnnotationError(msg)
        try:
            # Inner ranges without an annotation may follow the JSON.
            _, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            msg = f"no valid JSON: {_short(text)}"
            raise AnnotationError(msg) from None
        return from_json(text[:end])
    for segment in reversed(re.split(r"[/:]", path)):
        plain = _PLAIN.match(segment.strip()) if len(segment) <= LONGEST else None
        if plain and plain[1].lower() in operations():
            return _from_text(plain)
    return None


def from_json(text: str) -> Annotation:
    """The annotation that a JSON text holds.

    Raises:
        AnnotationError: saying what is wrong with it.
    """
    if len(text) > LONGEST:
        msg = f"longer than {LONGEST} characters"
        raise AnnotationError(msg)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        msg = f"no valid JSON: {_short(text)}"
        raise AnnotationError(msg) from None
    if not isinstance(body, dict):
        msg = f"no JSON object: {_short(text)}"
        raise AnnotationError(msg)
    return from_mapping(body)


def _from_text(plain: re.Match[str]) -> Annotation:
    body: dict[str, Any] = {"op": plain[1].lower()}
    for pair in plain[2].split():
        key, _, value = pair.partition("=")
        body[key.lower()] = number_or_text(value)
    if plain[3]:
        body["dtype"] = plain[3]
    return from_mapping(body)


def number_or_text(text: str) -> int | float | str:
    """A written value as a whole number, a number, or else as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def from_mapping(body: Mapping[str, Any]) -> Annotation:
    """The annotation that an object holds; sizes the operation does not know are kept in the shape and not used.

    Raises:
        AnnotationError: if ``op`` is missing, a value has no usable type, or a size is missing or impossible.
    """
    op = body.get("op")
    if not isinstance(op, str) or not op:
        msg = "op is missing or no text"
        raise AnnotationError(msg)
    wrong = [key for key, value in body.items() if not _usable(value)]
    if wrong:
        msg = f"{_short(wrong[0])} has a value that is no number, text or list of such"
        raise AnnotationError(msg)
    values = {key: value for key, value in body.items() if key not in FACTS and value is not None}
    stated = body.get("dtype", body.get("a"))
    known = dtype(str(stated)) if stated is not None else None
    first = body.get("a", stated)  # the path of a mixed product is that of its first operand
    if known:
        values["dtype"] = known.name
    flop, size = _override(body, "flops"), _override(body, "bytes")
    written: float | None = None
    remark = ""
    module = operations().get(op)
    if module is None:
        remark = f"no formula for operation {_short(op)}"
    else:
        usable = {k: v for k, v in values.items() if k in {*module.KEYS, *module.OPTIONAL, "dtype"}}
        try:
            counted = cost(op, usable)
        except ShapeError as error:
            # The program's own figures stand without the formula; without either, nothing can be said.
            if flop is None or size is None:
                raise AnnotationError(str(error)) from None
            remark = str(error)
        else:
            flop = counted.flop if flop is None else flop
            if size is None:
                size, written = counted.bytes, counted.written_bytes
    values.pop("dtype", None)
    return Annotation(
        op=op,
        values=values,
        dtype=_canonical(first),
        label=_text(body.get("label", body.get("name"))),
        sweep=_text(body.get("sweep")),
        instance=_text(body.get("id")),
        useful_flop=flop,
        compulsory_bytes=size,
        compulsory_write_bytes=written,
        remark=remark,
    )


def _canonical(stated: object) -> str | None:
    """An element type under its canonical name where it has one, else as written."""
    if stated is None:
        return None
    known = dtype(str(stated))
    return known.name if known else str(stated)


def _override(body: Mapping[str, Any], key: str) -> float | None:
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST**2:
        msg = f"{key} is {_short(str(value))}, expected a number that is not negative"
        raise AnnotationError(msg)
    return float(value)


def _usable(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return all(_usable(item) for item in value)
    return value is None or isinstance(value, str | int | bool)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
