"""Writes docs/collect-transcript.md: what ``ncuroof collect`` prints, with the stand-in in place of ncu.

Run it from the source tree: ``python tests/standin/transcript.py``. Nothing on that page comes from a GPU.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "docs" / "collect-transcript.md"
PROGRAM = """
import sys, time
from ncuroof import annotate
for m in (1, 2, 4, 8, 64, 256, 512, 2048):
    with annotate.gemm(m=m, n=8192, k=8192, dtype="fp16", sweep="M sweep fp16"):
        time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
"""
CASES = (
    ("Success", "", ["--plan", "none", "-o", "sweep", "--", "python", "sweep.py"]),
    ("Dry run", "", ["--dry-run", "--tier", "bytes", "--cache", "both", "--", "python", "sweep.py"]),
    ("Counters refused", "no-permission", ["--plan", "none", "--", "python", "sweep.py"]),
    ("A GPU that ncu does not support", "unsupported-gpu", ["--plan", "none", "--", "python", "sweep.py"]),
    ("A metric that ncu does not know", "unknown-metric", ["--plan", "none", "--", "python", "sweep.py"]),
    ("Another tool holds the counters", "resource", ["--plan", "none", "--", "python", "sweep.py"]),
    ("Memory cannot be saved for replay", "replay-memory", ["--plan", "none", "--", "python", "sweep.py"]),
    ("ncu killed half-way", "killed", ["--plan", "none", "--", "python", "sweep.py"]),
    ("A report without kernels", "empty", ["--plan", "none", "--", "python", "sweep.py"]),
    ("No kernel profiled", "no-kernels", ["--plan", "none", "--", "python", "sweep.py"]),
    ("The program fails", "", ["--", "python", "sweep.py", "0", "7"]),
    ("Time limit", "", ["--plan", "none", "--timeout", "2", "--no-analyze", "--", "python", "sweep.py", "0.5"]),
    ("Ctrl-C", "", ["--plan", "none", "--no-analyze", "--", "python", "sweep.py", "0.5"]),
)


def main() -> None:
    about = (
        "Made by `python tests/standin/transcript.py` with the stand-in for `ncu`: it runs the program, measures "
        "nothing, and writes a report with the published times of an H100. **No line of this page comes from a GPU.**\n"
    )
    parts = ["# What `ncuroof collect` prints\n", about]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "bin").mkdir()
        for name, words in (("ncu", f'"{sys.executable}" "{HERE / "ncu.py"}"'), ("python", f'"{sys.executable}"')):
            (work / "bin" / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            (work / "bin" / name).chmod(0o755)
        (work / "sweep.py").write_text(PROGRAM)
        for title, mode, arguments in CASES:
            for path in work.glob("*-report*"):
                path.unlink()
            parts.append(f"## {title}\n\n```console\n{case(work, mode, arguments)}```\n")
    TARGET.write_text("\n".join(parts), encoding="utf-8")


def case(work: Path, mode: str, arguments: list[str]) -> str:
    environment = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}", "STANDIN": mode}
    process = subprocess.Popen(
        [sys.executable, "-m", "ncuroof", "collect", *arguments],
        cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if "0.5" in arguments and "--timeout" not in arguments:
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    lines = [line for line in output.splitlines() if not line.startswith(("Traceback", "  File", "    ~", "    time"))]
    text = "\n".join(lines).replace(f"{work}/bin/", "")
    return f"$ ncuroof collect {' '.join(arguments)}\n{text}\n$ echo $?\n{process.returncode}\n"


if __name__ == "__main__":
    main()
