"""How a run under ncu ended: the exit status, and the explanation that goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncuroof.collect import permission
from ncuroof.errors import CollectError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ncuroof.collect.messages import Transcript
    from ncuroof.collect.process import Outcome
    from ncuroof.collect.session import Step

INTERRUPTED, TIMED_OUT = 130, 124
"""Exit statuses, as shells and timeout(1) have them."""
SIGNALLED = 128
"""A status above this is this plus the number of the signal that ended the command."""


def explain(transcript: Transcript, environment: Mapping[str, str]) -> str:
    """Return the message for a run that ncu refused or failed."""
    trouble = transcript.fatal()
    if trouble is None:
        return "ncu failed without saying why; run its command by hand to see (--dry-run prints it)"
    parts = [f"{trouble.says}. {trouble.remedy}".rstrip(), f"ncu said: {trouble.line[:300]}"]
    parts += [f"ncu said: {line[:300]}" for line in transcript.unknown() if line != trouble.line]
    if trouble.layers:
        parts.append(permission.explain_refusal(environment))
    return "\n".join(parts)


def judge(  # noqa: PLR0911  one return for each way a run can end
    outcome: Outcome, transcript: Transcript, report: Path, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Return exit status, explanation and how the run ended; the user's own doing comes before anything it caused."""
    kept = ""
    if report.is_file():
        kept = (
            f"{transcript.kernels} kernels that were done are kept" if transcript.kernels else "what was done is kept"
        )
    if outcome.interrupted:
        return INTERRUPTED, f"interrupted; {kept or 'nothing was done yet'}", "interrupted"
    if outcome.timed_out:
        return TIMED_OUT, f"the time limit ended the run; {kept or 'nothing was done yet'}", "timed-out"
    if transcript.fatal() is not None:
        text = explain(transcript, environment)
        return CollectError.exit_code, f"{text}\n{kept}".rstrip(), "failed"
    if not report.is_file():
        return _no_report(outcome, transcript)
    if transcript.program_status:
        text = f"{_failed(transcript.program_status)}; {kept}"
        return passed_on(transcript.program_status), _with_unknown(text, transcript), "complete"
    if outcome.status:
        return CollectError.exit_code, f"ncu ended with exit status {outcome.status}; {kept}", "failed"
    return 0, "", "complete"


def _no_report(outcome: Outcome, transcript: Transcript) -> tuple[int, str, str]:
    """Return why there is no report."""
    if transcript.program_status:
        return (
            passed_on(transcript.program_status),
            _with_unknown(_failed(transcript.program_status), transcript),
            "failed",
        )
    nothing = next((t for t in transcript.troubles if t.name == "nothing-profiled"), None)
    if nothing is not None:
        text = f"{nothing.says}. {nothing.remedy}"
    elif outcome.status > SIGNALLED:
        text = f"ncu was ended by signal {outcome.status - SIGNALLED} before it wrote its report"
    elif transcript.kernels:
        text = "ncu profiled kernels but left no report; is the disk full?"
    else:
        text = f"ncu ended with exit status {outcome.status} and wrote no report, without saying why"
    return CollectError.exit_code, text, "failed"


def _with_unknown(text: str, transcript: Transcript) -> str:
    """The text, and below it what ncu said that is not understood here."""
    return "\n".join([text, *(f"ncu said: {line[:300]}" for line in transcript.unknown())])


def _failed(status: int) -> str:
    return f"the program ended with exit status {status}"


def passed_on(status: int) -> int:
    """Return the program's status as this process can have it: a signal's as 128 + its number, never 0."""
    return 128 - status if status < 0 else (status & 0xFF) or 1


def second_thoughts(step: Step, transcript: Transcript) -> list[str]:
    """Return what the run itself showed about how far its numbers can be trusted."""
    thoughts = [
        f"{t.says}. {t.remedy}"
        for t in transcript.troubles
        if t.remedy and not t.fatal and t.name != "nothing-profiled"
    ]
    if step.cache == "warm" and step.modes.replay == "kernel" and (transcript.passes or 0) > 1:
        thoughts.append(
            f"warm caches, but ncu replayed each kernel in {transcript.passes} passes: from the second on it finds "
            "its own data in L2, so DRAM bytes may be too low. --replay application, or --tier bytes, is exact."
        )
    return thoughts
