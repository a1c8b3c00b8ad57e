"""Records that pass between the stages: what a reader hands on, and what an analysis is made of.

A reader gives a :class:`RawReport`; :mod:`ncuroof.pipeline` turns any number of them into one :class:`Dataset`
(the kernels table), and a :class:`Dataset` into an :class:`Analysis` (placed kernels and findings), which the
reporters print.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


@dataclass(frozen=True)
class Source:
    """The file a report came from.

    Attributes:
        name: how the file is called in outputs: the path as given, without directories that would tell a user name.
        sha256: of the bytes of the file as it lies on disk, lower-case hex.
        size: in bytes, on disk.
        format: name of the reader that took it, such as ``ncu-rep``.
        recognised: why that reader took it, in a clause.
    """

    name: str
    sha256: str
    size: int
    format: str
    recognised: str


@dataclass(frozen=True)
class Note:
    """Something the user should know about an input that is no anomaly of a kernel.

    Attributes:
        kind: short kebab-case tag, such as ``undecoded-results`` or ``cut-file``.
        message: one sentence.
        source: name of the file it is about, or empty.
    """

    kind: str
    message: str
    source: str = ""


@dataclass
class Session:
    """Facts about the profiling session. Unknown is None.

    ``command_line``, ``host`` and ``executable`` are private: they are kept for a user who asks for them and never
    written to an output by default.
    """

    ncu_version: str | None = None
    cuda_version: str | None = None
    driver_version: str | None = None
    created_unix_s: int | None = None
    set_name: str | None = None
    command_line: str | None = field(default=None, repr=False)
    host: str | None = field(default=None, repr=False)
    executable: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Chunk:
    """A run of consecutive results of one report.

    Attributes:
        launches: one row per result, columns :data:`ncuroof.tables.LAUNCHES`.
        metrics: one row per result and metric, columns :data:`ncuroof.tables.METRICS` in that order
            (``metric`` and ``unit`` may be Categorical or Enum instead of String; row order is free).
        rules: Nsight Compute's own rule results, columns :data:`ncuroof.tables.NSIGHT_RULES`.
        instances: values per opcode, where the format stores them: one row per result, metric and opcode, columns
            source_sha256, result_index, metric, instance (String) and value (Float64).
    """

    launches: pl.DataFrame
    metrics: pl.DataFrame
    rules: pl.DataFrame
    instances: pl.DataFrame | None = None


@dataclass
class RawReport:
    """One input file as a reader gives it.

    ``chunks`` is consumed once and keeps memory bounded; ``notes`` and ``session`` are complete only after it is
    exhausted. A reader raises :class:`ncuroof.errors.InputError` from ``read`` or while ``chunks`` is consumed.
    """

    source: Source
    session: Session
    notes: list[Note]
    chunks: Iterator[Chunk]


@dataclass(frozen=True)
class Dataset:
    """Everything that was read, normalized: the kernels table of all inputs together.

    Attributes:
        kernels: one row per result; identity, quantities with their sources, workload.
        rules: Nsight Compute's own rule results.
        sources: one per input file.
        notes: what readers had to say.
    """

    kernels: pl.DataFrame
    rules: pl.DataFrame
    sources: tuple[Source, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Skip:
    """Kernels that a rule could not judge: how many, and which columns they lacked.

    ``missing`` maps a column name to the number of kernels that lacked it. Kernels lacking several count once for
    each in ``missing`` and once in ``count``.
    """

    code: str
    count: int
    missing: dict[str, int]


@dataclass(frozen=True)
class Analysis:
    """A dataset under its roofs, with what the rules found.

    Attributes:
        kernels: the dataset's kernels with the columns of :data:`ncuroof.tables.PLACEMENT` added, in input order; a
            column ``row`` (UInt32) numbers them from 0.
        findings: columns :data:`ncuroof.tables.ANOMALIES`, sorted by time at stake, largest first, nulls last.
        skips: per rule, the kernels it could not judge.
        dataset: where it came from.
        judged: per rule that ran, the number of kernels it judged.
        nsight: what Nsight Compute's own rules found and none of ours speaks of: columns
            :data:`ncuroof.tables.ANOMALIES`. None where these are among the findings, or were not looked at.
    """

    kernels: pl.DataFrame
    findings: pl.DataFrame
    skips: tuple[Skip, ...]
    dataset: Dataset
    judged: dict[str, int] = field(default_factory=dict)
    nsight: pl.DataFrame | None = None
