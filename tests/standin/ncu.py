"""A stand-in for ncu, for tests on machines without a GPU. It measures nothing.

It understands the options that ncuroof uses, refuses others as ncu does, really runs the command, takes the kernels
from the annotations that the command pushes (see :mod:`ncuroof.annotate`), and writes a report with ncuroof's own
writer. ``STANDIN`` makes it fail: no-permission, unsupported-gpu, unknown-metric, resource, no-driver, unheard-of,
killed, empty, no-report, no-kernels, replay-memory, collective-hang. ``STANDIN_VERSION`` sets its version.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import device

from ncuroof.collect import _data
from ncuroof.collect.ncu import Version

VERSION = os.environ.get("STANDIN_VERSION", "2025.1.0.0")
MODE = os.environ.get("STANDIN", "")
FLAGS = {name for name, option in _data.toml("options.toml")["option"].items() if option.get("flag")}
KNOWN = {
    name: option
    for name, option in _data.toml("options.toml")["option"].items()
    if Version.parse(VERSION) >= Version.parse(option["since"])
}
SAYS = {
    "no-permission": "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
    "Counters on the target device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM",
    "unsupported-gpu": "==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer "
    "--list-chips option.",
    "resource": "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like "
    "DCGM) is concurrently collecting profiling data.",
    "replay-memory": "==ERROR== Failed to save memory for replay.",
    "no-driver": "==ERROR== Failed to connect to the CUDA driver.\n"
    "==ERROR== The application returned an error code (1).",
    "unheard-of": "==ERROR== The flux capacitor is out of sync (code 88).\n"
    "==ERROR== The application returned an error code (1).",
}


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def parse(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Options by name, and the program."""
    options: dict[str, list[str]] = {}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        name, _, value = rest.pop(0).partition("=")
        if name not in KNOWN:
            say(f"unrecognised option '{name}'. Use --help for further details.")
            sys.exit(1)
        if name in FLAGS:
            options[name] = []
            continue
        value = value or (rest.pop(0) if rest else "")
        values = [v if isinstance(v, str) else v["value"] for v in KNOWN[name].get("values", [])]
        if values and value not in values:
            say(f"==ERROR== the argument ('{value}') for option '{name}' is invalid.")
            sys.exit(1)
        options.setdefault(name, []).append(value)
    return options, rest


def metrics_of_chip() -> list[str]:
    header, *rows = (line.split(",") for line in _data.text("metrics.csv").splitlines())
    column = header.index("9.0")
    table = [row[0] for row in rows if row[column] == "1"]
    groups = _data.toml("tiers.toml")["group"].values()
    listed = {name.split(".")[0] for group in groups for name in flatten(group)}
    elsewhere = {row[0] for row in rows} - set(table)
    return sorted({*table, *(listed - elsewhere)})


def flatten(entries):
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from flatten(entry)


def query() -> None:
    say(f"Device {device.NAME} ({device.CHIP})")
    say("-" * 60)
    for name in metrics_of_chip():
        if not name.startswith("launch__"):
            say(f"{name:<70} Counter  a metric")


