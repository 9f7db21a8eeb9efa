"""From text to terms, the index kept in step, and searches of it (E6)."""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity
from hyperloci.store.keywords import analysis
from hyperloci.store.keywords.analysis import (
    MAX_KNOWN_RUNS,
    MAX_TERM_CHARS,
    analyse_query,
    analyse_search,
    analyse_text,
    index_text,
    stop_words,
)
from hyperloci.store.keywords.keyword_index import MAX_HELD
from hyperloci.store.search import keyword_search
from hyperloci.store.search.keyword_search import quote_term
from tests.support import NOW, add, examples


def search(store: Store, query: str, limit: int = 50, where: SearchFilter | None = None) -> dict[int, float]:
    return store.keyword_search.rank_by_bm25(
        analyse_search(query), store.filters.select_allowed(where or SearchFilter()), limit
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t.,;", []),
        ("The runners were running", ["the", "runner", "were", "run"]),
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("__init__", ["init"]),
        ("_private", ["privat"]),
        ("MAX_TERM", ["max_term", "max", "term"]),
        ("Plain", ["plain"]),
        ("v1.2.3", ["v1", "v", "1", "2", "3"]),
        ("don't", ["don", "t"]),
        ("it's s", ["it", "s", "s"]),
        ("Straße ΛΌΓΟΣ", ["strass", "λόγοσ"]),
        ("İstanbul", ["i̇stanbul"]),
        ("日本語", ["日本", "本語"]),
        ("語", ["語"]),
        ("使用Python编写", ["使用", "python", "编写"]),
        ("getUser名前", ["getuser", "get", "user", "名前"]),
        ("中_文", ["中", "文"]),
        ("한국어 텍스트", ["한국", "국어", "텍스", "스트"]),
        ("𠀀𠀁𠀂", ["𠀀𠀁", "𠀁𠀂"]),
        ("ＡＢＣ１", ["abc1", "abc", "1"]),
        ("cafe\u0301", ["café"]),
        ("ﬁne", ["fine"]),
    ],
)
def test_a_text_becomes_these_terms(text: str, expected: list[str]) -> None:
    assert analyse_text(text) == expected


def test_runs_too_long_to_be_asked_for_are_left_out_and_nothing_else() -> None:
    hash_like = "a" * (MAX_TERM_CHARS + 1)
    assert analyse_text(f"before {hash_like} after") == ["befor", "after"]


@hypothesis_settings(max_examples=examples(200))
@given(st.text(alphabet="aB2_ -.\n\x1c\x7fé", max_size=60))
def test_words_are_parted_by_all_but_letters_digits_and_joining_underscores(text: str) -> None:
    words = re.findall(r"[^\W_]+(?:_+[^\W_]+)*", text)
    assert analyse_text(text) == [term for word in words for term in analyse_text(word)]


def test_terms_stay_right_when_more_words_come_than_are_kept_at_hand() -> None:
    words = [f"word{number}" for number in range(MAX_KNOWN_RUNS + 1)]
    assert analyse_text(" ".join(words))[::3] == words
    assert analyse_text("word0") == ["word0", "word", "0"]
    assert analyse_text("a" * MAX_TERM_CHARS) == ["a" * MAX_TERM_CHARS]
    # A sentence without spaces is no such run.
    assert len(analyse_text("語" * 200)) == 199


def test_stop_words_are_indexed_and_asked_for_only_when_nothing_else_is() -> None:
    assert analyse_query("how do I restart the server") == ["restart", "server"]
    assert analyse_query("To be, or not to be") == ["to", "be", "or", "not"]
    assert "the" in analyse_text("the server")
    assert analyse_query("") == analyse_query("?!") == []
    assert analyse_query("server SERVER servers") == ["server"]
    assert all(word == word.lower() for word in stop_words())


@hypothesis_settings(max_examples=examples(200))
@given(st.text())
def test_terms_are_what_the_index_and_the_scorer_both_see(text: str) -> None:
    found = analyse_text(text)
    assert " ".join(found).split() == found
    assert all(term and " " not in term and term == term.casefold() for term in found)
    assert analyse_text(text) == found
    assert set(analyse_query(text)) <= set(found)


@hypothesis_settings(max_examples=examples(100))
@given(st.text(), st.text())
def test_a_text_has_the_terms_of_its_parts(one: str, two: str) -> None:
    assert analyse_text(f"{one} . {two}") == analyse_text(one) + analyse_text(two)


