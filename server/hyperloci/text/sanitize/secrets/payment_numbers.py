"""Payment numbers: of cards and bank accounts, told by their form, their check digits and what is said beside them.

One number in ten has a card's check digit by chance, so a card also needs an issuer's first digits, no further groups
of digits beside it but its own security code, and a word for a payment card near it. An account has two check digits,
and a length that its country fixes: that is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from hyperloci.system.late_patterns import compile_late

_DIGITS: Final = compile_late(r"[0-9]{4}[ -]?[0-9]{4}")
_CARD: Final = compile_late(
    r"(?<![0-9A-Za-z_.,/+#$€£-])(?<![0-9] )"
    r"(?P<number>[2-69][0-9]{3}(?P<joint>[ -]?)"
    r"(?:[0-9]{4}(?P=joint)[0-9]{4}(?P=joint)[0-9]{4}|[0-9]{6}(?P=joint)[0-9]{5}))(?![A-Za-z0-9_]|[./:-]\w)"
)
_CODE: Final = (
    r"(?:[ ,;|]{1,3}(?:exp[a-z]{0,8}[.:]? {0,2})?[01][0-9]/(?:20)?[0-9]{2})?[ ,;|]{1,3}"
    r"(?:(?:cvv2?|cvc2?|cvn|csc|cid|security code|pr[üu]f(?:nummer|ziffer|zahl)|安全码|安全碼)[ :=#]{0,3}[0-9]{3,4}"
    r"|(?<=[0-9] )"
)
_CODE_ENDS: Final = r")(?![A-Za-z0-9_]|[./:-]\w| [0-9]{3})"
"""What stands behind a card's number with its security code, which follows at once or is named."""
_CODES: Final = {
    size: compile_late(f"{_CODE}[0-9]{{{digits}}}{_CODE_ENDS}", re.IGNORECASE) for size, digits in ((16, 3), (15, 4))
}
"""The same by the digits of the number."""
_FURTHER_DIGITS: Final = compile_late(" [0-9]{3}")
_ISSUERS: Final = (
    *((4000, 4999, 16), (5100, 5599, 16), (2221, 2720, 16), (3400, 3499, 15), (3700, 3799, 15), (6011, 6011, 16)),
    *((6440, 6599, 16), (6200, 6299, 16), (3528, 3589, 16), (2200, 2204, 16), (5018, 5018, 16), (5020, 5020, 16)),
    *((5038, 5038, 16), (6304, 6304, 16), (6759, 6759, 16), (6761, 6763, 16), (9792, 9792, 16)),
)
"""First and last of the four digits that the cards of an issuer begin with, and how many digits they have."""

_SURE_WORDS: Final = (
    r"(?:credit|debit|payment|bank|gift)[ _-]?cards?|card[ _-]?(?:number|num|no|nr|holder)|visa|mastercard|maestro|amex"
    r"|american express|cvv2?|cvc2?|kreditkarten?|bankkarten?|kreditkort|carte (?:bancaire|bleue|de cr[ée]dit)|tarjeta"
    r"|cart[ãa]o|carta di credito|kredi kart[ıi]m?|kart numaras[ıi]|luottokortti|банковск[а-я]{2} карт[а-я]{1,2}"
)
_UNSPACED_WORDS: Final = (
    r"信用卡|银行卡|銀行卡|卡号|卡號|クレジットカード|カード番号|신용카드|카드번호|بطاقة|כרטיס אשראי"
)
_WORDS_BEFORE: Final = r"card|pan|kart(?:a|[ıi]|y)?|карт(?:а|ы|у|е|ой)"
_OTHER_CARDS: Final = compile_late(
    r"(?:twitter|graphics|video|network|sound|memory|sd|sim|trello|jira|report|index)[ _-]?\Z", re.IGNORECASE
)
_OTHER_NUMBER: Final = compile_late(
    r"(?<![^\W_])(?:id|ids|uuid|order|trace|request|invoice|message|ticket|tracking|serial)[ _-]?(?:id|number|no|nr)?"
    r"[\"']?[ \t]{0,2}[:=#.]?[ \t]{0,2}[\"']?\Z",
    re.IGNORECASE,
)
"""What says, right before a number, that it is no card's."""
NEAR: Final = 48
"""Characters on either side of a number where a word may stand that says that it is a card's."""
NEAR_BEFORE: Final = 24
"""The same of a word that says so only before it, as computers have cards too."""

