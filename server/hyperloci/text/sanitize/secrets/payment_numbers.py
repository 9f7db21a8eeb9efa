"""Payment numbers: of cards and bank accounts, told by their form and their check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_GROUPED: Final = r"[0-9]{3}(?P<joint>[ -])(?:[0-9]{4}(?P=joint)){2}[0-9]{4}"
_GROUPED_IN_THREE: Final = r"[0-9]{3}(?P<joint2>[ -])[0-9]{6}(?P=joint2)[0-9]{5}"
_PLAIN: Final = r"(?P<plain>[0-9]{14,15})"
_ACCOUNT: Final = r"(?P<account>[A-Z][0-9]{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?))"
_NUMBER: Final = re.compile(
    rf"[2-6A-Z](?<![\w.:/+-].)(?:{_GROUPED}|{_GROUPED_IN_THREE}|{_PLAIN}|{_ACCOUNT})(?![\w/]|[.:-]\w)"
)
"""It begins with a character and looks behind it afterwards: so most of a text is passed over at once."""

_ISSUED: Final = re.compile(r"(?:[45][0-9]|6[0245]|35|2[2-7])[0-9]{14}|3[47][0-9]{13}")

_CARD_WORDS: Final = re.compile(
    r"(?i:card|visa|master|amex|cvv|cvc|kart|tarjeta|cart[ãe]|carta|карт|卡|カード|카드|بطاقة|כרטיס)"
)
"""Only near these are sixteen digits in a row a card's: one identifier in ten has right check digits by chance."""
_NEAR: Final = 60
"""Characters on either side of a number where such a word may stand."""

_TEST_CARDS: Final = frozenset(
    """4242424242424242 4111111111111111 4012888888881881 4000056655665556 4000000000000002 5555555555554444
    5105105105105100 5200828282828210 2223003122003222 378282246310005 371449635398431 6011111111111117
    6011000990139424 3566002020360505 3530111333300000 6200000000000005""".split()  # noqa: SIM905
)
"""What providers of payments publish for tests: programs are full of them, and they pay for nothing."""

_LENGTHS: Final = {
    country: length
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FI FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB PL SV",
        29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip
"""Characters of an international bank account number, by country."""


def find_payment_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of every card and account number, in the order of the text."""
    for match in _NUMBER.finditer(text):
        if match["account"]:
            if end := _find_account_end(match.group()):
                yield match.start(), match.start() + end, "iban"
        elif _is_card(re.sub("[ -]", "", match.group())) and (
            not match["plain"] or _speaks_of_cards(text, *match.span())
        ):
            yield *match.span(), "card-number"


def _is_card(number: str) -> bool:
    if not _ISSUED.fullmatch(number) or number in _TEST_CARDS:
        return False
    digits = [int(character) for character in number]
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _speaks_of_cards(text: str, start: int, end: int) -> bool:
    return _CARD_WORDS.search(text, max(0, start - _NEAR), end + _NEAR) is not None


def _find_account_end(written: str) -> int | None:
    """Return how many characters of a text are an account's number; a word in capitals may follow it. None if none."""
    wanted, kept = _LENGTHS.get(written[:2], 0), 0
    for end, character in enumerate(written, start=1):
        kept += character != " "
        if kept == wanted:
            plain = written[:end].replace(" ", "")
            valid = int("".join(str(int(each, 36)) for each in plain[4:] + plain[:4])) % 97 == 1
            return end if valid and written[end : end + 1] in ("", " ") else None
    return None
