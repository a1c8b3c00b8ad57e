"""One run, one answer: every export of the oracle gives what the report it was printed from gives.

The exports were printed by ncu from the public reports; what is compared, and how far a value may be off, is in
``compare.py`` and ``tolerance.py``. ``python benchmarks/oracle.py --faults 5`` shows what a failure here is about.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import CORPUS
from tests.oracle.compare import BAD, compare
from tests.oracle.exports import FORMS, form_of

ORACLE = CORPUS.parent / "oracle"
UNDER_WORK = set(FORMS) - {"summary-kernel.csv"}


@pytest.mark.parametrize(
    "form",
    [pytest.param(f, marks=pytest.mark.xfail(reason="being mended") if f in UNDER_WORK else ()) for f in FORMS],
)
def test_exports_give_what_their_reports_give(corpus: Path, form: str) -> None:
    if not ORACLE.is_dir():
        pytest.skip("the exports printed by ncu are not here (../shared/oracle); they are no part of the repository")
    reports = {p.stem: p for p in (corpus / "reports").iterdir()}
    exports = [p for p in sorted(ORACLE.iterdir()) if p.suffix == ".gz" and form_of(p) == form]
    assert exports
    faults, equal = [], 0
    for export in exports:
        outcome = compare(export, reports[export.name.removesuffix(f".{form}.gz")])
        equal += outcome.counts["equal"]
        faults += [f"{export.name}: {fault}" for fault in outcome.faults if fault.startswith(BAD)]
    assert not faults, "\n".join(faults[:20])
    assert equal > 100 * len(exports)
