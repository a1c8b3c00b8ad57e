"""The roofline with its kernels, findings and notes as one HTML file that needs no network."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from ncuroof import __version__
from ncuroof.reporters import _figures as fig
from ncuroof.reporters._drawings import Drawing, drawings
from ncuroof.reporters._groups import (
    LEVELS,
    FindingGroup,
    Row,
    condensed,
    finding_groups,
    full_name,
    kernel_groups,
    label,
    launch_shape,
    limit,
    roof_sources,
    skip_text,
    totals,
)
from ncuroof.reporters._names import cut, shorten, visible
from ncuroof.reporters._points import by_group
from ncuroof.reporters._records import dump
from ncuroof.reporters._suite import covered
from ncuroof.verdict_words import verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from ncuroof.model import Analysis
    from ncuroof.reporters import RenderOptions

NAME = "html"
DESCRIPTION = "The roofline with kernels, findings and notes as one HTML file that works offline."
SUFFIX = ".html"

SHOWN = 500
"""Kernels in the table, and findings, unless asked otherwise."""
UNFOLDED = 6
"""Kernels of one rule that are shown at once."""
LONGEST_NAME = 300
HINT = (
    "Hover over a point for its figures, click it for its row. Click a verdict in the legend to see it alone "
    "(shift for several). Drag to pan, shift and wheel to zoom, double-click to reset."
)
FOOT = "Percent of the roof is the least time the roof allows over the measured time."


def render(analysis: Analysis, options: RenderOptions) -> str:
    """The page. Scripts run only if their digest is in its policy, so that nothing from a report can be one."""
    groups = kernel_groups(analysis)
    found = finding_groups(analysis, groups)
    pictures = drawings(groups, found)
    title = _title(analysis, options)
    findings = [f for f in found if not f.is_data_note]
    body = [
        f"<h1>{_text(title, 200)}</h1>",
        f'<p class="quiet">{_text(_subtitle(analysis, pictures), 600)}</p>',
        _controls(pictures),
        '<div id="chart"><noscript>The chart needs JavaScript; everything below does not.</noscript></div>',
        f'<p class="quiet" id="caption">{_text(pictures[0].caption if pictures else "No kernel.", 600)}</p>',
        f'<p class="quiet screen">{HINT}</p>',
        _findings(findings, groups, options, covered(analysis)),
        _kernels(groups, by_group(found), options),
        _roofs(groups),
        _notes(analysis, [f for f in found if f.is_data_note]),
        f'<footer class="quiet">Written by ncuroof {escape(__version__)}. {FOOT}</footer>',
    ]
    return _page(title, "\n".join(part for part in body if part), pictures)


def _page(title: str, body: str, pictures: Sequence[Drawing]) -> str:
    import vl_convert  # noqa: PLC0415  starts a JavaScript engine; only this page needs it

    library = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    here = resources.files("ncuroof.reporters")
    script = here.joinpath("page.js").read_text("utf-8")
    style = here.joinpath("page.css").read_text("utf-8")
    data = dump(
        [
            {"spec": p.spec, "points": p.points, "reports": [list(r) for r in p.reports], "caption": visible(p.caption)}
            for p in pictures
        ]
        or [{"spec": None, "points": 0, "reports": [], "caption": "No kernel."}]
    )
    # Inside a script element only "<" can end the data; the others keep careless readers of the file out of trouble.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    policy = (
        "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f"script-src {_digest(library)} {_digest(script)}; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>{_text(title, 120)}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
<script type="application/json" id="data">{data}</script>
<script>{library}</script>
<script>{script}</script>
</body>
</html>
"""


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _text(value: object, longest: int) -> str:
    """Text from a report, safe in HTML content and in quoted attributes."""
    return escape(cut(str(value), longest))


def _title(analysis: Analysis, options: RenderOptions) -> str:
    if options.title:
        return options.title
    sources = analysis.dataset.sources
    return f"Roofline of {sources[0].name}" if len(sources) == 1 else f"Roofline of {fig.count(len(sources), 'report')}"


def _subtitle(analysis: Analysis, pictures: Sequence[Drawing]) -> str:
    t = totals(analysis)
    gpus = ", ".join(p.gpu for p in pictures[:3]) + (f" and {len(pictures) - 3} more GPUs" if len(pictures) > 3 else "")
    time = fig.si(t.duration_s, "s") if t.duration_s is not None else "unknown"
    kinds = ", ".join(fig.count(number, severity) for severity, number in t.by_severity.items())
    return f"{gpus} · {fig.launches(t.kernels)} · {time} GPU time · {kinds or 'no findings'}"


