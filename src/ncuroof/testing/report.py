"""Writes Nsight Compute reports (``.ncu-rep``) that ncuroof, and tools that know the format, can read."""

from __future__ import annotations

import operator
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncuroof.ncurep.container import KINDS, MAGIC
from ncuroof.ncurep.messages import message
from ncuroof.ncurep.nsight_rules import MESSAGE_TYPES, SPEEDUP_TYPES
from ncuroof.ncurep.nvtx import DEFAULT_DOMAIN
from ncuroof.ncurep.session import CITATION_FACT, ORIGIN_FACT, PUBLISHED_FACTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scalar = float | int | str | None
Size = tuple[int, int, int]
FORMAT_VERSION = 7
ATTRIBUTE = "device__attribute_"
_TYPE_NUMBERS = {name: number for number, name in MESSAGE_TYPES.items()}
_SPEEDUP_NUMBERS = {name: number for number, name in SPEEDUP_TYPES.items()}
_PAYLOAD_INT64, _PAYLOAD_DOUBLE = 2, 3


@dataclass(frozen=True)
class NvtxRange:
    """An NVTX push/pop range that is open while a kernel is launched.

    Attributes:
        name: message of the range.
        domain: name of its domain; the default domain if left out.
        payload: a number or text attached to it.
        category: category number.
        argb: colour as 0xAARRGGBB.
    """

    name: str
    domain: str = DEFAULT_DOMAIN
    payload: Scalar = None
    category: int | None = None
    argb: int | None = None


@dataclass(frozen=True)
class Focus:
    """A metric that a rule message points at."""

    metric: str
    value: float | None = None
    severity: int = 0
    info: str = ""


@dataclass(frozen=True)
class RuleItem:
    """One message of one of Nsight Compute's own rules.

    Attributes:
        rule_id: identifier, such as ``SOLBottleneck``.
        text: the message; None for a rule that ran and had nothing to say.
        message_type: none, ok, optimization, warning or error.
        speedup: ``("local" | "global", percent)``.
    """

    rule_id: str
    text: str | None
    rule_name: str = ""
    section_id: str = ""
    message_type: str = "warning"
    title: str | None = None
    speedup: tuple[str, float] | None = None
    focus: tuple[Focus, ...] = ()


