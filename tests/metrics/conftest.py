"""Small built results, and the kernels of public reports with their raw metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ncuroof import inputs, metrics, readers, roofline, roofs, tables, workloads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Report:
    """A report, read whole: raw tables, and the kernels table made of them."""

    launches: pl.DataFrame
    metrics: pl.DataFrame
    kernels: pl.DataFrame

    def raw(self, index: int) -> dict[str, float]:
        """The numeric metrics of one result."""
        rows = self.metrics.filter(pl.col("result_index") == index).drop_nulls("value")
        return dict(zip(rows["metric"].cast(pl.String), rows["value"], strict=True))

    def kernel(self, index: int) -> dict[str, Any]:
        """One row of the kernels table."""
        return self.kernels.row(index, named=True)


def read(path: Path) -> Report:
    """Read a report through its own reader."""
    file = inputs.open_input(path)
    reader, why = readers.choose(file)
    chunks = list(reader.read(file, why, None).chunks)
    launches, rows = pl.concat([c.launches for c in chunks]), pl.concat([c.metrics for c in chunks])
    return Report(launches, rows, metrics.kernels_from(chunks))


def placed(kernels: pl.DataFrame) -> pl.DataFrame:
    """Kernels under the roofs that are attached to them by default."""
    known = workloads.annotate(kernels)
    return roofline.place(roofs.attach(known))


@pytest.fixture(scope="session")
def report(corpus: Path) -> Callable[[str], Report]:
    """Reads the report of the corpus whose name begins so; each once."""
    known: dict[str, Report] = {}

    def of(name: str) -> Report:
        if name not in known:
            (path,) = sorted((corpus / "reports").glob(f"{name}*"))
            known[name] = read(path)
        return known[name]

    return of


def launch(cc: str | None = None, index: int = 0, **columns: Any) -> pl.DataFrame:
    """One row of the launches table."""
    row: dict[str, Any] = {"source_sha256": "ab" * 32, "result_index": index, "kernel_name": "saxpy"}
    if cc is not None:
        row |= {"cc_major": int(cc.split(".")[0]), "cc_minor": int(cc.split(".")[1])}
    return tables.conform(pl.DataFrame([row | columns]), tables.LAUNCHES)


def long(values: dict[str, float | str | None], index: int = 0) -> pl.DataFrame:
    """Metrics of one result as rows of the metrics table."""
    rows = [
        {
            "source_sha256": "ab" * 32,
            "result_index": index,
            "metric": name,
            "value": value if isinstance(value, (int, float)) else None,
            "text": value if isinstance(value, str) else None,
        }
        for name, value in values.items()
    ]
    if not rows:
        return tables.empty(tables.METRICS)
    return tables.conform(pl.DataFrame(rows, infer_schema_length=None), tables.METRICS)


@pytest.fixture(scope="session")
def kernel_of() -> Callable[..., dict[str, Any]]:
    """Builds the kernels row of one launch from a few metrics."""

    def of(values: dict[str, float | str | None], cc: str | None = None, **columns: Any) -> dict[str, Any]:
        return metrics.build_kernels(launch(cc, **columns), long(values)).row(0, named=True)

    return of
