"""Files with nothing measured in them: the message says what happened and what to do."""

from __future__ import annotations

import pytest
from tests.readers.text_helpers import read_bytes, read_text

from ncuroof.errors import EXIT_ERROR, InputError, NothingMeasuredError, UnrecognisedError

PROF = "==PROF== Connected to process 1 (a.out)\n"

CASES = {
    "permission": (
        PROF + "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
        "Counters on the "
        "target device 0.\n==PROF== Disconnected from process 1\n==WARNING== No kernels were profiled.\n",
        ["permission", "ERR_NVGPUCTRPERM"],
        ["NVreg_RestrictProfilingToAdminUsers=0", "--cap-add=SYS_ADMIN", "cloud provider"],
    ),
    "no kernels": (
        PROF + "==PROF== Disconnected from process 1\n==WARNING== No kernels were profiled.\n",
        ["no kernel was profiled"],
        ["--target-processes all"],
    ),
    "option": (
        (
            "==ERROR== Option '--section .*SpeedOfLight.*' did not match any section.\n"
            "==ERROR== Use --list-sections to see the list of available sections.\n"
        ),
        ["did not accept an option"],
        ["--list-sections"],
    ),
    "unknown option": (
        "==ERROR== unrecognised option '--foo'. Use --help for further information.\n",
        ["option"],
        ["--help"],
    ),
    "unsupported GPU": (
        PROF
        + "==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer --list-chips option.\n",
        ["cannot profile this GPU"],
        ["newer ncu"],
    ),
    "driver resource": (
        PROF + "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like "
        "DCGM) is "
        "concurrently collecting profiling data. \n",
        ["in use by somebody else"],
        ["dcgmi profiling --pause"],
    ),
    "library": (
        PROF + "==ERROR== An error was reported by the counter measurement library:\n==ERROR== Failed to initialize "
        "the profiler: "
        "LibraryNotLoaded. Check that a compatible driver library is loaded.\n==ERROR== The application returned "
        "an error code (9).\n",
        ["could not load its counter library"],
        ["NVIDIA_DRIVER_CAPABILITIES"],
    ),
    "crashed": (
        PROF + "==ERROR== The application returned an error code (11).\n==WARNING== No kernels were profiled.\n",
        ["the program itself failed", "no kernel was profiled"],
        ["without ncu first"],
    ),
    "report written": (
        PROF
        + '==PROF== Profiling "k" - 0: 0%....50%....100% - 39 passes\n==PROF== Report: /home/someone/out.ncu-rep\n',
        ["out.ncu-rep"],
        ["Analyze the report instead"],
    ),
    "stopped": (
        PROF + '==PROF== Profiling "k" - 0: 0%....50%....100% - 39 passes\n==PROF== Profiling "q" - 1: 0%',
        ["stops while it profiles (2 kernels"],
        ["let it finish"],
    ),
    "connected only": (PROF, ["ends after it connected"], ["--target-processes all"]),
    "other error": (PROF + "==ERROR== Something nobody knows.\n", ["Something nobody knows."], ["profile again"]),
    "no ncu": ("bash: ncu: command not found\n", ["not found"], ["full path"]),
}


@pytest.mark.parametrize("case", CASES)
def test_reason_and_remedy(case: str) -> None:
    text, found, remedy = CASES[case]
    with pytest.raises(NothingMeasuredError) as caught:
        read_text(text)
    assert all(f in caught.value.found for f in found), caught.value.found
    assert all(r in caught.value.remedy for r in remedy), caught.value.remedy
    assert caught.value.exit_code == EXIT_ERROR
    assert "someone" not in str(caught.value)  # directories can hold a user's name


def test_a_permission_error_beside_kernels_is_a_note() -> None:
    log = (
        CASES["permission"][0]
        + '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","k","a__x.avg","ns","1.5"\n'
    )
    read = read_text(log)
    assert len(read.launches) == 1
    assert "log-permission" in read.kinds()


def test_text_of_something_else() -> None:
    with pytest.raises(UnrecognisedError, match="content that no reader knows"):
        read_text("a,b\n1,2\n")


@pytest.mark.parametrize("data", [b"\0\1\2\3" * 100, b'{"traceEvents": []}', b"<html></html>", bytes(range(256)) * 20])
def test_what_is_no_text_is_left_to_others(data: bytes) -> None:
    with pytest.raises(UnrecognisedError):
        read_bytes(data)


def test_a_forced_reader_says_what_it_found() -> None:
    with pytest.raises(InputError, match="--reader ncu-csv-wide"):
        read_text("nothing of the kind\n", only="ncu-csv-wide")