@dataclass
class ReportBuilder:
    """Collects kernels and writes them as one report.

    Attributes:
        gpu: name of the device, as its driver gives it.
        cc: compute capability.
        attributes: device attributes, with or without the prefix ``device__attribute_``. As in real reports they are
            stored once with the session and repeated as metrics of every kernel.
        ncu_version: version of the tool that is said to have measured; None leaves it out, as in reports of 2019.
        command_line: ncu's command line; None leaves it out.
        origin: ``profiled``, or ``reconstructed`` for a report built from published figures. ncuroof shows the latter
            wherever it shows the report.
        citation: where the figures of a reconstructed report were published.
        clock_control, cache_control, replay_mode: for a reconstructed report, as published; None where not known.
        facts: further pairs of key and value for the session.
        created: Unix time of the session; fixed by default, so that equal input gives equal bytes.
    """

    gpu: str = "NVIDIA Imaginary GPU"
    cc: tuple[int, int] = (9, 0)
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    ncu_version: str | None = "2025.1.0.0"
    cuda_version: str | None = None
    driver_version: str | None = None
    command_line: str | None = None
    origin: str = "profiled"
    citation: str | None = None
    clock_control: str | None = None
    cache_control: str | None = None
    replay_mode: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    created: int = 1_700_000_000
    pid: int = 1000

    def __post_init__(self) -> None:
        self._strings: dict[str, int] = {}
        self._results: list[tuple[str, bytes]] = []
        self._device = {
            "display_name": self.gpu,
            "compute_capability_major": self.cc[0],
            "compute_capability_minor": self.cc[1],
            **{name.removeprefix(ATTRIBUTE): value for name, value in self.attributes.items()},
        }

    def kernel(
        self,
        name: str,
        metrics: Mapping[str, Scalar],
        *,
        grid: Size | None = None,
        block: Size | None = None,
        demangled: str | None = None,
        mangled: str | None = None,
        context: int | None = 1,
        stream: int | None = 7,
        nvtx: Sequence[NvtxRange] = (),
        rules: Sequence[RuleItem] = (),
        instances: Mapping[str, Sequence[tuple[Scalar, Scalar]]] | None = None,
        kind: str = "kernel",
        sections: Sequence[bytes] = (),
    ) -> ReportBuilder:
        """Add a result.

        Args:
            name: function name.
            metrics: name to value in base units (ns, byte, Hz, %): an int is stored as an integer, a float as a double,
                a str as text, None as a metric without a value.
            grid: blocks in x, y, z; stored in the result and as ``launch__grid_*`` metrics.
            block: threads in x, y, z; likewise.
            demangled: with arguments; left out if None, as in a seventh of real results.
            mangled: mangled name; the function name if None.
            nvtx: the ranges open at the launch, outermost first.
            rules: messages of Nsight Compute's own rules.
            instances: metric name to pairs of correlation id and value.
            kind: kernel, range, cmdlist or graph.
            sections: serialized section definitions.

        Returns:
            The builder itself.

        Raises:
            ValueError: for an integer that is negative or needs more than 64 bits, and for an unknown kind.
        """
        if kind not in [k for k, _ in KINDS]:
            msg = f"no kind of result is called {kind!r}"
            raise ValueError(msg)
        result = message("Result", "full")(pid=self.pid, call=len(self._results) + 1, function=name.encode(), kind=3)
        result.mangled = (mangled if mangled is not None else name).encode()
        result.demangled = (demangled or "").encode()
        result.created = self.created
        if context is not None:
            result.context = context
        if stream is not None:
            result.stream = stream
        values: dict[str, Scalar] = {f"{ATTRIBUTE}{key}": value for key, value in self._device.items()}
        values.update(_sizes(result, grid, block))
        values.update(metrics)
        for metric, value in values.items():
            entry = result.metrics.add(name_id=self._id(metric))
            if value is not None:
                _store(entry.value, value)
            for correlation, one in (instances or {}).get(metric, ()):
                instance = entry.instances.add()
                for stored_value, content in ((instance.id, correlation), (instance.value, one)):
                    if content is not None:
                        _store(stored_value, content)
        if nvtx:
            _nvtx(result.nvtx, nvtx, self.pid)
        for rule_id in dict.fromkeys(r.rule_id for r in rules):
            _rule(result.rules.add(), [r for r in rules if r.rule_id == rule_id])
        for section in sections:
            result.sections.add().MergeFromString(section)
        self._results.append((kind, result.SerializeToString()))
        return self

    def to_bytes(self, *, compress: bool = False) -> bytes:
        """The report; ``compress`` gives the content of a ``.ncu-repz`` file."""
        first = message("BlockHeader")(source_count=0, kernel_count=0, payload_size=0)
        first.process.pid = self.pid
        first.process.address = b"127.0.0.1"
        self._session(first.session)
        first.strings.strings.extend(string.encode() for string in self._strings)
        out = [MAGIC, _prefixed(message("FileHeader")(version=FORMAT_VERSION).SerializeToString())]
        out.append(_prefixed(first.SerializeToString()))
        attribute = dict(KINDS)
        for kind, result in self._results:
            entry = _prefixed(result)
            header = message("BlockHeader")(source_count=0, kernel_count=0, payload_size=len(entry))
            setattr(header, attribute[kind], 1)
            out += [_prefixed(header.SerializeToString()), entry]
        report = b"".join(out)
        if compress:
            import zstandard  # noqa: PLC0415  only for compressed reports

            return zstandard.ZstdCompressor().compress(report)
        return report

    def write(self, path: str | Path) -> Path:
        """Write the report; compressed where the name ends in ``.ncu-repz``."""
        path = Path(path)
        path.write_bytes(self.to_bytes(compress=path.suffix == ".ncu-repz"))
        return path

    def _id(self, string: str) -> int:
        return self._strings.setdefault(string, len(self._strings))

    def _session(self, session: Any) -> None:  # noqa: ANN401  protobuf messages have no static type
        session.created = self.created
        device = session.devices.add(index=0, name=self.gpu.encode())
        for name, value in self._device.items():
            if value is not None:
                _store(device.attributes.add(name=f"{ATTRIBUTE}{name}".encode()).value, value)
        pairs = {"CUDA Version": self.cuda_version, "Display Driver Version": self.driver_version}
        if self.ncu_version:
            pairs["Nsight Compute Target"] = f"{self.ncu_version} (build 0) (public-release)"
        if self.origin != "profiled":
            pairs[ORIGIN_FACT] = self.origin
            pairs[CITATION_FACT] = self.citation
            pairs.update((key, getattr(self, setting)) for setting, key in PUBLISHED_FACTS.items())
        for key, value in {**pairs, **self.facts}.items():
            if value is not None:
                session.facts.add(key=key.encode(), value=value.encode())
        if self.command_line is not None:
            session.command_line = self.command_line.encode()


