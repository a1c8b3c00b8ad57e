"""Annotations on the kernels table: innermost wins, shared ranges count once, files and their faults."""

from __future__ import annotations

import json

import polars as pl
import pytest

from ncuroof import tables, workloads
from ncuroof.errors import InputError

GEMM = 'ncuroof:{"op":"gemm","m":8,"n":3584,"k":3584,"dtype":"bf16"}'
COPY = 'ncuroof:{"op":"copy","n":1000,"dtype":"fp32"}'
USEFUL, COMPULSORY = 205_520_896, 25_804_800


def ranges(*names: str, domain: str = "default"):
    return [
        {"domain": domain, "name": name, "payload": None, "category": None, "color": None, "thread": None}
        for name in names
    ]


def kernels(*rows: tuple, **more) -> pl.DataFrame:
    """Rows of (kernel name, duration, ranges or None)."""
    return pl.DataFrame(
        {
            "source_sha256": ["x"] * len(rows),
            "result_index": list(range(len(rows))),
            "kernel_name": [r[0] for r in rows],
            "duration_s": [r[1] for r in rows],
            "nvtx": [r[2] for r in rows],
            **more,
        },
        schema_overrides={"nvtx": pl.List(tables.NVTX_RANGE), "result_index": pl.UInt32, "duration_s": pl.Float64},
    )


def test_the_columns_are_those_of_the_table():
    out = workloads.annotate(kernels(("a", 1e-5, ranges(GEMM))))
    tables.check(out.select([c.name for c in tables.WORKLOAD]), tables.WORKLOAD, "workload")
    row = out.row(0, named=True)
    assert (row["op"], row["op_dtype"], row["op_m"], row["useful_flop"]) == ("gemm", "bf16", 8, USEFUL)
    assert (row["compulsory_bytes"], row["compulsory_write_bytes"]) == (COMPULSORY, 57_344)
    assert row["workload_source"] == "annotation"


def test_the_innermost_annotation_wins():
    out = workloads.annotate(
        kernels(("a", 1e-5, ranges("step", GEMM, "x", COPY, "aten::copy_")), ("b", 1e-5, ranges(GEMM, "aten::mm")))
    )
    assert out["op"].to_list() == ["copy", "gemm"]


def test_an_innermost_annotation_that_cannot_be_used_does_not_fall_back():
    out, notes = workloads.annotate_with_notes(kernels(("a", 1e-5, ranges(GEMM, "ncuroof:{broken"))))
    assert out["op"].to_list() == [None]
    assert out["workload_source"].to_list() == [None]
    (note,) = notes
    assert note.kind == "bad-annotation"
    assert "no valid JSON" in note.message


def test_a_report_full_of_bad_annotations_gives_few_notes():
    frame = kernels(*[("a", 1e-5, ranges(f"ncuroof:{{{i}")) for i in range(50)], source=["r.ncu-rep"] * 50)
    _, notes = workloads.annotate_with_notes(frame)
    assert len(notes) == 6
    assert notes[-1].message.startswith("45 more")
    assert {note.source for note in notes} == {"r.ncu-rep"}


def test_launches_without_ranges_are_null():
    out, notes = workloads.annotate_with_notes(kernels(("a", 1e-5, None), ("b", 1e-5, []), ("c", 1e-5, ranges("x"))))
    assert out["op"].null_count() == 3
    assert notes == []
    assert workloads.annotate(pl.DataFrame({"kernel_name": ["a"]}))["useful_flop"].to_list() == [None]
    assert workloads.annotate(kernels(("a", 1e-5, ranges(GEMM))).clear()).height == 0


def test_the_path_text_serves_where_there_is_no_structure():
    frame = pl.DataFrame({"kernel_name": ["a", "b"], "nvtx_path": [f"default:step/{GEMM}", None]})
    assert workloads.annotate(frame)["useful_flop"].to_list() == [USEFUL, None]


def test_split_k_and_its_reduction_count_once():
    """Two launches in one range, passed twice: the product is the long one, the reduction has no useful work."""
    pair = [("gemm", 4e-6, ranges(GEMM)), ("splitKreduce", 1e-6, ranges(GEMM))]
    frame = workloads.annotate(kernels(*pair, *pair))
    assert frame["useful_flop"].to_list() == [USEFUL, None, USEFUL, None]
    assert frame["compulsory_bytes"].to_list() == [COMPULSORY, None, COMPULSORY, None]
    assert frame["op"].to_list() == ["gemm"] * 4
    shared = workloads.shared_ranges(frame)
    assert shared["range_launches"].to_list() == [2, 2, 2, 2]
    assert shared["range_instance"].n_unique() == 2


def test_repeated_launches_of_one_kernel_are_instances_of_their_own():
    frame = workloads.annotate(kernels(*[("gemm", 4e-6, ranges(GEMM))] * 3))
    assert frame["useful_flop"].to_list() == [USEFUL] * 3
    assert workloads.shared_ranges(frame)["range_launches"].to_list() == [1, 1, 1]


def test_an_id_settles_what_belongs_together():
    """One instance that launches the same kernel twice, then another one."""
    first, second = (GEMM[:-1] + f',"id":{n}}}' for n in (1, 2))
    frame = workloads.annotate(
        kernels(("gemm", 4e-6, ranges(first)), ("gemm", 5e-6, ranges(first)), ("gemm", 4e-6, ranges(second)))
    )
    assert frame["useful_flop"].to_list() == [None, USEFUL, USEFUL]
    assert workloads.shared_ranges(frame)["range_launches"].to_list() == [2, 2, 1]


