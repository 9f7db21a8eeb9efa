"""Written numbers: digits as people group them and mark their fractions: `1,500`, `1.500`, `1 500`, `21,5`, `21.5`,
`10.000.000`.

Languages differ, and who writes in one may write numbers as in another, so the number alone tells what it means.
"""

from __future__ import annotations

import re
from typing import Final

_SPACES: Final = "[ \u00a0\u2009\u202f'’]"
"""What stands between groups besides points and commas: spaces, thin and narrow ones too, and the Swiss apostrophe."""
_JOINTS: Final = "[\u00a0\u2009\u202f'’]"
"""The same but for the plain space, which stands between two numbers as well (`HTTP 404 500`)."""

SPACED_NUMBER: Final = (
    rf"(?:[1-9][0-9]{{0,2}}(?:{_JOINTS}[0-9]{{3}}){{1,5}}"
    r"|[1-9][0-9]?(?:[ ][0-9]{3}){1,5}|[1-9][0-9]{2}(?:[ ]000){1,5})"
    r"(?:[.,][0-9]{1,9})?(?![0-9]|[.,:/-][0-9])"
)
"""A pattern of a number whose groups stand apart, `1 500,25`: words that are read one by one would tear it."""

_BYTE: Final = "(?:1[0-9]{2}|2[0-4][0-9]|25[0-5])"

_ADDRESS: Final = rf"[1-9][0-9]{{0,2}}(?:\.{_BYTE}){{3}}(?![0-9]|\.[0-9])"

POINTED_NUMBER: Final = rf"(?!{_ADDRESS})[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}}){{2,5}}(?![0-9]|[.,:/-][0-9])"
"""A pattern of a number whose groups points part, `10.000.000`: no version (`10.0.1`) and no address of a machine."""

NUMBER: Final = (
    rf"{SPACED_NUMBER}|{POINTED_NUMBER}"
    r"|[1-9][0-9]{0,2}(?:\.[0-9]{3}){1,5},[0-9]{1,9}(?![0-9]|[.,:/-][0-9])"  # 1.500,25
    r"|(?<![0-9],)[0-9]{1,18},(?:[0-9]{1,2}|[0-9]{4,9})(?![0-9]|[.,:/-][0-9])"  # 21,5
    r"|[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"  # 1,500.25
)
"""A pattern of one number, longest forms first. A comma before three digits groups them, as in English; of a list
without spaces (`1,2,3`) each is a number."""

_COMMA_FRACTION: Final = re.compile(r"^0,[0-9]+$|[0-9],(?![0-9]{3}(?![0-9]))[0-9]+$|\.[0-9]{3},[0-9]+$")
_SPACE_GROUPS: Final = re.compile(_SPACES)
_GROUPS: Final = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,5}\Z")
"""What stands around a number has told that it is one."""
_POINT_GROUPS: Final = re.compile(f"{POINTED_NUMBER}$")
_POINT_GROUP: Final = re.compile(r"\$?[1-9][0-9]{0,2}\.[0-9]{3}(?![0-9.,])")

THOUSAND: Final = 1_000.0


def read_number(written: str) -> float:
    """Return what a number that `NUMBER` matches means; a single point marks the fraction (`1.500`, as in English)."""
    plain = _SPACE_GROUPS.sub("", written)
    if _GROUPS.match(plain):
        return float(plain.replace(".", ""))
    if _COMMA_FRACTION.search(plain) or (plain != written and "," in plain):
        return float(plain.replace(".", "").replace(",", "."))
    return float(plain.replace(",", ""))


def is_grouped_by_points(written: str) -> bool:
    """Return whether several points group the digits of a text, all of which is one number (`10.000.000`)."""
    return _POINT_GROUPS.match(written) is not None


def may_group_by_point(written: str) -> bool:
    """Return whether the point of the number that a word begins with may group thousands.

    `1.500` is one and a half or fifteen hundred.
    """
    return _POINT_GROUP.match(written) is not None
