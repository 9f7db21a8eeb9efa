"""What can be seen stays; what hides goes; what is private or ours is never kept."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperloci.text.sanitize.cleaning import INJECTED_TAG, clean_text, strip_injected_context, strip_private_blocks
from tests.support import examples

TRICKY = (
    "\x1b[]0;m\x07\\\x9b\x9d\x9c\r\n\x00\u200b\u200c\u200d\ufe0f\ufe00\u202e\u2066\ufeff\U000e0041\U000e007f\U000e0100"
)
VISIBLE = "aZ9 #*\u20e3é❤\U0001f469\U0001f3ff\U0001f3f4میकക്漢ᠮ一가ᄀកข\ud83d\ude00\udc00"
LAWS = settings(max_examples=examples(300))
HOSTILE = st.text(st.sampled_from(TRICKY + VISIBLE), max_size=40) | st.text(max_size=40)


@pytest.mark.req("SPEC-02.34")
@LAWS
@given(HOSTILE)
@example("\U0001f3f4\u200b\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f")
@example("\ud83d\u200b\ude00")
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)


@pytest.mark.req("SPEC-02.34")
@LAWS
@given(HOSTILE)
def test_a_cleaned_text_can_be_encoded_and_holds_no_control_character(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", cleaned)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\ufeff]", cleaned)


@LAWS
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Mn"]), max_size=60))
def test_a_text_without_hidden_characters_comes_back_as_it_was(text: str) -> None:
    text = text.replace("\u115f", "").replace("\u1160", "").replace("\u3164", "").replace("\uffa0", "")
    text = re.sub("[\u2065\ufff0-\ufff8\U000e0000-\U000e0fff]", "", text)  # unassigned, and invisible by default
    assert clean_text(text) == text


@pytest.mark.req("SPEC-02.34")
@pytest.mark.parametrize(
    ("dirty", "expected"),
    [
        ("a\x00b\x01\x07\x08c\x7f", "abc"),
        ("tab\there\nnext", "tab\there\nnext"),
        ("one\r\ntwo\rthree\n\rfour", "one\ntwo\nthree\n\nfour"),
        ("\x1b[31;1mred\x1b[0m \x1b[38;2;1;2;3mblue\x1b[m", "red blue"),
        ("\x1b]0;window title\x07shown", "shown"),
        ("\x1b]8;;https://a.example/\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0\x1b\\shown", "shown"),
        ("\x1b(B\x1b=\x1b7shown\x1b8", "shown"),
        ("\x9b31mred", "red"),
        ("\x1b[8mconcealed\x1b[0m", "concealed"),
        ("C1 \x80\x85\x9f gone", "C1  gone"),
        ("igno\u200bre pre\u2060vious", "ignore previous"),
        ("\ufeffbyte order mark", "byte order mark"),
        ("if access\u202e\u2066level", "if accesslevel"),
        ("soft\u00adhyphen", "softhyphen"),
        ("plain\U000e0049\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065 text", "plain text"),
        ("\U0001f600\U000e0154\U000e0155\U000e0156", "\U0001f600"),
        ("lone \ud800 and \udc00", "lone \ufffd and \ufffd"),
        ("\ud83d\ude00 in two halves", "\U0001f600 in two halves"),
    ],
)
def test_what_cannot_be_seen_goes(dirty: str, expected: str) -> None:
    assert clean_text(dirty) == expected


@pytest.mark.req("SPEC-02.34")
@pytest.mark.parametrize(
    "text",
    [
        "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family",
        "\U0001f44d\U0001f3fd and \U0001f469\U0001f3fb\u200d\U0001f4bb",
        "\u2764\ufe0f \u2764\ufe0f\u200d\U0001f525 \u2600\ufe0e",
        "\U0001f3f3\ufe0f\u200d\U0001f308 \U0001f3f4\u200d\u2620\ufe0f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f Scotland",
        "1\ufe0f\u20e3 #\ufe0f\u20e3",
        "می\u200cخواهم",  # Persian: the non-joiner parts a prefix from its verb
        "क्\u200dष and क्\u200cष",  # Devanagari: a half form and an explicit virama
        "ന്\u200d",  # Malayalam: a chillu as it was written before Unicode 5.1
        "葛\U000e0100城市",  # an ideographic variation
        "ᠮᠣᠩ\u180bᠭᠣᠯ",
        "ភាសា\u200bខ្មែរ",  # Khmer marks word ends with a zero-width space
        "café \u00a0 ﬁ Å \u2028 Ω",  # no normalisation
        "x \ue000 private use",
    ],
)
def test_what_writing_needs_stays(text: str) -> None:
    assert clean_text(text) == text


def test_a_run_of_joiners_carries_no_message_even_where_one_is_allowed() -> None:
    assert clean_text("می\u200c\u200d\u200c\u200c\u200dخ") == "می\u200cخ"
    assert clean_text("\u2764\ufe0f\ufe0f\ufe0e\ufe00") == "\u2764\ufe0f"
    assert clean_text("a\u200db") == "ab"


def test_an_escape_sequence_that_never_ends_takes_no_text_with_it() -> None:
    assert clean_text("\x1b]0;title\nsecond line") == "0;title\nsecond line"
    assert clean_text("end \x1b[") == "end "


def test_a_misread_quotation_mark_takes_no_letter_with_it() -> None:
    assert clean_text("\x8bName\x9bNext") == "NameNext"


@pytest.mark.parametrize(
    ("text", "expected", "blocks"),
    [
        ("no tags, a < b", "no tags, a < b", 0),
        ("a <private>x</private> b", "a [private] b", 1),
        ("a <PRIVATE>x</Private> b", "a [private] b", 1),
        ("a < private >x</ private > b", "a [private] b", 1),
        ("<private>a<private>b</private>c</private>d", "[private]d", 1),
        ("a <private>never\nclosed", "a [private]", 1),
        ("<private>1</private> mid <private>2</private>", "[private] mid [private]", 2),
        ("stray </private> stays", "stray </private> stays", 0),
        ("<private-network> is a word, <privately> too", "<private-network> is a word, <privately> too", 0),
    ],
)
def test_a_private_block_is_never_kept(text: str, expected: str, blocks: int) -> None:
    assert strip_private_blocks(text) == (expected, blocks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write `<private>` before it.\nWe use SQLite.", "Write `<private>` before it.\nWe use SQLite."),
        ("``<private>`` and <private>x</private> end", "``<private>`` and [private] end"),
        ("`<private>` and <private>x", "`<private>` and [private]"),
        ("`<private>`x`</private>` end", "`[private]` end"),
        ("<private>x `<private>` y</private> z", "[private]"),
        ("`<private>x", "`[private]"),
        ("The `key`<private>`hunter2` is new", "The `key`[private]"),
        ("`<private password=hunter2>` x", "`[private]"),
        ("```<private>` x", "```[private]"),
        ("`<private>` </private> `<private>` x", "`[private] `[private]"),
    ],
)
def test_who_writes_about_the_tag_in_backticks_and_closes_nothing_hides_nothing(text: str, expected: str) -> None:
    assert strip_private_blocks(text)[0] == expected


def test_of_a_text_that_is_cut_a_tag_in_backticks_may_have_been_closed() -> None:
    text = "`<private>` hunter2 `</private>`"
    assert strip_private_blocks(text[:20], is_cut=True) == ("`[private]", 1)


TAG_SOUP = st.lists(
    st.sampled_from(
        [
            "<private>",
            "</private>",
            "text",
            "\n",
            " ",
            "`",
            "`<private>`",
            "<",
            ">",
            f"<{INJECTED_TAG}>",
            f"<{INJECTED_TAG} a='1'>",
            f"</{INJECTED_TAG}>",
        ]
    ),
    max_size=25,
).map("".join)


@LAWS
@given(TAG_SOUP)
def test_stripping_twice_is_stripping_once(text: str) -> None:
    once = strip_private_blocks(text)[0]
    assert strip_private_blocks(once) == (once, 0)
    assert strip_injected_context(strip_injected_context(text)) == strip_injected_context(text)


@LAWS
@given(st.text(), st.text())
def test_what_stands_in_a_private_block_never_shows(before: str, after: str) -> None:
    text = f"{before.replace('<', '')}<private>hunter2</private>{after.replace('<', '')}"
    assert strip_private_blocks(text)[0] == text.replace("<private>hunter2</private>", "[private]")


def test_an_injected_block_is_removed_and_what_stands_round_it_stays() -> None:
    block = f'<{INJECTED_TAG} query="deploy">\n- a memory\n</{INJECTED_TAG}>\n'
    assert strip_injected_context(f"before\n{block}after") == "before\nafter"
    assert strip_injected_context(f"{block}{block}after") == "after"
    assert strip_injected_context(f"before\n<{INJECTED_TAG}>\ncut off by the") == "before\n"


def test_writing_about_the_injected_tag_is_no_injected_block() -> None:
    text = f"The context stands in `<{INJECTED_TAG}>` and ends with a tag.\nMore text.\n"
    assert strip_injected_context(text) == text


def test_hostile_texts_of_a_million_characters_are_cleaned() -> None:
    size = 1_000_000
    assert clean_text("\x1b]" * (size // 2)) == ""
    assert clean_text("\x1b[" + "0" * size) == "0" * size
    assert clean_text("a\u200d" * (size // 2)) == "a" * (size // 2)
    assert strip_private_blocks("<private>" * (size // 9)) == ("[private]", 1)
    assert strip_private_blocks("</private" * (size // 9))[1] == 0
    assert strip_injected_context(f"\n<{INJECTED_TAG} " * (size // 20)).startswith("\n")
    shown = f"```\n<{INJECTED_TAG}>\n```\n" * (size // 28)
    assert strip_injected_context(shown, is_file=True) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a <private id='1'>secret</private> b",
        'a < PRIVATE note="q>r" >secret</ Private > b',
        "a <private\n  until='2030'>secret</private\n> b",
        "a &lt;private&gt;secret&lt;/private&gt; b",
        "a &#60;private&#62;secret&#60;/private&#62; b",
        r"a \u003cprivate\u003esecret\u003c/private\u003e b",
        r"a \\u003cprivate id=\"1\"\\u003esecret\\u003c/private\\u003e b",
        r'{"text": "a <private id=\"1\">secret<\/private> b"}',
        "a %3Cprivate%3Esecret%3C/private%3E b",
        "```\na <private>secret\n```\n</private> b",
        "a <private>x<private id=2>y</private>secret</private> b",
        "a <private>secret",
    ],
)
def test_a_private_block_is_dropped_however_its_tag_is_written(text: str) -> None:
    public, blocks = strip_private_blocks(text)
    assert "secret" not in public
    assert blocks == 1
    assert strip_private_blocks(public) == (public, 0)


def test_what_only_begins_like_a_private_tag_stays() -> None:
    text = "List<privateKey> and a <private/> mark, private: x < y"
    assert strip_private_blocks(text)[0] == text.replace("<private/>", "[private]")
