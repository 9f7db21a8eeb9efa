"""Builds a database of n memories in bulk: real-shaped texts, vectors of every space, keywords, codes, postings.

Text: the first half of one real chunk and the second half of another. Vectors: a real one plus the difference of two
others, scaled by 0.2 to 0.7 (E1), or a real one with every byte moved a little (the int8 spaces); bits and token states
are real ones. Rows, indexes and blocks are those that the product writes one at a time, written many at a time.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._scale_base import ScaleBase
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.store.vectors import float16
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from hyperloci.store.vectors.fingerprints import COLUMNS, SCANNED_SPACES
from hyperloci.store.vectors.sparse import STEP
from hyperloci.store.vectors.stored_vectors import make_code

NOW: Final = 1_790_000_000_000
YEAR_MS: Final = 365 * 86_400_000
TIERS: Final = {"longterm": 0.01, "session": 0.10, "task": 0.50, "archive": 0.39}
"""Shares of the tiers, drawn by chance: conditions of 1 %, 10 % and 50 % selectivity."""

EDGES_A_NODE: Final = 1.11
MEMBERS_AN_EDGE: Final = 4.5
"""500,000 memberships on 100,000 nodes, with hubs by Zipf's law."""

INT8_NOISE: Final = 12


@dataclass(frozen=True, slots=True)
class _Half:
    text: str
    terms: str
    count: int