def _sizes(result: Any, grid: Size | None, block: Size | None) -> dict[str, Scalar]:  # noqa: ANN401
    """Store grid and block in a result; gives the metrics that say the same."""
    values: dict[str, Scalar] = {}
    for what, size, stored in (("grid", grid, result.grid), ("block", block, result.block)):
        if size is not None:
            stored.x, stored.y, stored.z = size
            values.update((f"launch__{what}_dim_{axis}", n) for axis, n in zip("xyz", size, strict=True))
            values[f"launch__{what}_size"] = size[0] * size[1] * size[2]
    return values


def _store(value: Any, content: float | int | str) -> None:  # noqa: ANN401
    """Put ``content`` into a value message: text, double, or else an integer."""
    if isinstance(content, str):
        value.text = content.encode()
    elif isinstance(content, float):
        value.float64 = content
    else:
        number = operator.index(content)
        if not 0 <= number < 1 << 64:
            msg = f"{number} is not an unsigned integer of 64 bits; store it as a float"
            raise ValueError(msg)
        value.uint64 = number


def _nvtx(state: Any, ranges: Sequence[NvtxRange], thread: int) -> None:  # noqa: ANN401
    domains = {name: number for number, name in enumerate(dict.fromkeys([DEFAULT_DOMAIN, *(r.domain for r in ranges)]))}
    for name, number in domains.items():
        state.domains.add(id=number, name=name.encode())
    own = state.threads.add(id=thread)
    for name, number in domains.items():
        stack = own.domains.add(domain=number)
        for one in ranges:
            if one.domain != name:
                continue
            entry = stack.ranges.add(name=one.name.encode(), call=0)
            attributes = entry.attributes
            attributes.version = 2
            attributes.category = one.category or 0
            attributes.color.type = 0 if one.argb is None else 1
            attributes.color.argb = one.argb or 0
            attributes.payload = _payload(one.payload)
            attributes.message.type = 1
            attributes.message.text = one.name.encode()


def _payload(value: Scalar) -> bytes:
    """Type and value; the type numbers are those of the NVTX library."""
    if value is None:
        return b"\x08\x00"
    if isinstance(value, str):
        return b"\x08\x07" + _field(2, value.encode())
    if isinstance(value, int):
        return b"\x08\x02\x10" + _varint(value & (1 << 64) - 1)
    return b"\x08\x03\x19" + struct.pack("<d", value)


def _rule(entry: Any, items: Sequence[RuleItem]) -> None:  # noqa: ANN401
    head = items[0]
    entry.id = head.rule_id.encode()
    entry.name = (head.rule_name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", head.rule_id)).encode()
    entry.section = head.section_id.encode()
    for number, item in enumerate(items):
        if item.text is None:
            continue
        stored = entry.body.items.add()
        stored.message.text = item.text.encode()
        stored.message.type = _TYPE_NUMBERS[item.message_type]
        stored.message.id = number
        if item.title is not None:
            stored.message.title = item.title.encode()
        for focus in item.focus:
            one = stored.focus.add(message_id=number, name=focus.metric.encode(), severity=focus.severity)
            one.info = focus.info.encode()
            if focus.value is not None:
                one.value = focus.value
        if item.speedup is not None:
            kind, percent = item.speedup
            stored.speedup.type = _SPEEDUP_NUMBERS[kind]
            stored.speedup.percent = percent


def _prefixed(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])
