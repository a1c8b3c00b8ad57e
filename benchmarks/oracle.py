"""The same runs as reports and as exports of ncu, compared: ``python benchmarks/oracle.py [FOLDER] [--form FORM]``.

Prints one line for each form of export with how many comparisons came out how, and with ``--faults N`` the first N
faults of each file. What is compared and how: ``tests/oracle/compare.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.oracle.compare import OUTCOMES, compare  # noqa: E402  scripts find the tests only with the path above
from tests.oracle.exports import FORMS, form_of  # noqa: E402

ORACLE = ROOT.parent / "shared" / "oracle"


def main() -> int:
    """Compare, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ORACLE)
    parser.add_argument("--form", action="append", choices=FORMS, help="only this form; may be repeated")
    parser.add_argument("--file", default="", help="only files whose name holds this")
    parser.add_argument("--faults", type=int, default=0, help="faults to print of each file")
    options = parser.parse_args()
    reports = {p.stem: p for p in (options.folder.parent / "corpus" / "reports").iterdir()}
    counts: dict[str, Counter[str]] = {form: Counter() for form in options.form or FORMS}
    files: Counter[str] = Counter()
    for export in sorted(p for p in options.folder.iterdir() if p.suffix == ".gz"):
        form = form_of(export)
        if form not in counts or options.file not in export.name:
            continue
        outcome = compare(export, reports[export.name.removesuffix(f".{form}.gz")])
        counts[form] += outcome.counts
        files[form] += 1
        for fault in outcome.faults[: options.faults]:
            print(f"{export.name}: {fault}")
    width = max(len(o) for o in OUTCOMES)
    print(f"{'form':28}{'files':>6}" + "".join(f"{o:>{width + 1}}" for o in OUTCOMES))
    for form, found in counts.items():
        print(f"{form:28}{files[form]:6}" + "".join(f"{found[o]:{width + 1}}" for o in OUTCOMES))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
