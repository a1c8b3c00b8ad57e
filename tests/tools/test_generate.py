"""The generated pages: one per rule, from the rule itself, and an index that leads to each."""

from __future__ import annotations

import importlib.util
import re
import tomllib

import pytest
from tests.conftest import ROOT

from ncuroof import config, rules


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "tools" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_index_leads_to_every_page(generate):
    made = {path.relative_to(ROOT).as_posix() for path in generate.files()}
    links = re.findall(r"\]\((rules/[^)]+)\)", generate.rule_index())
    assert len(links) == len(rules.rules())
    assert {f"docs/{link}" for link in links} <= made


@pytest.mark.parametrize("rule", rules.rules(), ids=lambda r: r.CODE)
def test_a_page_tells_all_that_the_rule_tells(generate, rule, tmp_path):
    page = generate.rule_page(rule)
    titles = re.findall(r"^## (.+)$", page, flags=re.MULTILINE)
    assert titles == [
        "What it does",
        "Why it matters",
        "How it decides",
        "What to do",
        "When it is wrong",
        "Thresholds",
        "Facts",
    ]
    for name in rule.LIMITS:
        assert f"| `{name}` |" in page
    example = re.search(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert (example is not None) == bool(rule.LIMITS)
    if example:
        path = tmp_path / "ncuroof.toml"
        path.write_text(example[1])
        assert rule.CODE in tomllib.loads(example[1])["thresholds"]
        assert rule.CODE in config.load(path).thresholds


def test_text_keeps_its_characters(generate):
    assert generate.markdown("a < b * c | d") == r"a \< b \* c \| d"
    assert generate.markdown("see `a < b`") == "see `a < b`"