_TEST_CARDS: Final = frozenset(
    """4242424242424242 4111111111111111 4012888888881881 4000056655665556 4000000000000002 4000000000009995
    4000000000003220 4000002500003155 4000002760003184 5555555555554444 5105105105105100 5200828282828210
    2223003122003222 2222405343248877 378282246310005 371449635398431 378734493671000 6011111111111117
    6011000990139424 3566002020360505 3530111333300000 6200000000000005 4917610000000000 4988438843884305
    4532015112830366 4012001037141112 6250941006528599 4263982640269299 4917484589897107 4001919257537193
    4007702835532454 5425233430109903 2223000048410010 374245455400126 6011000991300009 3566000020000410
    5577000055770004 2222400010000008 2222400030000004 2222400050000009 4166676667666746 4977949494949497
    6011601160116611 6445644564456445""".split()  # noqa: SIM905
)
"""What providers of payments publish for tests: programs are full of them, and they pay for nothing."""
_MADE_FOR_TESTS: Final = compile_late(r"([0-9])\1{4}|([0-9])\2{3}[0-9]{0,8}([0-9])\3{3}")
"""Most of the numbers that are made for tests have such runs of one digit; of a thousand cards one has."""

_ACCOUNT: Final = compile_late(
    r"[A-Z](?<![0-9A-Za-z_./+#-][A-Z])[A-Z][0-9]{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)"
    r"(?![A-Za-z0-9_/])"
)
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
_EXAMPLE_ACCOUNTS: Final = frozenset(
    """AD1200012030200359100100 AE070331234567890123456 AL47212110090000000235698741 AT611904300234573201
    AZ21NABZ00000000137010001944 BA391290079401028494 BE68539007547034 BE71096123456769 BG80BNBG96611020345678
    BH67BMAG00001299123456 BR1800360305000010009795493C1 BY13NBRB3600900000002Z00AB00 CH9300762011623852957
    CR05015202001026284066 CY17002001280000001200527600 CZ6508000000192000145399 DE89370400440532013000
    DE91100000000123456789 DK5000400440116243 DO28BAGR00000001212453611324 EE382200221020145685
    EG380019000500000000263180002 ES9121000418450200051332 FI2112345600000785 FO6264600001631634
    FR1420041010050500013M02606 FR7630006000011234567890189 GB29NWBK60161331926819 GB33BUKB20201555555555
    GB82WEST12345698765432 GE29NB0000000101904917 GI75NWBK000000007099453 GL8964710001000206
    GR1601101250000000012300695 GT82TRAJ01020000001210029690 HR1210010051863000160 HU42117730161111101800000000
    IE29AIBK93115212345678 IL620108000000099999999 IS140159260076545510730339 IT60X0542811101000000123456
    JO94CBJO0010000000000131000302 KW81CBKU0000000000001234560101 KZ86125KZT5004100100 LB62099900000001001901229114
    LI21088100002324013AA LT121000011101001000 LU280019400644750000 LV80BANK0000435195001 MC5811222000010123456789030
    MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984 MR1300020001010000123456753
    MT84MALT011000012345MTLCAST001S MU17BOMM0101101030300200000MUR NL91ABNA0417164300 NO9386011117947
    PK36SCBL0000001123456702 PL61109010140000071219812874 PS92PALS000000000400123456702 PT50000201231234567890154
    QA58DOHB00001234567890ABCDEFG RO49AAAA1B31007593840000 RS35260005601001611379 SA0380000000608010167519
    SE4550000000058398257466 SI56263300012039086 SK3112000000198742637541 SM86U0322509800000000270100
    TN5910006035183598478831 TR330006100519786457841326 UA213223130000026007233566001 VG96VPVG0000012345678901
    XK051212012345678906
    AT483200000012345864 DE02120300000000202051 DE12500105170648489890 DE75512108001245126199 DE27100777770209299700
    GB94BARC10201530093459 DE02500105170137075030 DE02100500000054540402 DE02300209000106531065
    DE02200505501015871393 DE02100100100006820101 DE02300606010002474689 DE02600501010002034304
    DE02700202700010108669 DE02700100800030876808 DE02370502990000684712 GB24BKEN10000031510604
    GB27BOFI90212729823529 GB17BOFS80055100813796 GB92BARC20005275849855 GB66CITI18500812098709
    GB15CLYD82663220400952 GB76LOYD30949301273801 GB25NWBK60080600724890 GB60NAIA07011610909132
    GB29RBOS83040210126939 GB79ABBY09012603367219 GB21SCBL60910417068859 GB42CPBK08005470328725 BE43068999999501
    NL39RABO0300065264 NL20INGB0001234567 DE07123412341234123412 NL86INGB0002445588""".split()  # noqa: SIM905
)
"""What the registry of these numbers, and pages that explain them, give as examples."""


