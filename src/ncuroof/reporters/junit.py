"""JUnit XML, which nearly every CI system shows as test results."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from ncuroof.reporters import _figures as fig
from ncuroof.reporters._findings import LONGEST_NAME, RUN, identified, message
from ncuroof.reporters._groups import full_name, skip_text
from ncuroof.reporters._names import cut, shorten, visible

if TYPE_CHECKING:
    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions
    from ncuroof.reporters._findings import Identified

NAME = "junit"
DESCRIPTION = "JUnit XML: a suite per report, a case per finding, a skipped case for what could not be judged."
SUFFIX = ".xml"

FAILURES = frozenset({"error", "warning"})
"""Severities that make a case fail; the others pass and keep their text as output."""


def render(analysis: Analysis, options: RenderOptions) -> str:
    """The document. A report without findings has one passing case, so that it is seen to have been judged."""
    suites: dict[str, list[str]] = {visible(source.name): [] for source in analysis.dataset.sources}
    failed = dict.fromkeys(suites, 0)
    for f in identified(analysis):
        name = visible(str(f.row["source"] or RUN))
        suites.setdefault(name, []).append(_case(f))
        failed[name] = failed.get(name, 0) + (str(f.row["severity"]) in FAILURES)
    for name, cases in suites.items():
        if not cases:
            cases.append(f"    <testcase name={_attribute('no findings')} classname={_attribute(name)}/>")
    skipped = [
        f"    <testcase name={_attribute(s.code)} classname={_attribute('not judged')}>\n"
        f"      <skipped message={_attribute(skip_text(s, analysis.kernels.height))}/>\n    </testcase>"
        for s in analysis.skips
    ]
    total = sum(len(cases) for cases in suites.values()) + len(skipped)
    counts = f'tests="{total}" failures="{sum(failed.values())}" errors="0" skipped="{len(skipped)}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="ncuroof" {counts}>']
    for name, cases in suites.items():
        lines += [_suite(name, len(cases), failed[name], 0), *cases, "  </testsuite>"]
    if skipped:
        lines += [_suite("not judged", len(skipped), 0, len(skipped)), *skipped, "  </testsuite>"]
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite(name: str, tests: int, failures: int, skipped: int) -> str:
    return f'  <testsuite name={_attribute(name)} tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}">'


def _case(found: Identified) -> str:
    row = found.row
    index = f" #{row['result_index']}" if row["result_index"] is not None else ""
    kernel = f" {shorten(str(row['kernel']), 100)}" if row["kernel"] else ""
    name = f"{row['code']} {row['name']}{kernel}{index}"
    opening = f"    <testcase name={_attribute(name)} classname={_attribute(str(row['source'] or RUN))}"
    seconds = found.kernel["total_s"] if found.kernel is not None else None
    if seconds is not None:
        opening += f' time="{seconds:.9f}"'
    body = escape(_body(found))
    if str(row["severity"]) in FAILURES:
        kind = _attribute(str(row["severity"]))
        inner = f"<failure message={_attribute(message(row))} type={kind}>{body}</failure>"
    else:
        inner = f"<system-out>{body}</system-out>"
    return f"{opening}>\n      {inner}\n    </testcase>"


def _body(found: Identified) -> str:
    """The finding in lines: message, advice, stake, evidence, full name."""
    row = found.row
    lines = [visible(str(row["message"] or ""))]
    if row["advice"]:
        lines.append(visible(str(row["advice"])))
    if fig.finite(row["time_at_stake_s"]):
        lines.append(f"{fig.si(row['time_at_stake_s'], 's')} at stake, {visible(str(row['confidence']))} confidence")
    for item in row["evidence"] or []:
        limit = f", limit {fig.quantity(item['limit'], item['unit'])}" if item["limit"] is not None else ""
        source = f" ({item['source']})" if item["source"] else ""
        lines.append(visible(f"{item['metric']} {fig.quantity(item['value'], item['unit'])}{limit}{source}"))
    if found.kernel is not None:
        times = f" ({found.launches} launches)" if found.launches > 1 else ""
        lines.append(cut(full_name(found.kernel), LONGEST_NAME) + times)
    return "\n".join(lines)


def _attribute(text: str) -> str:
    return quoteattr(cut(text, 2 * LONGEST_NAME))