@pytest.fixture(scope="module")
def shared() -> Iterator[Store]:
    """One database for tests that leave nothing behind."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        yield store


class Undo(Exception):
    """Takes an example's writes back."""


@pytest.mark.req("SPEC-02.34")
@hypothesis_settings(max_examples=examples(200))
@given(
    content=st.text(min_size=1).filter(str.strip),
    title=st.text(),
    query=st.one_of(
        st.text(),
        st.sampled_from(
            [
                '"',
                '""',
                "'",
                "a AND b",
                "a OR NOT b",
                "NEAR(a b, 2)",
                "title:a",
                "a*",
                "^a",
                "{a b}",
                "a -b",
                "(",
                "\0",
                "a\0b",
                "--",
                ";",
            ]
        ),
    ),
)
def test_no_text_breaks_the_index_and_no_query_its_syntax(shared: Store, content: str, title: str, query: str) -> None:
    with pytest.raises(Undo), shared.transaction():
        node = add(shared, content, title=title)
        for asked in (query, content, title):
            found = search(shared, asked)
            held = {*chain(*index_text(title), *index_text(content))}
            holds = not held.isdisjoint(analyse_search(asked))
            assert (node.key in found) is holds
        raise Undo
    assert integrity.check_integrity(shared) == []


@hypothesis_settings(max_examples=examples(100))
@given(st.text(min_size=1))
def test_every_term_a_text_can_have_is_quoted_into_a_query_for_itself(shared: Store, text: str) -> None:
    sql = "SELECT count(*) FROM keyword_index WHERE keyword_index MATCH ?"
    with pytest.raises(Undo), shared.transaction():
        found = analyse_text(text)
        if found:
            add(shared, text)
        for term in found:
            assert shared.connection.execute(sql, (quote_term(term),)).fetchone()[0] == 1
        raise Undo
    assert quote_term('a"b') == '"a""b"'


def test_every_script_is_found_by_its_own_words(store: Store) -> None:
    texts = [
        "ο λόγος του",
        "Übergröße straße",
        "İstanbul",
        "𞤀𞤣𞤤𞤢𞤥 pulaar",
        "हिन्दी भाषा",
        "עברית",
        "ǅungla",
        "Ⅷ ½",
        "ไทย",
        "память",
    ]
    for text in texts:
        node = add(store, text)
        for word in text.split():
            assert node.key in search(store, word), word
    assert search(store, "ΛΌΓΟΣ") and search(store, "STRASSE") and search(store, "ПАМЯТЬ")


# A straightforward BM25 over fields, as the documentation states it.
def reference(documents: dict[int, tuple[str, str, str]], query: list[str], allowed: set[int]) -> dict[int, float]:
    fields = {key: [analyse_text(text) for text in texts] for key, texts in documents.items()}
    lengths = {key: sum(map(len, parts)) for key, parts in fields.items()}
    average = max(1.0, sum(lengths.values()) / len(documents))
    frequency = Counter(term for parts in fields.values() for term in set().union(*parts))
    scores: dict[int, float] = {}
    for key in allowed:
        score = 0.0
        for term in query:
            count = sum(weight * part.count(term) for part, weight in zip(fields[key], (2.0, 1.0, 0.5), strict=True))
            idf = math.log(1 + (len(documents) - frequency[term] + 0.5) / (frequency[term] + 0.5))
            score += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * lengths[key] / average))
        if score > 0:
            scores[key] = score
    return scores


VOCABULARY = ["red", "green", "blue", "getUserName", "run", "runs", "running", "the", "日本語", "a1", "x"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=8)
TEXTS = st.tuples(WORDS, WORDS.filter(bool), WORDS).map(lambda parts: tuple(" ".join(part) for part in parts))


@hypothesis_settings(max_examples=examples(60))
@given(
    documents=st.lists(TEXTS, min_size=1, max_size=12),
    query=WORDS,
    hidden=st.sets(st.integers(0, 11)),
    limit=st.integers(1, 12),
)
def test_ranking_is_bm25_over_fields_when_nothing_is_cut(
    shared: Store, documents: list[tuple[str, str, str]], query: list[str], hidden: set[int], limit: int
) -> None:
    asked = analyse_query(" ".join(query))
    with pytest.raises(Undo), shared.transaction():
        keys = [add(shared, body, title=title, extra_terms=extra).key for title, body, extra in documents]
        allowed = np.zeros(max(keys) + 1, np.bool_)
        visible = {key for place, key in enumerate(keys) if place not in hidden}
        allowed[list(visible)] = True
        hits = shared.keyword_search.rank_by_bm25(asked, allowed, limit)
        expected = reference(dict(zip(keys, documents, strict=True)), asked, {int(key) for key in visible})
        best = sorted(expected, key=lambda key: (-expected[key], key))[:limit]
        assert list(hits.values()) == pytest.approx([expected[key] for key in best])
        assert {round(expected[key], 9) for key in hits} == {round(expected[key], 9) for key in best}
        looked_up = shared.keyword_search.prepare_query(asked, allowed)
        assert looked_up is None or all(score <= looked_up.ceiling for score in hits.values())
        raise Undo


