"""What ncuroof gets out of each text file of a corpus: format, kernels, metrics, verdicts, or the reason for nothing.

    python benchmarks/corpus_text.py [FOLDER]

Prints one line per file and the two counts: files that gave kernels, files that gave a reason.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ncuroof import pipeline
from ncuroof.config import Config
from ncuroof.errors import NcuroofError
from ncuroof.inputs import open_input
from ncuroof.readers import choose

CORPUS = Path(__file__).resolve().parents[1] / ".." / "shared" / "corpus" / "text"


@dataclass(frozen=True)
class Row:
    """One file."""

    file: str
    reader: str
    kernels: int
    metrics: int
    notes: tuple[str, ...]
    said: str


def look(path: Path) -> Row:
    """Read one file, alone and through analyze."""
    reader = "-"
    try:
        file = open_input(path)
        chosen, why = choose(file)
        reader = chosen.NAME
        report = chosen.read(file, why, None)
        kernels = metrics = 0
        for chunk in report.chunks:
            kernels += chunk.launches.height
            metrics += chunk.metrics.height
        notes = tuple(n.kind for n in report.notes)
        analysis = pipeline.analyze(pipeline.load([path]), Config())
        verdicts = Counter(analysis.kernels["verdict"].to_list())
        codes = Counter(analysis.findings["code"].to_list())
        said = ", ".join(f"{n} {v}" for v, n in verdicts.most_common())
        said += f"; {analysis.findings.height} findings ({', '.join(c for c, _ in codes.most_common(4))})"
    except NcuroofError as error:
        return Row(path.name, reader, 0, 0, (), f"{type(error).__name__}: {str(error).removeprefix(path.name + ': ')}")
    return Row(path.name, reader, kernels, metrics, notes, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=CORPUS)
    folder = parser.parse_args().folder
    rows = [look(path) for path in sorted(folder.iterdir()) if path.is_file()]
    for row in rows:
        notes = f" [{', '.join(row.notes)}]" if row.notes else ""
        name = row.file if len(row.file) < 60 else f"{row.file[:28]}...{row.file[-28:]}"
        print(f"{name:60} {row.reader:18} {row.kernels:5} {row.metrics:7} {row.said}{notes}")
    print(f"{sum(r.kernels > 0 for r in rows)} files with kernels, {sum(r.kernels == 0 for r in rows)} with a reason")
    return 0


if __name__ == "__main__":
    sys.exit(main())