def _controls(pictures: Sequence[Drawing]) -> str:
    controls = []
    if len(pictures) > 1:
        choices = "".join(f'<option value="{i}">{_text(p.gpu, 60)}</option>' for i, p in enumerate(pictures))
        controls.append(f'<label>GPU <select id="gpu">{choices}</select></label>')
    if any(len(p.reports) > 1 for p in pictures):
        controls.append('<label>Report <select id="report"></select></label>')
    return f'<div class="controls">{"".join(controls)}</div>' if controls else ""


def _findings(found: Sequence[FindingGroup], groups: pl.DataFrame, options: RenderOptions, share: str) -> str:
    """One card per rule, those with most time at stake first; within a card one item per kernel."""
    if not found:
        return "<h2>Findings</h2><p>None.</p>"
    shown = found[: options.cap(SHOWN)]
    cards: dict[tuple[object, ...], list[FindingGroup]] = {}
    for f in shown:
        cards.setdefault((f.row["code"], f.row["severity"], f.row["voice"]), []).append(f)
    ordered = sorted(cards.values(), key=lambda card: -sum(f.stake_s or 0.0 for f in card))
    parts = ["<h2>Findings, most time at stake first</h2>"]
    if share:
        parts.append(f'<p class="quiet">{escape(share[0].upper() + share[1:])}.</p>')
    parts += [_card(card, groups) for card in ordered]
    if len(found) > len(shown):
        parts.append(f'<p class="quiet">and {fig.count(len(found) - len(shown), "more finding")} not shown here.</p>')
    return "\n".join(parts)


def _card(found: Sequence[FindingGroup], groups: pl.DataFrame) -> str:
    row = found[0].row
    severity = str(row["severity"])
    kind = severity if severity in {"error", "warning", "info"} else "note"
    stakes = [f.stake_s for f in found if f.stake_s is not None]
    stake = f'<span class="stake">{fig.si(sum(stakes), "s")} at stake</span>' if stakes else ""
    voice = {"nsight": " · from Nsight Compute", "both": " · Nsight Compute agrees"}.get(str(row["voice"]), "")
    number = f" · {fig.count(len(found), 'kernel')}" if len(found) > 1 else ""
    advices = list(dict.fromkeys(str(f.row["advice"]) for f in found if f.row["advice"]))
    common = f'<p class="advice">{_text(advices[0], 1500)}</p>' if len(advices) == 1 else ""
    items = [_item(f, groups, advice=len(advices) > 1) for f in found]
    rest = items[UNFOLDED:]
    folded = f"<details><summary>{len(rest)} more</summary>{''.join(rest)}</details>" if rest else ""
    what = f"<strong>{_text(row['code'], 20)} {_text(row['name'], 60)}</strong>"
    return (
        f'<article class="finding {kind}"><header>{stake}{what}'
        f'<span class="quiet">{_text(severity, 20)}{voice}{number}</span></header>{common}'
        f"{''.join(items[:UNFOLDED])}{folded}</article>"
    )


def _item(f: FindingGroup, groups: pl.DataFrame, *, advice: bool) -> str:
    row = f.row
    where = ""
    if f.group is not None:
        name = shorten(full_name(groups.row(f.group, named=True)), 90)
        times = f" ×{f.launches}" if f.launches > 1 else ""
        where = f'<a class="name" href="#k{f.group}">#{f.group + 1} {escape(name)}{times}</a> '
    elif row["kernel"]:
        where = f'<span class="name">{_text(row["kernel"], 90)}</span> '
    facts = [fig.si(f.stake_s, "s") if f.stake_s is not None else ""]
    facts.append(f"{row['confidence']} confidence" if row["confidence"] else "")
    about = f'<span class="quiet">{_text(" · ".join(fact for fact in facts if fact), 80)}</span>'
    what = f'<p class="advice">{_text(row["advice"], 1500)}</p>' if advice and row["advice"] else ""
    return (
        f'<div class="item"><p>{where}{about}</p><p>{_text(row["message"] or "", 1500)}</p>{what}{_evidence(row)}</div>'
    )


def _evidence(row: Row) -> str:
    if not row["evidence"]:
        return ""
    lines = "".join(
        f"<tr><td><code>{_text(e['metric'], 120)}</code></td>"
        f"<td class=n>{escape(fig.quantity(e['value'], e['unit']))}</td>"
        f"<td class=n>{escape(fig.quantity(e['limit'], e['unit'])) if e['limit'] is not None else ''}</td>"
        f"<td>{_text(e['source'] or '', 160)}</td></tr>"
        for e in row["evidence"]
    )
    return (
        "<details><summary>Evidence</summary><table><tr><th>figure</th><th class=n>value</th><th class=n>limit</th>"
        f"<th>source</th></tr>{lines}</table></details>"
    )