def test_equal_scores_come_in_the_order_of_keys(store: Store) -> None:
    nodes = [add(store, "same words") for _ in range(6)]
    assert list(search(store, "words")) == [node.key for node in nodes]
    assert list(search(store, "words", limit=2)) == [node.key for node in nodes[:2]]


def test_what_nobody_wrote_is_not_found(store: Store) -> None:
    assert search(store, "anything") == {}
    add(store, "something")
    assert search(store, "anything") == search(store, "") == search(store, "!?") == {}
    assert store.keyword_search.rank_by_bm25([], store.filters.select_allowed(SearchFilter()), 5) == {}


def test_a_title_counts_double_and_context_half(store: Store) -> None:
    filler = "some other words"
    context = add(store, filler, extra_terms="needle", title="x")
    title = add(store, filler, extra_terms="x", title="needle")
    body = add(store, f"{filler} needle", title="x")
    assert list(search(store, "needle")) == [title.key, body.key, context.key]


def test_a_question_of_stop_words_alone_is_still_answered(store: Store) -> None:
    node = add(store, "to be or not to be")
    assert list(search(store, "to be, or not to be?")) == [node.key]


def test_filters_are_respected(store: Store) -> None:
    here = add(store, "needle", scope="here")
    add(store, "needle", scope="there")
    gone = add(store, "needle", scope="here")
    with store.transaction():
        store.nodes.delete_node(gone.id, now=NOW)
    assert list(search(store, "needle", where=SearchFilter(scopes=("here",)))) == [here.key]
    assert search(store, "needle", where=SearchFilter(scopes=("nowhere",))) == {}


def test_nodes_younger_than_the_bitmap_are_not_found(store: Store) -> None:
    old = add(store, "needle")
    allowed = store.filters.select_allowed(SearchFilter())
    add(store, "needle")
    assert list(store.keyword_search.rank_by_bm25(["needl"], allowed, 5)) == [old.key]


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(keyword_search, "POSTING_BUDGET", 10)
    monkeypatch.setattr(keyword_search, "ENOUGH", 3)
    monkeypatch.setattr(keyword_search, "RESCORED", 5)
    return 10


@pytest.mark.usefixtures("budget")
def test_a_few_allowed_nodes_are_found_among_very_many_newer_ones(store: Store) -> None:
    mine = [add(store, "common words", scope="mine") for _ in range(2)]
    for _ in range(45):
        add(store, "common words", scope="others")
    found = search(store, "common", where=SearchFilter(scopes=("mine",)))
    assert list(found) == [node.key for node in mine]


@pytest.mark.usefixtures("budget")
def test_where_next_to_nothing_is_allowed_no_frequent_terms_postings_are_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = [add(store, text, scope="mine") for text in ("common words", "common", "other words")]
    for _ in range(45):
        add(store, "common words", scope="others")
    monkeypatch.setattr(keyword_search.KeywordSearch, "_newest_postings", lambda *_: pytest.fail("read"))
    monkeypatch.setattr(keyword_search, "FEW_ALLOWED", 0.1)
    assert list(search(store, "common", where=SearchFilter(scopes=("mine",)))) == [mine[1].key, mine[0].key]
    assert next(iter(search(store, "common words", where=SearchFilter(scopes=("mine",))))) == mine[0].key
    assert search(store, "common", where=SearchFilter(scopes=("nowhere",))) == {}


@pytest.mark.usefixtures("budget")
def test_of_very_many_equal_nodes_the_newest_are_scored(store: Store) -> None:
    nodes = [add(store, "common words") for _ in range(30)]
    assert set(search(store, "common", 5)) == {node.key for node in nodes[-5:]}


