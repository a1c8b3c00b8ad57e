"""Configuration: what is read, what is refused, and what wins."""

from __future__ import annotations

import pytest

from ncuroof import config, rules
from ncuroof.config import Config, KernelException
from ncuroof.errors import ConfigError


def write(folder, text, name="ncuroof.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_no_file_means_the_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config.load() == Config()


def test_the_nearest_file_above_is_used(tmp_path, monkeypatch):
    write(tmp_path, '[tool.ncuroof]\nignore = ["D"]\n', "pyproject.toml")
    (tmp_path / "a" / "b").mkdir(parents=True)
    write(tmp_path / "a", "[tool.other]\n", "pyproject.toml")  # not ours: passed over
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert config.load().ignore == ("D",)


def test_all_keys(tmp_path):
    path = write(
        tmp_path,
        """
        select = ["R", "T"]
        extend-select = ["W001"]
        ignore = ["R001"]
        fail-on = ["warning"]
        severity = { T001 = "error" }
        thresholds = { W001 = { executed_over_useful = 2 } }
        roof-order = ["report", "device"]
        roofs-file = "roofs.toml"
        [[exceptions]]
        kernel = "^splitK"
        rules = ["T001"]
        reason = "runs once"
        """,
    )
    read = config.load(path)
    assert read.select == ("R", "T", "W001")
    assert read.ignore == ("R001",)
    assert read.fail_on == ("warning",)
    assert read.severity == {"T001": "error"}
    assert read.thresholds == {"W001": {"executed_over_useful": 2.0}}
    assert read.roof_order == ("report", "device")
    assert read.roofs_file == tmp_path / "roofs.toml"
    assert read.exceptions == (KernelException("^splitK", ("T001",), "runs once"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("selct = []", "there is no key 'selct'; did you mean 'select'"),
        ("select = 'R'", "select must be a list of strings"),
        ("severity = { R001 = 'loud' }", "severity must map rule codes to one of error, warning, info, note"),
        ("thresholds = { R001 = 1 }", "thresholds must map"),
        ("thresholds = { R001 = { above_roof = true } }", "thresholds must map"),
        ("roof-order = ['guess']", "'guess' is none of report"),
        ("[[exceptions]]\nkernel = '('\nrules = ['R001']\nreason = 'x'", "kernel is not a regular expression"),
        ("[[exceptions]]\nkernel = 'a'\nrules = ['R001']\nreason = ' '", "reason must say why"),
        ("[[exceptions]]\nkernel = 'a'", "needs exactly kernel"),
        ("select = [", "not valid TOML"),
    ],
)
def test_mistakes_are_named_with_the_file(tmp_path, text, words):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    assert str(caught.value).startswith("ncuroof.toml: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select = ['Z9']", "the selector 'Z9' matches no rule"),
        ("extend-select = ['Z9']", "the selector 'Z9' matches no rule"),
        ("ignore = ['nonsense']", "the selector 'nonsense' matches no rule"),
        ("severity = { Z999 = 'info' }", "there is no rule 'Z999'"),
        ("thresholds = { Z999 = { x = 1 } }", "there is no rule 'Z999'"),
        ("thresholds = { W001 = { nope = 1 } }", "rule W001 has no threshold 'nope'; it has executed_over_useful"),
        ("fail-on = ['loud']", "fail-on 'loud' is neither"),
    ],
)
def test_rules_and_thresholds_that_do_not_exist_are_named_with_the_file(tmp_path, text, words):
    with pytest.raises(ConfigError) as caught:
        config.load(write(tmp_path, text))
    assert str(caught.value).startswith(f"ncuroof.toml: {words}")


def test_a_file_that_is_not_there_or_unreadable_is_told_in_words(tmp_path):
    with pytest.raises(ConfigError, match=r"^nofile: there is no such configuration file$"):
        config.load(tmp_path / "nofile")
    with pytest.raises(ConfigError, match=r"it cannot be read \(Is a directory\)"):
        config.load(tmp_path)
    (tmp_path / "x.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"^x\.toml: it is no UTF-8 text$"):
        config.load(tmp_path / "x.toml")
    with pytest.raises(ConfigError, match=r"tool\.ncuroof must be a table"):
        config.load(write(tmp_path, "[tool]\nncuroof = 3\n", "pyproject.toml"))


def test_all_mistakes_at_once(tmp_path):
    with pytest.raises(ConfigError) as caught:
        config.load(write(tmp_path, "a = 1\nignore = 3\n"))
    assert "'a'" in str(caught.value)
    assert "ignore must be" in str(caught.value)


def codes(**choices):
    return {r.CODE for r in rules.selected(Config(**choices))}


def test_selection_by_prefix_code_and_name():
    every = {r.CODE for r in rules.rules()}
    assert codes() == every
    assert codes(select=("D",)) == {c for c in every if c.startswith("D")}
    assert codes(select=("l2-resident", "T001")) == {"R001", "T001"}
    assert codes(ignore=("D",)) == {c for c in every if not c.startswith("D")}


def test_the_longer_selector_wins_and_ignore_wins_a_tie():
    assert "D001" in codes(select=("ALL", "D001"), ignore=("D",))
    assert "D002" not in codes(select=("ALL", "D001"), ignore=("D",))
    assert "D001" not in codes(select=("D001",), ignore=("D001",))


def test_selectors_that_match_nothing_are_refused():
    with pytest.raises(ConfigError, match="'Z' matches no rule"):
        codes(select=("Z",))


def test_options_win_over_the_file():
    merged = Config(select=("R",), ignore=("R001",), fail_on=("error",)).with_options(
        select=("T",), extend_select=("W",), ignore=("T001",), fail_on=("note",), roof="device"
    )
    assert merged.select == ("T", "W")
    assert merged.ignore == ("R001", "T001")
    assert merged.fail_on == ("note",)
    assert merged.roof_order == ("device",)
    with pytest.raises(ConfigError, match="--roof"):
        Config().with_options(roof="guess")


def test_what_becomes_of_nsights_own_findings(tmp_path):
    path = tmp_path / "ncuroof.toml"
    path.write_text('nsight = "show"')
    assert config.load(path).nsight == "show"
    assert config.load(path).with_options(nsight="hide").nsight == "hide"
    assert config.Config().nsight == "merge"
    with pytest.raises(ConfigError, match="--nsight"):
        config.Config().with_options(nsight="loud")
    path.write_text('nsight = "loud"')
    with pytest.raises(ConfigError, match="nsight must be one of merge, show, hide"):
        config.load(path)
