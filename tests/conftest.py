"""Fixtures for all tests: the corpus of public reports, where it is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
SAMPLES = ROOT / "sample_reports"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of public reports; tests that need it are skipped where it is absent."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of public reports is not here (../shared/corpus); it is not part of the repository")
    return CORPUS