def test_what_a_question_has_scored_is_not_read_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [add(store, text).key for text in ("the cache is warm", "a cache of caches", "nothing of it")]
    query = store.keyword_search.prepare_query(["cach"], store.filters.select_allowed(SearchFilter()))
    assert query is not None
    first = query.score_bm25(keys[:2])
    monkeypatch.setattr(keyword_search, "_bm25", lambda *_: pytest.fail("read again"))
    assert query.score_bm25(keys) == first | {keys[2]: 0.0}
    assert query.score_bm25(keys[1:2]) == {keys[1]: first[keys[1]]}


@pytest.mark.usefixtures("budget")
def test_rare_terms_decide_who_is_scored_and_frequent_ones_fill_up(store: Store) -> None:
    rare = [add(store, "rare common") for _ in range(4)]
    for _ in range(40):
        add(store, "common")
    assert set(search(store, "rare common", 5)) >= {node.key for node in rare}
    one = add(store, "unique common")
    found = search(store, "unique common", 5)
    assert next(iter(found)) == one.key and len(found) == 5


@pytest.mark.usefixtures("budget")
def test_a_rare_term_that_only_others_have_does_not_hide_a_frequent_one(store: Store) -> None:
    mine = add(store, "common", scope="mine")
    add(store, "xyzzy", scope="others")
    for _ in range(30):
        add(store, "common", scope="others")
    assert list(search(store, "xyzzy common", where=SearchFilter(scopes=("mine",)))) == [mine.key]


def in_step(store: Store) -> bool:
    return integrity.check_integrity(store) == [] and integrity.count_violations(store) == {}


def test_the_index_follows_every_change(store: Store) -> None:
    nodes = [add(store, f"first text {number}", title="old") for number in range(4)]
    with store.transaction():
        store.keywords.put_text(nodes[0].key, title="new", body="second text", extra="hint")
        store.keywords.put_text(nodes[0].key, title="newer", body="third text")
    assert list(search(store, "hint")) == [nodes[0].key]
    assert search(store, "second") == {}
    assert list(search(store, "third")) == [nodes[0].key]
    assert in_step(store)
    with store.transaction():
        store.keywords.add_extra(nodes[0].key, "clue hint")
    assert list(search(store, "hint")) == list(search(store, "clue")) == [nodes[0].key]
    assert in_step(store)
    with store.transaction():
        store.keywords.put_text(nodes[0].key, title="", body="third", extra="")
    assert search(store, "hint") == search(store, "newer") == {}
    with store.transaction():
        store.connection.execute("DELETE FROM keywords WHERE node_key = ?", (nodes[1].key,))
    assert nodes[1].key not in search(store, "text")
    with store.transaction():
        store.connection.execute("DELETE FROM nodes WHERE key IN (?, ?)", (nodes[1].key, nodes[2].key))
    assert set(search(store, "text")) == {nodes[3].key}
    assert in_step(store)
    totals = store.connection.execute("SELECT nodes, terms FROM keyword_totals").fetchone()
    assert tuple(totals) == (2, 1 + 4)


def test_what_a_failed_transaction_indexed_is_not_found(store: Store) -> None:
    add(store, "kept words")
    with pytest.raises(Undo), store.transaction():
        add(store, "lost words")
        raise Undo
    assert search(store, "lost") == {} and len(search(store, "words")) == 1
    assert in_step(store)


def test_how_many_nodes_hold_a_term_is_known(store: Store) -> None:
    for text in ("red", "red red green", "blue"):
        add(store, text)
    assert store.keyword_search.count_frequencies(["red", "green", "black", '"', ""]) == {"red": 2, "green": 1}


# What is kept of a term from one search to the next.

CHANGES = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(["red", "red green", "green blue", "blue blue red"])),
    st.tuples(st.just("reword"), st.sampled_from(["red", "green", "black"])),
    st.tuples(st.just("unindex"), st.just("")),
    st.tuples(st.just("index"), st.sampled_from(["red", "green red"])),
    st.tuples(st.just("purge"), st.just("")),
    st.tuples(st.just("fail"), st.sampled_from(["red", "green"])),
)


def snapshot_search(store: Store) -> tuple[dict[str, int], dict[int, float]]:
    with store.snapshot():
        return store.keyword_search.count_frequencies(["red", "green", "black"]), search(store, "red green black")


