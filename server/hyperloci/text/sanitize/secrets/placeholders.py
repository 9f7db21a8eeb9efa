"""Placeholders: what manuals and examples write where a secret stands, and passwords that only begin like it.

Pure functions of the value alone.
"""

from __future__ import annotations

from typing import Final

from hyperloci.system.late_patterns import compile_late

_PLACEHOLDER: Final = compile_late(
    r"^[$%{<\[(]|^!(?:vault|Ref|Sub|GetAtt|ImportValue)|^Ag[A-D][A-Za-z0-9+/]{100}|^(?i:process|os|env|config|settings|secrets|vars?|self|this|ctx|args|opts|options|req|request)[.\[:]"
    r"|^(?i:vault|op|ref|env|file|arn|https?|ssm|sops|secret|data):|^[A-Za-z]:\\"
    r"|\.\.\.|…|\*{3}|•{3}|\[(?:redacted|private)|xxxx|XXXX|(.)\1{5}"
    r"|(?:your|Your|YOUR)(?:[-_. ]|(?i:api|key|token|secret|pass))|(?i:redacted|example\.(?:com|org|net))"
    r"|(?i:replace|insert)[-_ .]|_(?i:here)$|^(?i:todo|fixme|none|null|undefined)"
    r"|^0x[0-9a-fA-F]{40}$"
)
_EXAMPLE_WORD: Final = compile_late(
    r"(?i:example|placeholder|change.?me|dummy|^foo_?bar|abcdefgh[i-z]{0,18})|0123456789|1234567890"
)
"""What examples have in them, and passwords of people who began with an example: `changeme2024Acme`."""
_COUNTED: Final = compile_late(r"0?123(?:4(?:5(?:6(?:7(?:8(?:90?)?)?)?)?)?)?")
MIN_MADE_DIGITS: Final = 4
"""Digits beside an example's word that nobody writes who means an example: `changeme123` has three, in order."""


def has_placeholder_form(value: str) -> bool:
    """Tell whether a value is none by its form alone: a variable, a reference, `<password>`, `***`."""
    return _PLACEHOLDER.search(value) is not None


def drop_example_words(value: str) -> str:
    """Return a value without the words and the runs that examples have in them."""
    return _EXAMPLE_WORD.sub("", value)


def is_placeholder(value: str) -> bool:
    """Tell what a manual writes for a secret: `<password>`, `changeme`, but not `changeme2024Acme`."""
    if has_placeholder_form(value):
        return True
    rest = drop_example_words(value)
    return rest != value and not _is_made_beside_example(_COUNTED.sub("", rest))


def _is_made_beside_example(rest: str) -> bool:
    digits = sum(map(str.isdigit, rest))
    if any(not character.isalnum() and character not in "-_.:/, " for character in rest):
        return digits >= 2
    return digits >= MIN_MADE_DIGITS and any(map(str.isalpha, rest))
