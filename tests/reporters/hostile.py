"""Names that a report may hold to harm whoever looks at them."""

from __future__ import annotations

MARKUP = "</script><img src=x onerror=alert(1)>"
NAMES = {
    "markup": MARKUP,
    "attribute": "a\" onmouseover=alert(1) x='",
    "ansi": "\x1b[31mred\x1b[0m\x9b2J",
    "newline": "first\r\n::error::injected\nthird",
    "workflow": "%0A::error::injected",
    "pipes": "a|b|c",
    "backticks": "``` `x` ```",
    "link": "[click](javascript:alert(1)) @someone #1 https://example.invalid www.example.invalid",
    "bidi": "abc\u202edef\u2066\u200b",
    "controls": "\x00\x01\x08\x7f\u0085\u2028\ufffe",
    "long": "k" * 10_000,
    "templates": "f<" * 3000,
    "cdata": "]]><!-- & &amp; %2F",
    "comment": "<!--<script>",
    "vega": "{{datum}} ${x} {0}",
}
"""All are valid UTF-8: a table cannot hold anything else. Lone surrogates come from file names."""

SURROGATE = "bad\udcffname.ncu-rep"
