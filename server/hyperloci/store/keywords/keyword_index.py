"""Keyword index (E6), its writing side: a node's analysed terms, by field."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store.keywords.analysis import index_text

MAX_HELD: Final = 32
"""Texts that are held back at most: writing them takes 0.6 ms (median), which whoever waits for the lock waits too."""

FORMS_MARK: Final = "\n"
"""In a field, what parts the terms of a text from its emoji and its words' other forms; FTS5 reads it as a space."""

_Row = tuple[str | int, ...]
"""Title, body, extra, length and node key."""


class KeywordIndex:
    """The keyword index of one database; triggers keep FTS5 in step with the table of terms."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._held: list[_Row] | None = None

    @contextlib.contextmanager
    def add_together(self) -> Iterator[None]:
        """Have the texts that the block adds written by few statements, the last at its end.

        After each statement that may have to be undone by itself, FTS5 writes what it holds in memory: a segment for
        each text, which is then merged with others again and again. The block is in one transaction and searches for
        nothing; if it fails, what it added is not written.
        """
        self._held = []
        try:
            yield
            self._write_held()
        finally:
            self._held = None

    def put_text(self, key: NodeKey, *, title: str, body: str, extra: str | None = None) -> None:
        """Index a node, replacing what was there.

        Args:
            key: the node.
            title: where it stands (headings, module, symbol).
            body: its own text.
            extra: context that helps find it but is not its text (the turn before); None keeps what was there.
        """
        self._write_held()
        values = _keyword_values(
            key,
            _write_field(title),
            _write_field(body),
            self._read_extra(key) if extra is None else _write_field(extra),
        )
        updated = self._connection.execute(
            "UPDATE keywords SET title = ?, body = ?, extra = ?, length = ? WHERE node_key = ?", values
        )
        if updated.rowcount == 0:
            self._insert_rows([values])

    def add_text(self, key: NodeKey, *, title: str, body: str, extra: str | None = None) -> None:
        """Index a node that is not in the index yet."""
        row = _keyword_values(key, _write_field(title), _write_field(body), _write_field(extra or ""))
        if self._held is None:
            self._insert_rows([row])
            return
        self._held.append(row)
        if len(self._held) >= MAX_HELD:
            self._write_held()

    def add_extra(self, key: NodeKey, text: str) -> None:
        """Have a node found by further words that are not its text; nothing where it has no text in the index."""
        self._write_held()
        words, further = (part.split() for part in _part_field(self._read_extra(key)))
        new_words, new_further = index_text(text)
        new_words = [term for term in new_words if term not in words]
        further += [term for term in new_further if term not in further]
        self._connection.execute(
            "UPDATE keywords SET extra = ?, length = length + ? WHERE node_key = ?",
            (_join_field([*words, *new_words], further), len(new_words), key),
        )

    def renew_text(self, key: NodeKey, *, title: str, body: str) -> bool:
        """Index a node's text again, if that finds other terms; what is its context keeps those that it has.

        Returns:
            Whether anything changed.
        """
        row = self._connection.execute("SELECT title, body FROM keywords WHERE node_key = ?", (key,)).fetchone()
        if row is None or (row[0], row[1]) == (_write_field(title), _write_field(body)):
            return False
        self.put_text(key, title=title, body=body)
        return True

    def _write_held(self) -> None:
        if self._held:
            self._insert_rows(self._held)
            self._held.clear()

    def _insert_rows(self, rows: Sequence[_Row]) -> None:
        places = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
        self._connection.execute(
            f"INSERT INTO keywords(title, body, extra, length, node_key) VALUES {places}", [*chain.from_iterable(rows)]
        )

    def _read_extra(self, key: NodeKey) -> str:
        row = self._connection.execute("SELECT extra FROM keywords WHERE node_key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def load_bodies(self, keys: Iterable[NodeKey]) -> dict[NodeKey, str]:
        """Return the terms of nodes' own texts, as `analyse_text` gives them, parted by spaces."""
        rows = self._connection.execute(
            "SELECT k.node_key, k.body FROM json_each(?) j CROSS JOIN keywords k ON k.node_key = j.value",
            (json.dumps(list(keys)),),
        )
        return {NodeKey(row[0]): read_words(row[1]) for row in rows}

    def count_texts(self) -> int:
        """Return how many nodes the index holds."""
        return int(self._connection.execute("SELECT nodes FROM keyword_totals").fetchone()[0])


def _write_field(text: str) -> str:
    return _join_field(*index_text(text))


def _join_field(words: Sequence[str], further: Sequence[str]) -> str:
    return " ".join([*words, FORMS_MARK, *further] if further else words)


def read_words(field: str) -> str:
    """Return a stored field's terms as `analyse_text` gives them, parted by spaces."""
    return _part_field(field)[0]


def _part_field(field: str) -> tuple[str, str]:
    words, _, further = field.partition(FORMS_MARK)
    return words.rstrip(" "), further


def _keyword_values(key: NodeKey, title: str, body: str, extra: str) -> _Row:
    """Return a row in the order of its columns; a text is as long as it has words, whatever forms those have."""
    return title, body, extra, sum(len(read_words(field).split()) for field in (title, body, extra)), key
