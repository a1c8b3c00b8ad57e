"""Results decoded in step and results decoded one by one give the same tables: public reports, and built mixed ones."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from ncuroof.errors import NcuroofError
from ncuroof.inputs import open_input
from ncuroof.metrics import required_metrics
from ncuroof.ncurep import results, spans
from ncuroof.readers import ncu_rep
from ncuroof.testing import NvtxRange, ReportBuilder, RuleItem

CORPUS = Path("../shared/corpus/reports")
WANTS = (None, frozenset(required_metrics()))
# Row order is free within these tables; so they are compared in one of their own.
KEYS = {"metrics": ["result_index", "metric"], "instances": ["result_index", "metric", "instance"]}
NEVER = 1 << 30


def tables(path: Path, want: frozenset[str] | None) -> dict[str, pl.DataFrame]:
    file = open_input(path)
    chunks = list(ncu_rep.read(file, "test", want).chunks)
    frames = {name: [f for c in chunks if (f := getattr(c, name)) is not None] for name in ("launches", "rules", *KEYS)}
    whole = {name: pl.concat(parts) for name, parts in frames.items() if parts}
    return {name: frame.sort(KEYS[name]) if name in KEYS else frame for name, frame in whole.items()}


def assert_same_both_ways(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    for want in WANTS:
        monkeypatch.setattr(spans, "WORTHWHILE", NEVER)
        slow = tables(path, want)
        monkeypatch.setattr(spans, "WORTHWHILE", 1)
        fast = tables(path, want)
        assert fast.keys() == slow.keys()
        for name, frame in slow.items():
            assert_frame_equal(fast[name], frame, check_exact=True)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the public reports are not here (../shared/corpus/reports)")
def test_public_reports_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    in_step = results._in_step
    done = []

    def counting(*arguments: object) -> object:
        batch = in_step(*arguments)  # type: ignore[arg-type]
        done.append(batch is not None)
        return batch

    monkeypatch.setattr(results, "_in_step", counting)
    compared = 0
    for path in sorted(CORPUS.iterdir()):
        try:
            list(ncu_rep.read(open_input(path), "test", None).chunks)
        except NcuroofError:
            continue
        done.clear()
        assert_same_both_ways(monkeypatch, path)
        assert done, path
        assert all(done), f"{path.name} has results that do not go in step"
        compared += 1
    assert compared > 40


@pytest.mark.parametrize("seed", range(4))
def test_mixed_layouts_both_ways(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int) -> None:
    """Results that differ in metrics, their order, kinds and sizes, instances, rules and NVTX."""
    random = Random(seed)  # noqa: S311
    names = sorted(required_metrics())[::7] + [f"sm__made_up_{i}.sum" for i in range(150)]
    number, integer = random.random, lambda: random.randrange(1 << random.randrange(1, 64))
    kinds = (number, integer, lambda: "text " * random.randrange(60))
    report = ReportBuilder(gpu="NVIDIA A100-SXM4-40GB")
    for k in range(90):
        kept = [m for m in names if random.random() < 0.9]
        if k % 3 == 0:
            random.shuffle(kept)
        report.kernel(
            f"kernel_{k % 7}",
            {m: kinds[0 if k % 2 else random.randrange(3)]() for m in kept},
            grid=(k + 1, 2, 1),
            block=(128, 1, 1),
            nvtx=[NvtxRange(f"step {k}")] * (k % 3),
            rules=[RuleItem(f"Rule{r}", f"text {k % 5}") for r in range(k % 4)],
            instances={m: [(a, a) for a in range(random.randrange(40))] for m in kept[:3]},
            sections=[b"\x0a\x01s"] * (k % 5),
        )
    path = report.write(tmp_path / "mixed.ncu-rep")
    assert_same_both_ways(monkeypatch, path)
    assert tables(path, None)["launches"].height == 90