@hypothesis_settings(max_examples=examples(60))
@given(changes=st.lists(st.tuples(st.booleans(), CHANGES, st.integers(0, 9)), max_size=12), kept=st.integers(1, 40))
def test_a_reader_finds_after_any_change_what_one_finds_who_knew_nothing(
    changes: list[tuple[bool, tuple[str, str], int]], kept: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(keyword_search, "KEPT_POSTINGS", kept)
        with Store.open(Path(folder) / "memory.db") as reader, Store.open(reader.path) as other:
            for own, (what, text), place in changes:
                change(reader if own else other, what, text, place)
                found = snapshot_search(reader)
                with Store.open(reader.path) as fresh:
                    assert found == snapshot_search(fresh)


def change(store: Store, what: str, text: str, place: int) -> None:
    keys = [row[0] for row in store.connection.execute("SELECT key FROM nodes ORDER BY key")]
    if what == "add" or not keys:
        add(store, text or "red")
        return
    key = keys[place % len(keys)]
    if what == "fail":
        with pytest.raises(Undo), store.transaction():
            store.keywords.put_text(key, title=text, body=text)
            search(store, "red green black")
            raise Undo
        return
    with store.transaction():
        if what == "purge":
            store.connection.execute("DELETE FROM nodes WHERE key = ?", (key,))
        elif what == "unindex":
            store.connection.execute("DELETE FROM keywords WHERE node_key = ?", (key,))
        else:
            store.keywords.put_text(key, title="", body=text)


def test_of_what_was_written_since_only_the_new_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "red one")
    snapshot_search(store)
    asked: list[tuple[int, int]] = []
    between = keyword_search.KeywordSearch._between

    def watched(self: keyword_search.KeywordSearch, term: str, after: int, last: int) -> object:
        asked.append((after, last))
        return between(self, term, after, last)

    monkeypatch.setattr(keyword_search.KeywordSearch, "_between", watched)
    new = add(store, "red two")
    assert new.key in snapshot_search(store)[1]
    assert set(asked) == {(new.key - 1, new.key)}
    asked.clear()
    snapshot_search(store)
    assert asked == []


def test_no_node_scores_more_than_its_bound(store: Store) -> None:
    nodes = [add(store, text) for text in ("red", "red " * 50, "green red", "blue")]
    query = store.keyword_search.prepare_query(analyse_query("red green"), store.filters.select_allowed(SearchFilter()))
    assert query is not None
    keys = np.array([node.key for node in nodes])
    scores = query.score_bm25(keys.tolist())
    bounds = dict(zip(keys.tolist(), query.upper_bounds(keys).tolist(), strict=True))
    assert all(scores[key] <= bounds[key] <= query.ceiling for key in scores)
    assert bounds[nodes[3].key] == 0 < bounds[nodes[0].key] < bounds[nodes[2].key]


def test_a_search_that_failed_leaves_nothing_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "red one")
    before = search(store, "red one")

    def fail(*args: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(np, "concatenate", fail)
        search(store, "red one")
    assert search(store, "red one") == before


def count_segments(store: Store) -> int:
    return int(store.connection.execute("SELECT count(DISTINCT segid) FROM keyword_index_idx").fetchone()[0])


def test_texts_added_together_are_all_found_and_leave_one_segment(store: Store) -> None:
    with store.transaction(), store.keywords.add_together():
        keys = [int(add(store, f"the lantern number {number}").key) for number in range(MAX_HELD)]
    assert set(search(store, "lantern")) == set(keys)
    assert store.keywords.count_texts() == len(keys)
    assert count_segments(store) == 1
    assert integrity.check_integrity(store) == []


def test_more_texts_than_are_held_are_all_found(store: Store) -> None:
    with store.transaction(), store.keywords.add_together():
        keys = [int(add(store, f"the lantern number {number}").key) for number in range(MAX_HELD + 1)]
    assert set(search(store, "lantern", limit=100)) == set(keys)


def test_a_text_that_changes_while_it_is_held_is_found_by_its_new_words_only(store: Store) -> None:
    with store.transaction(), store.keywords.add_together():
        node = add(store, "the lantern")
        store.nodes.update_node(node.id, now=NOW, content="the harbour")
    assert not search(store, "lantern")
    assert set(search(store, "harbour")) == {int(node.key)}


def test_what_failed_together_leaves_nothing_for_the_next_text(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction(), store.keywords.add_together():
        add(store, "the lantern")
        raise ZeroDivisionError
    kept = add(store, "the harbour")
    assert set(search(store, "lantern harbour")) == {int(kept.key)}
    assert store.keywords.count_texts() == 1


def test_words_of_other_alphabets_need_no_pattern_that_takes_long_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "_runs", lambda: pytest.fail("compiled"))
    assert analyse_text("проверка_ключей Schlüssel") == ["проверка_ключей", "schlüssel"]