def _kernels(groups: pl.DataFrame, found: Mapping[int, Sequence[FindingGroup]], options: RenderOptions) -> str:
    cap = options.cap(SHOWN)
    rows = list((groups if cap is None else groups.head(cap)).iter_rows(named=True))
    if not rows:
        return ""
    largest = max((r["time_share"] or 0.0 for r in rows), default=0.0) or 1.0
    many = groups["source_sha256"].n_unique() > 1
    body = "\n".join(_kernel(r, found.get(r["group"], ()), largest, named=many) for r in rows)
    rest = groups.height - len(rows)
    more = f'<p class="quiet">and {fig.count(rest, "more kernel")} not shown here.</p>' if rest else ""
    derived = '<p class="quiet">~ W or Q was derived, not counted.</p>' if any(limit(r).derived for r in rows) else ""
    return (
        "<h2>Kernels, most GPU time first</h2>"
        "<div class=scroll><table><thead><tr><th class=n>#</th><th class=n>share</th><th class=n>GPU time</th>"
        "<th class=n>launches</th><th>verdict</th><th class=n>of its roof</th><th>path</th><th class=n>FLOP/byte</th>"
        f"<th>kernel</th><th>findings</th></tr></thead><tbody>\n{body}\n</tbody></table></div>{derived}{more}"
    )


def _kernel(r: Row, found: Iterable[FindingGroup], largest: float, *, named: bool) -> str:
    """One row; ``named`` says whether to name its report as well."""
    looks = verdict(r["verdict"])
    share = r["time_share"]
    bar = f'<span class="bar" style="width:{100 * share / largest:.1f}%"></span>' if share else ""
    told = label(r)
    about = ", ".join(part for part in (launch_shape(r), cut(str(r["source"] or ""), 80) if named else "") if part)
    name = f"<strong>{_text(told, 120)}</strong><br>" if told else ""
    codes = ", ".join(dict.fromkeys(_text(f.row["code"], 20) for f in found))
    near = limit(r)
    what = f" {LEVELS[near.of]}" if near.of in LEVELS else ""
    return (
        f'<tr id="k{r["group"]}"><td class=n>{r["group"] + 1}</td>'
        f"<td class=n>{escape(fig.percent(100 * share if share is not None else None))}{bar}</td>"
        f"<td class=n>{fig.si(r['total_s'], 's')}</td><td class=n>{r['launches']}</td>"
        f'<td class=why><span class="mark" style="color:{looks.color}">{looks.mark}</span>'
        f"{escape(str(r['verdict'] or looks.word))}"
        f'<br><span class="quiet">{_text(r["verdict_reason"] or "", 160)}</span></td>'
        f"<td class=n>{'~' if near.derived and near.pct is not None else ''}{escape(fig.percent(near.pct))}{what}</td>"
        f"<td>{_text(r['path'] or fig.UNKNOWN, 40)}</td><td class=n>{fig.number(r['intensity'])}</td>"
        f'<td class=kernel>{name}<span class="name">{escape(shorten(full_name(r), LONGEST_NAME))}</span>'
        f'<br><span class="quiet">{escape(about)}</span></td><td>{codes}</td></tr>'
    )


def _roofs(groups: pl.DataFrame) -> str:
    rows = "".join(
        f"<tr><td>{_text(gpu or 'unknown GPU', 60)}</td><td>{_text(which, 40)}</td>"
        f"<td class=n>{fig.si(value, 'byte/s' if which == 'DRAM' else 'FLOP/s')}</td>"
        f"<td>{_text(source, 300)}</td><td class=n>{launches}</td></tr>"
        for gpu, which, source, value, launches in roof_sources(groups)
    )
    if not rows:
        return "<h2>Where the roofs come from</h2><p>No roof is known for these kernels.</p>"
    return (
        "<h2>Where the roofs come from</h2><div class=scroll><table><thead><tr><th>GPU</th><th>roof</th>"
        "<th class=n>highest</th>"
        f"<th>source</th><th class=n>launches</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _notes(analysis: Analysis, data_notes: Sequence[FindingGroup]) -> str:
    items = []
    for note in condensed(list(data_notes)):
        advice = f" <span class=quiet>{_text(note.advice, 500)}</span>" if note.advice else ""
        items.append(f"<li><strong>{_text(note.code, 20)}</strong> {_text(note.message, 600)}{advice}</li>")
    items += [
        f"<li>{_text(f'{n.source}: {n.message}' if n.source else n.message, 600)}</li>"
        for n in analysis.dataset.notes[:50]
    ]
    if len(analysis.dataset.notes) > 50:
        items.append(f"<li>and {len(analysis.dataset.notes) - 50} more notes of the readers</li>")
    items += [f"<li>{_text(skip_text(s, analysis.kernels.height), 600)}</li>" for s in analysis.skips if s.count]
    return f"<h2>Notes</h2><ul>{''.join(items)}</ul>" if items else ""
