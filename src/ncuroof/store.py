"""Reads and writes ncuroof's Parquet tables; the only Parquet I/O.

A stored data set is a folder with ``kernels.parquet``, ``metrics.parquet`` and ``nsight_rules.parquet``, or, under one
name, ``NAME.parquet`` (the kernels), ``NAME.metrics.parquet`` and ``NAME.nsight_rules.parquet``. The kernels table
alone is enough for every analysis; the other two keep what the report held besides.

Files are written under a temporary name beside their destination and renamed when all are whole, so a reader never
sees half a data set. Each file carries the schema version, ncuroof's version and the sources in its metadata.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof import __version__, inputs, outputs, tables
from ncuroof.errors import DamagedError, InputError, NcuroofError, UsageError
from ncuroof.metrics import kernel_columns
from ncuroof.model import Note, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

MAGIC = b"PAR1"
TABLES = ("kernels", "metrics", "nsight_rules")
_KEY = "ncuroof"


def stored_columns() -> tuple[tables.Column, ...]:
    """Columns of a stored kernels table: launches, quantities with their sources, workload, program."""
    return (*kernel_columns(), *tables.WORKLOAD, *tables.PROGRAM)


def paths_for(target: Path) -> dict[str, Path]:
    """Where the tables of a data set lie: in a folder, or beside each other under the name of a ``.parquet`` file."""
    if target.suffix == ".parquet":
        return {
            table: target if table == "kernels" else target.with_name(f"{target.stem}.{table}.parquet")
            for table in TABLES
        }
    return {table: target / f"{table}.parquet" for table in TABLES}


class Writer:
    """Writes one data set, chunk by chunk, and makes it visible only when it is complete.

    Use as a context manager: leaving it normally publishes the files, leaving it by an exception removes them.
    """

    def __init__(self, target: Path) -> None:
        self._paths = paths_for(target.resolve() if target.is_symlink() else target)
        self._temporary = {t: outputs.beside(p) for t, p in self._paths.items()}
        self._writers: dict[str, Any] = {}
        self._made_folder = False

    def __enter__(self) -> Writer:
        folder = self._paths["kernels"].parent
        for path in self._paths.values():
            if path.exists() and not path.is_file():
                msg = f"cannot write {inputs.display_name(path)}: it is no regular file"
                raise UsageError(msg)
        try:
            if not folder.exists():
                folder.mkdir(parents=True)
                self._made_folder = True
        except OSError as error:
            msg = f"cannot create the folder {folder.name} ({error.strerror})"
            raise UsageError(msg) from error
        return self

    def write(self, table: str, frame: pl.DataFrame) -> None:
        """Append rows to one of :data:`TABLES`."""
        import pyarrow.parquet as pq  # noqa: PLC0415  only needed when something is written

        if frame.is_empty() and table in self._writers:
            return
        # Readers may give names as categories of their own; Parquet keeps a dictionary of them anyway.
        arrow = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).to_arrow()
        try:
            if table not in self._writers:
                self._writers[table] = pq.ParquetWriter(self._temporary[table], arrow.schema, compression="zstd")
            self._writers[table].write_table(arrow.cast(self._writers[table].schema))
        except OSError as error:
            msg = f"cannot write {self._paths[table].name} ({error.strerror or error})"
            raise UsageError(msg) from error

    def provenance(self, sources: Iterable[Source], notes: Iterable[Note]) -> None:
        """State where the rows came from; goes into the metadata of every table."""
        text = json.dumps(
            {
                "schema_version": tables.SCHEMA_VERSION,
                "ncuroof_version": __version__,
                "sources": [asdict(s) for s in sources],
                "notes": [asdict(n) for n in notes],
            },
            ensure_ascii=False,
        )
        for table, writer in self._writers.items():
            writer.add_key_value_metadata({_KEY: text, f"{_KEY}.table": table})

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for writer in self._writers.values():
            with contextlib.suppress(OSError) if kind else contextlib.nullcontext():
                writer.close()
        if kind is None:
            for table in self._writers:
                self._temporary[table].replace(self._paths[table])
            return
        for path in self._temporary.values():
            outputs.discard(path)
        if self._made_folder:
            with contextlib.suppress(OSError):
                self._paths["kernels"].parent.rmdir()


def is_dataset(path: Path) -> bool:
    """Whether a folder holds a stored data set."""
    return (path / "kernels.parquet").is_file()


def read(path: Path, name: str) -> tuple[pl.DataFrame, pl.DataFrame, list[Source], list[Note]]:
    """Read a stored data set back.

    Args:
        path: the folder, or the kernels file.
        name: how to call it in messages.

    Returns:
        The kernels (columns :func:`stored_columns`), Nsight's rule results, the sources and the notes.

    Raises:
        InputError: when it is no table of ncuroof, or of another schema version.
        DamagedError: when a file cannot be read as Parquet.
    """
    kernels_path = path / "kernels.parquet" if path.is_dir() else path
    meta = _metadata(kernels_path, name)
    table = meta.pop("table", "")
    if table != "kernels":
        raise InputError(name, f"ncuroof's {table} table", "Give the kernels table, or the folder of the data set.")
    kernels = _read_table(kernels_path, name)
    found = str(meta["schema_version"])
    if found.partition(".")[0] != tables.SCHEMA_VERSION.partition(".")[0]:
        raise InputError(
            name,
            f"tables of schema version {found}, this ncuroof reads {tables.SCHEMA_VERSION}",
            "Ingest the reports again with this version.",
        )
    sources = [Source(**s) for s in meta["sources"]]
    notes = [Note(**n) for n in meta["notes"]]
    names = {c.name for c in stored_columns()}
    kernels = tables.conform(kernels.select(c for c in kernels.columns if c in names), stored_columns())
    siblings = paths_for(path)
    rules_path = siblings["nsight_rules"]
    rules = tables.empty(tables.NSIGHT_RULES)
    if rules_path.is_file():
        rules = tables.conform(_read_table(rules_path, name), tables.NSIGHT_RULES)
    return kernels, rules, sources, notes


def read_metrics(path: Path, name: str, metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """The metrics table of a stored data set, or the named metrics of it; empty where it was not kept."""
    where = paths_for(path)["metrics"]
    if not where.is_file():
        return tables.empty(tables.METRICS)
    frame = _read_table(where, name)
    if metrics is not None:
        frame = frame.filter(pl.col("metric").cast(pl.String).is_in(list(metrics)))
    return tables.conform(frame, tables.METRICS)


def _metadata(path: Path, name: str) -> dict[str, Any]:
    with _as_damage(name):
        raw = pl.read_parquet_metadata(path)
    if _KEY not in raw:
        raise InputError(
            name,
            "a Parquet file that ncuroof did not write",
            "Ingest the report itself: `ncuroof ingest FILE -o DIR`.",
        )
    try:
        return dict(json.loads(raw[_KEY])) | {"table": raw.get(f"{_KEY}.table", "")}
    except ValueError as error:
        raise DamagedError(name, "metadata that is not JSON", "Ingest the reports again.") from error


def _read_table(path: Path, name: str) -> pl.DataFrame:
    with _as_damage(name):
        return pl.read_parquet(path)


@contextlib.contextmanager
def _as_damage(name: str) -> Iterator[None]:
    try:
        yield
    except NcuroofError:
        raise
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DamagedError(name, f"a damaged Parquet file ({first})", "Ingest the reports again.") from error


def arrow_schema(columns: Sequence[tables.Column]) -> pa.Schema:
    """The Arrow schema of a column list, for readers outside ncuroof."""
    return tables.empty(columns).to_arrow().schema
