"""The protobuf messages of a report, built in code: no compiler, no generated file.

Two families of descriptors describe the same bytes:

* ``ncuroof.fast``: what a reader needs. A metric stays undecoded bytes (most of a report is metrics, and
  :mod:`ncuroof.ncurep.scalars` decodes them in bulk), and section definitions (field 17, repeated in every result)
  are not declared at all.
* ``ncuroof.full``: every field that is known, for the writer in :mod:`ncuroof.testing` and for measuring.

All text is declared as ``bytes``: host names hold NULs, and nothing guarantees valid UTF-8. Field numbers are facts of
the file format; message and field names are ours.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_SCALAR = {
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
    "u64": descriptor_pb2.FieldDescriptorProto.TYPE_UINT64,
    "double": descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE,
    "float": descriptor_pb2.FieldDescriptorProto.TYPE_FLOAT,
}

# message: one "number name type" per field; a type that ends in * is repeated, a capitalized one is another message.
_SHARED = {
    "FileHeader": "1 version u64",
    "BlockHeader": """1 source_count u64; 2 kernel_count u64; 3 session Session; 4 strings StringTable;
        5 payload_size u64; 6 process Process; 7 range_count u64; 8 cmdlist_count u64; 9 graph_count u64;
        10 topology_count u64""",
    "StringTable": "1 strings bytes*",
    "Process": "1 pid u64; 2 address bytes; 3 executable bytes",
    "Session": """2 created u64; 3 host Machine; 4 target Machine; 6 devices Device*; 8 facts Fact*; 9 launch Launch;
        10 options Options; 11 command_line bytes""",
    "Machine": "1 os bytes; 2 os_version bytes; 3 cpu bytes; 4 arch bytes; 5 name bytes; 6 kind u64",
    "Device": "1 index u64; 2 name bytes; 3 attributes Attribute*",
    "Attribute": "1 name bytes; 2 value Value",
    "Fact": "1 key bytes; 2 value bytes",
    "Launch": "1 executable bytes; 2 directory bytes; 4 environment bytes",
    "Options": "4 activity bytes; 8 clock_control bytes; 11 replay_mode bytes",
    "Value": "1 text bytes; 2 float32 float; 3 float64 double; 4 uint32 u64; 5 uint64 u64",
    "Size": "1 x u64; 2 y u64; 3 z u64",
    "Instance": "1 id Value; 2 value Value",
    "MetricParts": "1 name_id u64; 2 value Value; 3 instances Instance*; 4 series u64",
    "MetricScalar": "1 name_id u64; 2 value Value",
    "SourceRef": "1 id u64",
    "RuleResult": "1 id bytes; 2 name bytes; 3 body RuleBody; 4 section bytes",
    "RuleBody": "1 items RuleItem*",
    "RuleItem": "1 message RuleMessage; 8 focus Focus*; 10 speedup Speedup",
    "RuleMessage": "1 text bytes; 2 type u64; 3 id u64; 4 title bytes",
    "Focus": "1 message_id u64; 2 name bytes; 3 value double; 4 severity u64; 5 info bytes",
    "Speedup": "1 type u64; 2 percent double",
    "NvtxState": "1 domains NvtxDomain*; 2 threads NvtxThread*; 3 processes bytes*",
    "NvtxDomain": "1 id u64; 2 name bytes",
    "NvtxThread": "1 id u64; 2 domains NvtxStack*",
    "NvtxStack": "1 domain u64; 3 ranges NvtxRange*",
    "NvtxRange": "1 name bytes; 2 attributes NvtxAttributes; 3 call u64",
    "NvtxAttributes": "1 version u64; 2 category u64; 3 color NvtxColor; 4 payload bytes; 5 message NvtxMessage",
    "NvtxColor": "1 type u64; 2 argb u64",
    "NvtxMessage": "1 type u64; 2 text bytes",
    "GraphNode": "1 graph u64; 2 unique_id u64; 3 node u64",
    "CallStack": "1 frames Frame*",
    "Frame": "1 module bytes; 2 address u64; 3 file bytes; 4 symbol bytes; 5 line u64",
    "Source": "1 id u64; 4 cubin bytes; 5 cc_major u64; 6 cc u64; 9 functions bytes",
}
_RESULT = """1 pid u64; 2 call u64; 5 mangled bytes; 6 function bytes; 7 demangled bytes; 8 kind u64; 9 offset Size;
    10 grid Size; 11 block Size; {metrics}; 14 created u64; 15 source SourceRef; 16 zero u64; 19 rules {rule}*;
    21 nvtx {nvtx}; 22 context u64; 23 stream u64; 35 driver_version float"""
_SECTION = {
    "Section": """1 id bytes; 2 name bytes; 3 order u64; 4 header SectionHeader; 5 bodies bytes*;
        6 extra SectionMetrics; 7 description bytes; 8 sets bytes*; 9 parent bytes; 10 formulas bytes;
        11 filter bytes; 12 groups bytes; 13 source_metrics bytes""",
    "SectionHeader": "1 rows u64; 2 metrics SectionMetric*",
    "SectionMetrics": "1 metrics SectionMetric*",
    "SectionMetric": """1 name bytes; 2 label bytes; 5 unit bytes; 6 filter bytes; 7 alternatives SectionMetric*;
        9 group bytes""",
}
# A rule result and an NVTX state stay bytes in the fast family: the same bytes recur in result after result, and many
# callers want neither.
_FAMILIES = {
    "fast": {**_SHARED, "Result": _RESULT.format(metrics="13 metrics bytes*", rule="bytes", nvtx="bytes")},
    "full": {
        **_SHARED,
        **_SECTION,
        "Result": _RESULT.format(
            metrics="13 metrics MetricParts*; 17 sections Section*", rule="RuleResult", nvtx="NvtxState"
        )
        + "; 28 stack CallStack; 37 graph_node GraphNode",
    },
}


@cache
def _classes(family: str) -> dict[str, Any]:
    """Message name to class."""
    package = f"ncuroof.{family}"
    file = descriptor_pb2.FileDescriptorProto(name=f"ncuroof/{family}.proto", package=package, syntax="proto2")
    for name, fields in _FAMILIES[family].items():
        message = file.message_type.add(name=name)
        for field in fields.split(";"):
            number, field_name, kind = field.split()
            entry = message.field.add(name=field_name, number=int(number))
            entry.label = (
                descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
                if kind.endswith("*")
                else descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
            )
            kind = kind.rstrip("*")
            if kind in _SCALAR:
                entry.type = _SCALAR[kind]
            else:
                entry.type = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
                entry.type_name = f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in _FAMILIES[family]
    }


def message(name: str, family: str = "fast") -> Any:  # noqa: ANN401  protobuf classes have no static type
    """The class of a message: ``message("Result").FromString(data)``.

    Args:
        name: one of the messages above, such as ``BlockHeader`` or ``Result``.
        family: ``fast`` or ``full``; see the module's documentation.
    """
    return _classes(family)[name]
