"""Setting one of the user's settings in a file that they wrote."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.cli.install.settings_file import with_setting
from hyperloci.errors import ConfigurationError
from tests.support import examples


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'consolidation = "claude"\n'),
        ('consolidation = "claude"', 'consolidation = "claude"'),
        ('# mine\nconsolidation="off" # no\nwatch = true\n', '# mine\nconsolidation = "claude"\nwatch = true\n'),
        (
            "watch = true\n[profiles.a]\nE1 = 'x'\n",
            "consolidation = \"claude\"\nwatch = true\n[profiles.a]\nE1 = 'x'\n",
        ),
        (
            "[profiles.a]\nconsolidation = 'x'\n",
            "consolidation = \"claude\"\n[profiles.a]\nconsolidation = 'x'\n",
        ),
        (
            'model = """\nconsolidation = 1\n"""\nconsolidation = "off"\n',
            'model = """\nconsolidation = 1\n"""\nconsolidation = "claude"\n',
        ),
    ],
)
def test_only_the_line_of_the_setting_changes(before: str, after: str) -> None:
    assert with_setting(before, "consolidation", "claude") == after


@pytest.mark.parametrize("text", ["watch = ", "a = 1\na = 2\n", "x = " + "[" * 5_000])
def test_what_is_no_toml_is_left_alone(text: str) -> None:
    with pytest.raises(ConfigurationError, match="not TOML"):
        with_setting(text, "consolidation", "claude")


def test_a_value_over_several_lines_is_left_to_the_user() -> None:
    with pytest.raises(ConfigurationError, match="by hand"):
        with_setting('consolidation = """\noff"""\n', "consolidation", "claude")


@settings(max_examples=examples(200))
@given(st.text(alphabet=st.sampled_from('ab="\n[]# 1'), max_size=60))
def test_whatever_the_file_says_it_says_afterwards_too(text: str) -> None:
    try:
        before = tomllib.loads(text)
        after = with_setting(text, "a", "new")
    except (ValueError, ConfigurationError):
        return
    assert tomllib.loads(after) == {**before, "a": "new"}