class ScaleBuilder:
    """Builds one database from a base of real chunks."""

    def __init__(self, path: Path, base: ScaleBase, n: int) -> None:
        self._base = base
        self._n = n
        self._random = np.random.default_rng(n)
        self._e1 = float16.unpack_half([found.columns["e1"] for found in base.fingerprints])
        self._titles = [" ".join(analyse_text(chunk.title)) for chunk in base.chunks]
        halves = [_split_halves(chunk.content) for chunk in base.chunks]
        self._first, self._second = [first for first, _ in halves], [second for _, second in halves]
        self._store = Store.open(path)
        self._connection = self._store.connection

    def build_database(self) -> None:
        """Write everything."""
        connection = self._connection
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA cache_size = -400000")
        trigger = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'keywords_insert'").fetchone()[0]
        with self._store.transaction():
            model = self._store.vectors.use_model(self._base.model_id, self._base.dimensions, now=NOW)
            connection.execute("DROP TRIGGER keywords_insert")
            scope = self._store.scopes.find_key(GLOBAL_SCOPE)
            self._sparse_keys = self._sparse_terms()
        for first in range(0, self._n + 1, BLOCK_ROWS):
            with self._store.transaction():
                self._write_block(max(1, first), min(first + BLOCK_ROWS, self._n + 1), model, scope)
        with self._store.transaction():
            connection.execute("INSERT INTO keyword_index(keyword_index) VALUES ('rebuild')")
            connection.execute(
                "UPDATE keyword_totals SET (nodes, terms) = (SELECT count(*), sum(length) FROM keywords)"
            )
            connection.execute(trigger)
        with self._store.transaction():
            self._write_graph()
        connection.execute("ANALYZE")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._store.close()

    def _write_block(self, first: int, last: int, model: int, scope: int | None) -> None:
        keys = np.arange(first, last)
        one, two, three = self._random.integers(0, len(self._base.chunks), (3, len(keys)))
        tiers = self._random.choice(list(TIERS), len(keys), p=list(TIERS.values()))
        nodes, keywords = [], []
        for key, a, b, tier in zip(keys.tolist(), one.tolist(), two.tolist(), tiers.tolist(), strict=True):
            time = NOW - YEAR_MS + YEAR_MS * key // self._n
            start, end = self._first[a], self._second[b]
            kind = ("snippet", "code", "code") if key % 2 else ("fact", "insight", "tool")
            text, title = start.text + end.text, self._base.chunks[a].title
            what = (key, str(uuid.uuid4()), kind[0], kind[1], title, text, tier, 0.9, kind[2], scope)
            nodes.append((*what, str(key).encode(), time, time, time, time, time))
            words = f"{start.terms} {end.terms}"
            keywords.append((key, self._titles[a], words, "", start.count + end.count + len(self._titles[a].split())))
        self._connection.executemany(
            "INSERT INTO nodes(key, id, type, subtype, title, content, tier, confidence, origin, scope_key,"
            " content_hash, event_time, created_at, updated_at, last_accessed, valid_from)"
            f" VALUES ({', '.join('?' * 16)})",
            nodes,
        )
        self._connection.executemany("INSERT INTO keywords VALUES (?, ?, ?, ?, ?)", keywords)
        self._write_fingerprints(keys, one, self._move_vectors(one, two, three), model)
        self._write_postings(keys, one)

    def _move_vectors(self, one: NDArray[Any], two: NDArray[Any], three: NDArray[Any]) -> NDArray[np.float32]:
        scale = self._random.uniform(0.2, 0.7, (len(one), 1)).astype(np.float32)
        # The first of each chunk stay as they are: real vectors among the perturbed.
        scale[: len(one) // 7] = 0
        moved = self._e1[one] + scale * (self._e1[two] - self._e1[three])
        return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float32)

    def _write_fingerprints(self, keys: NDArray[Any], one: NDArray[Any], e1: NDArray[np.float32], model: int) -> None:
        noise = self._random.integers(-INT8_NOISE, INT8_NOISE + 1, (len(keys), e1.shape[1]), dtype=np.int16)
        rows = []
        codes: dict[str, dict[int, bytes]] = {space: {} for space in SCANNED_SPACES}
        for place, (key, base) in enumerate(zip(keys.tolist(), one.tolist(), strict=True)):
            found = dict(self._base.fingerprints[base].columns)
            found["e1"] = float16.pack_half(e1[place])
            for column, blob in found.items():
                if column not in ("e1", "e9", "e12"):
                    values = np.frombuffer(blob, np.int8) + noise[place]
                    found[column] = np.clip(values, -127, 127).astype(np.int8).tobytes()
            for space in SCANNED_SPACES:
                if space in found:
                    codes[space][key % BLOCK_ROWS] = make_code(space, found[space])
            rows.append((key, model, NOW, *(found.get(column) for column in COLUMNS)))
        self._connection.executemany(
            f"INSERT INTO fingerprints(node_key, model_key, made_at, {', '.join(COLUMNS)})"
            f" VALUES ({', '.join('?' * (3 + len(COLUMNS)))})",
            rows,
        )
        block = int(keys[-1]) // BLOCK_ROWS
        for space, slots in codes.items():
            if slots:
                self._code_block(space, block, slots)

    def _code_block(self, space: str, block: int, slots: dict[int, bytes]) -> None:
        width = len(next(iter(slots.values())))
        codes = bytearray(BLOCK_ROWS * width)
        for slot, code in slots.items():
            codes[slot * width : (slot + 1) * width] = code
        self._connection.execute(
            "INSERT INTO code_blocks(space, block, version, codes) VALUES (?, ?, random(), ?)",
            (space, block, bytes(codes)),
        )

    def _sparse_terms(self) -> list[tuple[NDArray[np.uint32], NDArray[np.uint8]]]:
        names = sorted({term for found in self._base.fingerprints for term in found.terms})
        self._connection.executemany("INSERT INTO sparse_terms(space, term) VALUES ('e13', ?)", [(n,) for n in names])
        keys = {row[1]: row[0] for row in self._connection.execute("SELECT key, term FROM sparse_terms")}
        answer = []
        for found in self._base.fingerprints:
            items = sorted((keys[term], min(255, round(weight / STEP))) for term, weight in found.terms.items())
            kept = np.array([item for item in items if item[1] > 0], np.uint32).reshape(-1, 2)
            answer.append((kept[:, 0], kept[:, 1].astype(np.uint8)))
        return answer

    def _write_postings(self, keys: NDArray[Any], one: NDArray[Any]) -> None:
        parts = [self._sparse_keys[base] for base in one.tolist()]
        sizes = np.array([len(found) for found, _ in parts])
        if not sizes.sum():
            return
        term = np.concatenate([found for found, _ in parts])
        weight = np.concatenate([weights for _, weights in parts])
        docs = np.empty(len(term), [("term", "<u4"), ("weight", "u1")])
        docs["term"], docs["weight"] = term, weight
        ends = np.cumsum(sizes)
        self._connection.executemany(
            "INSERT INTO sparse_docs(node_key, space, terms) VALUES (?, 'e13', ?)",
            [
                (key, docs[end - size : end].tobytes())
                for key, end, size in zip(keys.tolist(), ends.tolist(), sizes.tolist(), strict=True)
            ],
        )
        postings = np.empty(len(term), [("slot", "<u2"), ("weight", "u1")])
        postings["slot"], postings["weight"] = np.repeat(keys % BLOCK_ROWS, sizes), weight
        order = np.argsort(term, kind="stable")
        found, starts = np.unique(term[order], return_index=True)
        postings = postings[order]
        bounds = [*starts.tolist(), len(term)]
        block = int(keys[-1]) // BLOCK_ROWS
        self._connection.executemany(
            "INSERT INTO sparse_postings(term_key, block, postings) VALUES (?, ?, ?)",
            [
                (key, block, postings[start:end].tobytes())
                for key, start, end in zip(found.tolist(), bounds[:-1], bounds[1:], strict=True)
            ],
        )

    def _write_graph(self) -> None:
        edges = round(min(self._n, 100_000) * EDGES_A_NODE)
        nodes = min(self._n, 100_000)
        labels = self._random.choice(["relates_to", "calls", "imports", "mentions"], edges).tolist()
        self._connection.executemany(
            "INSERT INTO hyperedges(key, id, type, label, automatic, created_at) VALUES (?, ?, 'relation', ?, 1, ?)",
            [(key, f"edge-{key}", label, NOW) for key, label in enumerate(labels, start=1)],
        )
        sizes = self._random.integers(2, round(2 * MEMBERS_AN_EDGE - 2) + 1, edges)
        ranks = self._random.zipf(1.6, sizes.sum())
        # Hubs are few: what the law puts beyond the last node lies anywhere; which nodes are hubs is chance.
        ranks = np.where(ranks > nodes, self._random.integers(1, nodes + 1, len(ranks)), ranks)
        some = self._random.random(len(ranks)) < HUB_SHARE
        members = np.where(some, ranks, self._random.integers(1, nodes + 1, len(ranks)))
        owners = np.repeat(np.arange(1, edges + 1), sizes)
        first = np.append(True, owners[1:] != owners[:-1])
        self._connection.executemany(
            "INSERT OR IGNORE INTO membership(hyperedge_key, node_key, role, position) VALUES (?, ?, ?, ?)",
            [
                (owner, member, "subject" if head else "object", place)
                for place, (owner, member, head) in enumerate(
                    zip(owners.tolist(), members.tolist(), first.tolist(), strict=True)
                )
            ],
        )


HUB_SHARE: Final = 0.01
"""So many memberships are of hubs; the largest then has about 2,000."""


def _split_halves(text: str) -> tuple[_Half, _Half]:
    middle = text.rfind(" ", 0, len(text) // 2 + 1)
    found = [analyse_text(part) for part in (text[:middle], text[middle:])]
    first, second = (
        _Half(part, " ".join(words), len(words))
        for part, words in zip((text[:middle], text[middle:]), found, strict=True)
    )
    return first, second