class Run:
    """Runs the program and follows its annotations."""

    def __init__(self, options: dict[str, list[str]], program: list[str]) -> None:
        self.options = options
        self.program = program
        self.kernels: list[device.Kernel] = []
        self.seen = 0
        self.skipped = 0
        self.stopped = False
        self.metrics = [m for text in options.get("--metrics", []) for m in text.split(",")]
        self.cold = options.get("--cache-control", ["all"])[0] == "all"
        work = any("sass" in m or "ops_path" in m for m in self.metrics)
        self.passes = 20 if "--section" in options else 3 if work else 1
        self.log = Path(tempfile.mkdtemp()) / "annotations.jsonl"

    def start(self) -> subprocess.Popen:
        environment = {**os.environ, "NCUROOF_ANNOTATION_LOG": str(self.log)}
        self.log.touch()
        process = subprocess.Popen(self.program, env=environment)
        say(f"==PROF== Connected to process {process.pid} ({self.program[0]})")
        signal.signal(signal.SIGINT, lambda *_: self.stop(process))
        return process

    def stop(self, process: subprocess.Popen) -> None:
        self.stopped = True
        say("==WARNING== Received signal, trying to shutdown target application")
        process.terminate()

    def follow(self, process: subprocess.Popen) -> None:
        """Profile launches as they come; half-way through, some modes fail."""
        with self.log.open(encoding="utf-8") as file:
            while True:
                ended = process.poll() is not None
                for line in file.readlines():
                    entry = json.loads(line)
                    if entry["event"] == "push" and entry["message"].startswith("ncuroof:{"):
                        self.launch(entry["message"])
                if ended:
                    return
                time.sleep(0.02)

    def launch(self, message: str) -> None:
        if self.stopped or MODE == "no-kernels":
            return
        kernel = device.kernel(message, cold=self.cold)
        wanted = self.options.get("--kernel-name", [None])[0]
        if wanted is not None:
            found = re.search(wanted[6:], kernel.name) if wanted.startswith("regex:") else wanted == kernel.name
            if not found:
                return
        if self.skipped < int(self.options.get("--launch-skip", ["0"])[0]):
            self.skipped += 1
            return
        if self.seen >= int(self.options.get("--launch-count", ["1000000"])[0]):
            return
        self.seen += 1
        if MODE in SAYS:
            say(SAYS[MODE])
            raise SystemExit(1)
        if MODE == "killed" and len(self.kernels) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        say(f'==PROF== Profiling "{kernel.name}" - {len(self.kernels)}: 0%....50%....100% - {self.passes} passes')
        self.kernels.append(kernel)

    def write(self) -> None:
        from ncuroof.testing import NvtxRange, ReportBuilder

        target = Path(self.options["--export"][0])
        report = ReportBuilder(
            gpu=device.NAME,
            cc=device.CC,
            attributes=device.ATTRIBUTES,
            ncu_version=VERSION,
            command_line=shlex.join(["ncu", *sys.argv[1:]]),
        )
        for kernel in [] if MODE == "empty" else self.kernels:
            asked = {m: kernel.metrics[m] for m in self.metrics if m in kernel.metrics}
            report.kernel(kernel.name, asked, grid=kernel.grid, block=kernel.block, nvtx=[NvtxRange(kernel.message)])
        if MODE != "no-report":
            report.write(target)
            say(f"==PROF== Report: {target}")


def main() -> int:
    options, program = parse(sys.argv[1:])
    if "--version" in options:
        say("NVIDIA (R) Nsight Compute Command Line Profiler")
        say(f"Version {VERSION} (build 0) (stand-in)")
        return 0
    if "--query-metrics" in options:
        query()
        return 0
    run = Run(options, program)
    present = set(metrics_of_chip())
    for metric in run.metrics:
        base = metric.split(".")[0]
        if MODE == "unknown-metric" or (base not in present and not base.startswith("launch__")):
            say(f"==ERROR== Failed to find metric regex:^{base}(\\.(sum|min|max|avg|pct|ratio|max_rate))?$")
            return 1
    repeats = run.passes if options.get("--replay-mode") == ["application"] else 1
    for _ in range(repeats - 1):  # application replay runs the program once for each pass
        subprocess.run(program, check=False)
    process = run.start()
    run.follow(process)
    say(f"==PROF== Disconnected from process {process.pid}")
    if process.returncode and not run.stopped:
        say(f"==ERROR== The application returned an error code ({process.returncode}).")
    if not run.kernels:
        say("==WARNING== No kernels were profiled.")
        return 0 if not process.returncode else 1
    run.write()
    return 1 if process.returncode else 0


if __name__ == "__main__":
    try:
        status = main()
    except SystemExit as stop:
        say("==WARNING== No kernels were profiled.")
        raise stop
    sys.exit(status)