_COUNTED_DIGITS: Final = compile_late("0123456789|12345678")
"""Digits in order, as those who make up an account write them."""


def find_payment_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of every card and account number of a text, in no particular order."""
    if _DIGITS.search(text) is None:
        return
    for match in _CARD.finditer(text):
        number = re.sub("[ -]", "", match["number"])
        if not _is_issued(number) or not _speaks_of_cards(text, *match.span()):
            continue
        if code := _CODES[len(number)].match(text, match.end()):
            yield match.start(), code.end(), "card-number"
        elif _FURTHER_DIGITS.match(text, match.end()) is None:
            yield *match.span(), "card-number"
    for match in _ACCOUNT.finditer(text):
        if end := _find_account_end(match.group()):
            yield match.start(), match.start() + end, "iban"


def _is_issued(number: str) -> bool:
    start, size = int(number[:4]), len(number)
    if number in _TEST_CARDS or _MADE_FOR_TESTS.search(number) or len(set(number)) < 3 or _counts_on(number):
        return False
    if not any(first <= start <= last and size == n for first, last, n in _ISSUERS):
        return False
    doubled = [2 * int(digit) - 9 * (int(digit) > 4) for digit in number[-2::-2]]
    return (sum(doubled) + sum(map(int, number[-1::-2]))) % 10 == 0


def _counts_on(number: str) -> bool:
    """Tell a list of four numbers with equal steps: `4000 3000 2000 1000`."""
    groups = [int(number[place : place + 4]) for place in range(0, len(number), 4)]
    return len({second - first for first, second in pairwise(groups)}) == 1


@cache
def _sure_words_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{_SURE_WORDS})(?![^\W_])|{_UNSPACED_WORDS}", re.IGNORECASE)


@cache
def _words_before_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{_WORDS_BEFORE})(?![^\W_])", re.IGNORECASE)


def _speaks_of_cards(text: str, start: int, end: int) -> bool:
    if _OTHER_NUMBER.search(text[max(0, start - NEAR_BEFORE) : start]):
        return False
    near = text[max(0, start - NEAR) : start].rpartition("\n")[2], text[end : end + NEAR].partition("\n")[0]
    if _sure_words_pattern().search(" ".join(near)):
        return True
    before = near[0][-NEAR_BEFORE:]
    return any(not _OTHER_CARDS.search(before[: word.start()]) for word in _words_before_pattern().finditer(before))


def _find_account_end(written: str) -> int | None:
    """Return how many characters of a text are an account's number; a word in capitals may follow it. None if none."""
    wanted, kept = _LENGTHS.get(written[:2], 0), 0
    for end, character in enumerate(written, start=1):
        kept += character != " "
        if kept == wanted:
            plain = written[:end].replace(" ", "")
            valid = int("".join(str(int(each, 36)) for each in plain[4:] + plain[:4])) % 97 == 1
            is_example = plain in _EXAMPLE_ACCOUNTS or _COUNTED_DIGITS.search(plain) is not None
            return end if valid and not is_example and written[end : end + 1] in ("", " ") else None
    return None