def test_a_composite_is_no_single_kernels_work():
    text = 'ncuroof:{"op":"attention","batch":1,"heads":2,"q_len":8,"kv_len":8,"head_dim":16,"dtype":"fp16"}'
    parts = kernels(("qk", 1e-6, ranges(text)), ("softmax", 2e-6, ranges(text)), ("pv", 1e-6, ranges(text)))
    assert workloads.annotate(parts)["useful_flop"].to_list() == [None] * 3
    assert workloads.annotate(kernels(("flash", 1e-6, ranges(text))))["useful_flop"].to_list() == [8_192]


def test_ranges_of_different_files_are_not_shared():
    frame = kernels(("gemm", 4e-6, ranges(GEMM)), ("reduce", 1e-6, ranges(GEMM))).with_columns(
        source_sha256=pl.Series(["x", "y"])
    )
    assert workloads.shared_ranges(workloads.annotate(frame))["range_launches"].to_list() == [1, 1]


def test_an_unmarked_launch_between_two_separates_them():
    frame = kernels(("gemm", 4e-6, ranges(GEMM)), ("other", 1e-6, None), ("reduce", 1e-6, ranges(GEMM)))
    assert workloads.shared_ranges(workloads.annotate(frame))["range_launches"].to_list() == [1, None, 1]


def lines(tmp_path, *objects):
    path = tmp_path / "shapes.jsonl"
    path.write_text("\n".join(o if isinstance(o, str) else json.dumps(o) for o in objects), encoding="utf-8")
    return path


SHAPE = {"op": "gemm", "m": 8, "n": 8, "k": 8, "dtype": "fp16"}


@pytest.mark.parametrize(
    ("match", "rows"),
    [
        ({"kernel": "^gemm$"}, [0, 2]),
        ({"kernel": "gemm", "order": 1}, [2]),
        ({"index": 1}, [1]),
        ({"nvtx": "layer/q"}, [1]),
        ({"source": "b.ncu-rep"}, [2]),
        ({"kernel": "gemm", "index": 1}, []),
    ],
)
def test_a_file_says_which_launches_it_is_about(tmp_path, match, rows):
    frame = kernels(
        ("gemm", 1e-5, None), ("copy", 1e-5, None), ("gemm", 1e-5, None),
        nvtx_path=[None, "d:layer/q_proj", None], source=["a.ncu-rep", "a.ncu-rep", "b.ncu-rep"],
    )  # fmt: skip
    out, notes = workloads.annotate_with_notes(frame, lines(tmp_path, "# shapes", {"match": match, **SHAPE}, ""))
    assert [i for i, op in enumerate(out["op"]) if op] == rows
    assert [i for i, s in enumerate(out["workload_source"]) if s == "file"] == rows
    assert [n.kind for n in notes] == ([] if rows else ["annotation-unused"])


def test_the_first_line_that_fits_decides_and_files_go_before_ranges(tmp_path):
    path = lines(
        tmp_path,
        {"match": {"kernel": "gemm"}, **SHAPE},
        {"match": {"kernel": "."}, "op": "copy", "n": 8, "dtype": "fp32"},
    )
    out = workloads.annotate(kernels(("gemm", 1e-5, ranges(COPY)), ("other", 1e-5, None)), path)
    assert out["op"].to_list() == ["gemm", "copy"]
    assert out["useful_flop"].to_list() == [1024, 0]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "no valid JSON"),
        ("[]", "no object"),
        ('{"op":"copy","n":8,"dtype":"fp32"}', 'no "match"'),
        ('{"match":{},"op":"copy"}', 'no "match"'),
        ('{"match":{"name":"x"},"op":"copy"}', "it may hold"),
        ('{"match":{"index":1.5},"op":"copy","n":8,"dtype":"fp32"}', "whole number"),
        ('{"match":{"index":true},"op":"copy","n":8,"dtype":"fp32"}', "whole number"),
        ('{"match":{"kernel":5},"op":"copy","n":8,"dtype":"fp32"}', "no text"),
        ('{"match":{"kernel":"("},"op":"copy","n":8,"dtype":"fp32"}', "regular expression"),
        ('{"match":{"kernel":"x"},"op":"gemm","m":8}', "cannot be used"),
    ],
)
def test_faulty_lines_are_named_with_their_number(tmp_path, line, says):
    good = {"match": {"kernel": "zzz"}, **SHAPE}
    with pytest.raises(InputError) as caught:
        workloads.annotate(kernels(("gemm", 1e-5, None)), lines(tmp_path, good, line))
    assert "line 2" in str(caught.value)
    assert says in str(caught.value)


def test_a_file_that_is_no_text_or_not_there(tmp_path):
    path = tmp_path / "shapes.jsonl"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="UTF-8"):
        workloads.annotate(kernels(("gemm", 1e-5, None)), path)
    with pytest.raises(InputError, match="no such file"):
        workloads.annotate(kernels(("gemm", 1e-5, None)), tmp_path / "none.jsonl")


def test_a_regular_expression_cannot_hang(tmp_path):
    """Exponential for a backtracking engine; the engine used here takes linear time."""
    path = lines(tmp_path, {"match": {"kernel": "(a+)+$"}, **SHAPE})
    assert workloads.annotate(kernels(("a" * 5000 + "!", 1e-5, None)), path)["op"].to_list() == [None]
