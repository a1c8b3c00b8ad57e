"""Why a log holds no measured kernel: ncu's messages, what caused each, and what to do. One row is one message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncuroof.errors import NothingMeasuredError

if TYPE_CHECKING:
    from ncuroof.readers._log_facts import LogFacts


@dataclass(frozen=True)
class Cause:
    """A reason for measuring nothing.

    Attributes:
        code: short tag.
        pattern: what ncu prints.
        cause: what happened, as a clause.
        remedy: what to do, as a sentence.
        anywhere: whether the message is telling enough to count without a mark such as ``==ERROR==``.
        remark: whether to mention it when kernels were measured nevertheless.
        weak: true only where no stronger cause is found (a consequence rather than a cause).
    """

    code: str
    pattern: str
    cause: str
    remedy: str
    anywhere: bool = False
    remark: bool = False
    weak: bool = False

    def found_in(self, text: bytes) -> bool:
        """Whether the message stands in a text."""
        return re.search(self.pattern.encode(), text, re.IGNORECASE) is not None


CAUSES: tuple[Cause, ...] = (
    Cause(
        "permission",
        r"ERR_NVGPUCTRPERM|does not have permission to access NVIDIA GPU Performance Counters",
        "the user had no permission to read the GPU's performance counters (ERR_NVGPUCTRPERM)",
        "Allow it on the host (driver option NVreg_RestrictProfilingToAdminUsers=0, or run ncu as "
        "administrator), start a "
        "container with --cap-add=SYS_ADMIN, or ask the cloud provider: many forbid it by policy, and no image "
        "can change that.",
        anywhere=True,
        remark=True,
    ),
    Cause(
        "option",
        r"unrecogni[sz]ed option|unknown option|did not match any section|did not match any set\b"
        r"|invalid (?:value|argument)"
        r"|the argument .{0,80} is invalid|option '.{0,120}' (?:is|cannot|requires|did)|ambiguous option"
        r"|Failed to find (?:metric|section|set)"
        r"|too many positional|the required argument",
        "ncu did not accept an option of its command line",
        "Correct the option (see ncu --help, --list-sections, --list-sets, --query-metrics) and profile again.",
    ),
    Cause(
        "metric",
        r"Failed to find metric|metric .{0,160} (?:not found|not supported|is not available)"
        r"|No metrics to collect found",
        "ncu does not know a metric that was asked for on this GPU",
        "Check the names with ncu --query-metrics on that machine, or let `ncuroof collect` choose them.",
        remark=True,
    ),
    Cause(
        "unsupported-gpu",
        r"is not supported on this (?:gpu|device)|Profiling is not supported on|unsupported (?:gpu|device|chip)|"
        r"GPU .{0,60} is not supported|no supported (?:gpu|device)",
        "this version of ncu cannot profile this GPU",
        "Use a newer ncu (for a new GPU) or an older one (Pascal needs 2019.5 or earlier).",
    ),
    Cause(
        "driver-resource",
        r"Driver resource was unavailable|DriverResourceUnavailable|another profiler|Failed to acquire (?:a )?profil",
        "the driver's profiling resource was in use by somebody else",
        "Stop the other profiler or monitor (DCGM: dcgmi profiling --pause; nsys; another ncu) and profile again.",
        remark=True,
    ),
    Cause(
        "library",
        r"LibraryNotLoaded|compatible driver library|Failed to initialize the profiler|Cuda driver is not compatible|"
        r"Failed to load .{0,60}librar|Failed to prepare .{0,40}(?:library|injection)|InternalError.{0,40}library",
        "ncu could not load its counter library or a compatible driver",
        "Make the NVIDIA driver visible to the process (in a container: the NVIDIA runtime with "
        "NVIDIA_DRIVER_CAPABILITIES=all) and use an ncu that is not newer than the driver supports.",
    ),
    Cause(
        "no-device",
        r"No (?:CUDA )?devices? (?:found|available|were found)|no CUDA-capable device|no kernels.{0,20}no device",
        "there was no GPU that ncu could use",
        "Run it on a machine, or in a container, that has access to the GPU.",
    ),
    Cause(
        "cannot-launch",
        r"Failed to (?:launch|start) (?:the )?(?:application|target|process)"
        r"|could not find (?:the )?(?:executable|application)|"
        r"'[^'\n]{1,200}' (?:does not exist|is not (?:an )?executable)|Failed to find executable|Unable to launch|"
        r"target application .{0,40}not found",
        "ncu could not start the program",
        "Check the program's path and arguments, then profile again.",
    ),
    Cause(
        "not-found",
        r"(?:ncu|nv-nsight-cu-cli): (?:command )?not found|command not found: ncu|'ncu' is not recognized",
        "ncu was not found on that machine",
        "Install Nsight Compute, or call it by its full path (often /usr/local/cuda/bin/ncu).",
        anywhere=True,
    ),
    Cause(
        "out-of-memory",
        r"Failed to (?:save|restore|back up) (?:device )?memory|out of memory .{0,40}(?:save|restore|replay)"
        r"|ReplayFailed",
        "ncu could not save and restore the GPU memory for its replay passes",
        "Use --replay-mode application, or fewer metrics so that one pass suffices.",
        remark=True,
    ),
    Cause(
        "connection",
        r"Failed to connect|Connection (?:refused|lost|to the target)|lost the connection|process terminated before|"
        r"timed out (?:while )?waiting",
        "ncu lost the connection to the program or never got one",
        "Profile again; if the program starts others, add --target-processes all.",
    ),
    Cause(
        "driver-error",
        r"An error was reported by the driver",
        "the driver reported an error while profiling",
        "Check that the program runs without the profiler (compute-sanitizer helps) and that the driver is not "
        "older than ncu.",
        weak=True,
    ),
    Cause(
        "application-error",
        r"The application returned an error code|application (?:crashed|was terminated|exited with)",
        "the program itself failed",
        "Run it without ncu first; it must end without an error.",
        weak=True,
    ),
    Cause(
        "no-kernels",
        r"No kernels were profiled|No kernels were found|no kernel launches",
        "no kernel was profiled: the program launched none that the filters let through, launched them in a "
        "child process, "
        "or did not run on the GPU",
        "Check the kernel filters (-k, -c, -s, --nvtx-include) and --profile-from-start, and add "
        "--target-processes all where "
        "the program starts others.",
        weak=True,
    ),
)


def explain(name: str, facts: LogFacts, taken_for: str = "") -> NothingMeasuredError:
    """The error for a log of ncu without a measured kernel: what happened and what to do.

    Args:
        name: the file.
        facts: what the log says.
        taken_for: what the file was taken for and why, where the log does not explain it.
    """
    strong = [c for c in facts.causes if not c.weak]
    chosen = strong or facts.causes
    consequence = ", and no kernel was profiled" if strong and any(c.code == "no-kernels" for c in facts.causes) else ""
    if facts.wrote:
        written = ", ".join(facts.wrote[:3]) + (" ..." if len(facts.wrote) > 3 else "")
        return NothingMeasuredError(
            name,
            f"a log of ncu without results: they were written to "
            f"{'a report' if len(facts.wrote) == 1 else 'reports'} ({written})",
            "Analyze the report instead.",
        )
    if chosen:
        causes = list(dict.fromkeys(c.cause for c in chosen[:2]))
        if not strong and len(facts.causes) > 1:
            # Of several weak ones the program's own failure comes first, what follows from it last.
            chosen = sorted(facts.causes, key=CAUSES.index)
            causes = [chosen[0].cause]
            consequence = ", and no kernel was profiled" if any(c.code == "no-kernels" for c in chosen[1:]) else ""
        return NothingMeasuredError(name, f"no measured kernel: {'; '.join(causes)}{consequence}", chosen[0].remedy)
    if facts.errors:
        return NothingMeasuredError(
            name,
            f"no measured kernel: ncu stopped with an error ({facts.errors[0][:200]})",
            "Remove its cause and profile again.",
        )
    if facts.profiled:
        return NothingMeasuredError(
            name,
            f"a log of ncu that stops while it profiles ({facts.profiled} kernels were begun), before any result",
            "ncu prints results when the program ends: let it finish, or analyze the report file if one was written.",
        )
    if facts.connected:
        return NothingMeasuredError(
            name,
            "a log of ncu that ends after it connected to the program, before any kernel was profiled",
            "Let the program finish; if it starts others or filters are set, check --target-processes all and "
            "the filters.",
        )
    return NothingMeasuredError(
        name,
        "no result of a kernel" + (f"; {taken_for}" if taken_for else ""),
        "If it is output of ncu, profile again and keep the whole of it, or save a report with -o.",
    )
