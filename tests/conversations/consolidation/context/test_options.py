"""What a reply offers to choose from, and which of it an answer names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.context.options import find_choice, find_option, names_no_option
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER, TurnView
from tests.support import examples

LISTED = "Three ways:\n\n1. Redis with a lock per tenant\n2. an advisory lock in Postgres\n3. nothing, and retry"
BRACKETED = "Two ways:\n1. a key in Redis (with a TTL)\n2. a unique constraint on (order_id, attempt) in Postgres"
LETTERED = "Two ways:\na) keep the raw bytes\nb) normalise them on write"
INLINE = "Either (a) keep the raw bytes, or (b) normalise them on write"
COUNTED = "Both would do. 1. Metabase: you have it already. 2. Lightdash: reads the models"
NAMED = "For releases: **Option A:** trunk with flags. **Option B:** a branch for each release. I'd take option A here."
BOLD = "How do I log?\n- **1** – JSON to stdout\n- **2** – text, as now\n- **3** – both"
COLONS = "Who reviews? 1: two of the team, 2: anybody but the author, 3: nobody. I wouldn't take 3."
FIGURES = "How long do we keep events? a) 30 days, b) 90 days, c) until the contract ends. Analytics needs about 60."
PLACED = (
    "I see two ways. First: keep the limit and try once more. Second: wait up to 1.5 seconds and do not try again. "
    "The second doubles nothing."
)
STEPS = "First: I read the module. Second: I raised the limit to 5. What is next?"


def option_of(answer: str, reply: str) -> str | None:
    option = find_option(answer, TurnView(0, ASSISTANT, reply))
    if option is None:
        return None
    assert reply[option.start :].lstrip().startswith(option.text)
    return option.text


OPTIONS = [
    ("2", LISTED, "an advisory lock in Postgres"),
    ("2. we have no redis", LISTED, "an advisory lock in Postgres"),
    ("1) then", LISTED, "Redis with a lock per tenant"),
    ("b, always", LETTERED, "normalise them on write"),
    ("(B) it is", LETTERED, "normalise them on write"),
    ("(a) please", INLINE, "keep the raw bytes, or"),
    ("1", "Two ways:\n1. a hash map, O(n) in memory\n2. a scan", "a hash map, O(n) in memory"),
    ("2", BRACKETED, "a unique constraint on (order_id, attempt) in Postgres"),
    ("(a)", "Either (a) refuse (loudly), or (b) decrypt", "refuse (loudly), or"),
    ("the first one", LISTED, "Redis with a lock per tenant"),
    ("let's take the third", LISTED, "nothing, and retry"),
    ("the last one, it's simplest", LISTED, "nothing, and retry"),
    ("the latter", LETTERED, "normalise them on write"),
    ("второй вариант", LISTED, "an advisory lock in Postgres"),
    ("i take the first, is more easy", LISTED, "Redis with a lock per tenant"),
    ("option b for now", LETTERED, "normalise them on write"),
    ("number 3 please", LISTED, "nothing, and retry"),
    ("die zwei", LISTED, "an advisory lock in Postgres"),
    ("the second, she will be glad", COUNTED, "Lightdash: reads the models"),
    ("1", COUNTED, "Metabase: you have it already."),
    ("b", NAMED, "a branch for each release."),
    ("go with a", NAMED, "trunk with flags."),
    ("option B, definitely", NAMED, "a branch for each release."),
    ("2", BOLD, "text, as now"),
    ("nimm 2", COLONS, "anybody but the author"),
    ("nr. 1 bitte", COLONS, None),
    ("la 2!", COLONS, "anybody but the author"),
    ("the last one", COLONS, "nobody."),
    ("b, not a day longer", FIGURES, "90 days"),
    ("c please", FIGURES, "until the contract ends."),
    ("The second.", PLACED, "wait up to 1.5 seconds and do not try again."),
    ("first one please", PLACED, "keep the limit and try once more."),
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("answer", "reply", "option"), OPTIONS)
def test_an_answer_names_an_option_by_its_mark_or_place(answer: str, reply: str, option: str | None) -> None:
    assert option_of(answer, reply) == option


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "reply",
    [
        "**1. Redis** – fast\n**2. Memcached** – simple",
        "1. **Redis** – fast\n2. **Memcached** – simple",
        "- **1. Redis** – fast\n- **2. Memcached** – simple",
        "**1) Redis – fast**\n**2) Memcached – simple**",
        "I see **Option 1: Redis** – fast\nand **Option 2: Memcached** – simple",
    ],
)
def test_an_option_is_told_without_the_stars_of_its_offer(reply: str) -> None:
    option = find_option("1", TurnView(0, ASSISTANT, reply))
    assert option is not None and option.text == "Redis – fast"


@pytest.mark.parametrize("option", ["`SELECT **kwargs`", "keep src/**/*.py in the glob", "use 2 ** 3"])
def test_an_option_keeps_stars_that_emphasise_nothing(option: str) -> None:
    assert option_of("1", f"1. {option}\n2. nothing") == option


@pytest.mark.parametrize(
    "reply", ["I raised it to 1. 5 and 2. 7 again", "Plan B. Then plan C.", "C: is full. D: is not"]
)
def test_marks_that_do_not_count_from_the_first_on_offer_nothing(reply: str) -> None:
    assert option_of("2", reply) is None
    assert option_of("b", reply) is None


@pytest.mark.parametrize(
    "answer",
    [*("at most 3", "make it 2", "max retries: 3", "python 3", "undo 2", "all 3", "commit 1 and 2"), "why 2?", "not 2"],
)
def test_a_number_that_something_else_is_said_with_is_no_mark(answer: str) -> None:
    done = "Done:\n1. added a retry loop\n2. wrote two tests\n3. bumped the version\nHow many retries at most?"
    assert option_of(answer, done) is None


@pytest.mark.parametrize("answer", ["neither a nor b", "both a and b", "not b", "anything but b", "rename b"])
def test_a_letter_that_something_else_is_said_with_is_no_mark(answer: str) -> None:
    assert option_of(answer, LETTERED) is None
    assert option_of(answer, "It is `def scale(self, a: int, b: float)` now") is None


@pytest.mark.parametrize("answer", ["I'd say 2", "ok, then 2.", "Let’s do 2", "lieber 2!", "давай 2", "тогда 2"])
def test_a_mark_may_stand_behind_the_words_of_who_chooses(answer: str) -> None:
    assert option_of(answer, LISTED) == "an advisory lock in Postgres"


@pytest.mark.parametrize(
    "answer", ["go with 2, but name it attempt_no", "la 2, pero con captura manual", "nimm 2; und ohne Cache bitte"]
)
def test_an_answer_may_go_on_behind_the_mark_that_it_chooses(answer: str) -> None:
    assert option_of(answer, LISTED) == "an advisory lock in Postgres"


@pytest.mark.parametrize("answer", ["take a, b and the rest later", "not b, the other one", "rename b, then push it"])
def test_more_than_one_mark_or_another_verb_chooses_none(answer: str) -> None:
    assert option_of(answer, LETTERED) is None


@pytest.mark.parametrize("answer", ["do 1. and 2.", "let's do 1, and 3 next week"])
def test_a_second_number_behind_a_word_chooses_none_either(answer: str) -> None:
    assert option_of(answer, LISTED) is None


def test_options_that_are_weighed_by_name_behind_the_offer_are_those_of_the_offer() -> None:
    weighed = f"{BOLD}\n\nOption 1 is easy to parse, option 2 needs no work."
    assert option_of("2", weighed) == "text, as now"
    assert option_of("option 2", weighed) == "text, as now"


@pytest.mark.parametrize(
    ("answer", "chooses"), [("2?", False), ("option 2?", False), ("2, can you add tests too?", True)]
)
def test_who_asks_about_an_option_has_not_chosen_it(answer: str, chooses: bool) -> None:
    found = find_choice([TurnView(0, ASSISTANT, LISTED), TurnView(1, USER, answer)], 1)
    assert (found is not None) is chooses


def test_only_a_short_turn_of_the_users_chooses() -> None:
    def chosen(answer: str, speaker: str = USER) -> bool:
        return find_choice([TurnView(0, ASSISTANT, LISTED), TurnView(1, speaker, answer)], 1) is not None

    assert chosen("2, the others cost money")
    assert not chosen("2. " + "we had that once and it broke each time somebody moved a tenant " * 2)
    assert not chosen("2", ASSISTANT)


@pytest.mark.parametrize("answer", ["7", "(7)", "12."])
def test_a_number_that_no_option_has_names_none(answer: str) -> None:
    assert option_of(answer, LISTED) is None
    assert names_no_option(answer, TurnView(0, ASSISTANT, LISTED))
    assert not names_no_option(answer, TurnView(0, ASSISTANT, "How many?"))


def test_an_option_without_words_is_none() -> None:
    assert option_of("the first", "First: Second: keep the limit") is None


def test_a_list_of_one_offers_no_choice() -> None:
    assert option_of("1, yes", "1. Should I drop the queue?") is None


def test_steps_that_were_taken_are_no_options_for_an_answer_of_more_than_their_place() -> None:
    assert option_of("first fix the tests, then merge it", STEPS) is None
    assert option_of("the first", STEPS) == "I read the module."


@given(st.text(max_size=80), st.text(max_size=500))
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_said_an_option_stands_in_the_reply_word_for_word(answer: str, reply: str) -> None:
    option = option_of(answer, reply)
    assert option is None or option in reply
