"""File work: what is to do to store one file, in steps that fit into short transactions, and what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import field

from hyperloci.indexing.file_reader import FreshChunk, FreshFile
from hyperloci.indexing.link_queue import RewrittenChunks
from hyperloci.indexing.write_throttle import WriteTurn
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.kinds import NodeKey
from hyperloci.model.position import Position
from hyperloci.store.projects.files import StoredChunk
from hyperloci.system.values import dataclass


@dataclass(slots=True)
class ChunkTally:
    """How many chunks were added, written anew, only moved, and removed."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that was written. With `gone` chunks it still has its marker: `forget_gone` removes it."""

    file: FreshFile
    file_key: int
    marker: bytes
    gone: tuple[StoredChunk, ...] = ()
    arrived: frozenset[NodeKey] = frozenset()
    rewritten: RewrittenChunks = field(default_factory=RewrittenChunks)


@dataclass(frozen=True, slots=True)
class WriteStep:
    """Storing one chunk: where it stands in its file, and how it is done."""

    place: str
    run: Callable[[], None]


@dataclass(slots=True, kw_only=True)
class FileWork:
    """What is left to do for one file."""

    file_key: int
    marker: bytes
    gone: tuple[StoredChunk, ...]
    is_known: bool
    arrived: set[NodeKey] = field(default_factory=set)
    rewritten: RewrittenChunks = field(default_factory=RewrittenChunks)
    steps: deque[WriteStep] = field(default_factory=deque)
    restructured: bool = False

    def run_steps(self, turn: WriteTurn, run: Callable[[WriteStep], None]) -> bool:
        """Run steps until the turn is over; return whether all are done."""
        while self.steps:
            run(self.steps.popleft())
            if turn.is_over():
                break
        return not self.steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkChange:
    """A stored chunk, what it is now, and what was known of it."""

    old: StoredChunk
    new: FreshChunk
    position: Position | None
    facts: CodeFacts | None

    @property
    def changes_text(self) -> bool:
        """Whether its text is another."""
        return self.old.content_hash != self.new.content_hash

    @property
    def changes_facts(self) -> bool:
        """Whether its code says another thing, or is understood in another way."""
        return self.new.chunk.code is not None and self.facts != self.new.chunk.code

    @property
    def changes_title(self) -> bool:
        """Whether its heading is another."""
        return self.old.title != self.new.title

    @property
    def changes_anything(self) -> bool:
        """Whether anything of it is another."""
        same_place = self.position == self.new.chunk.position and self.facts == self.new.chunk.code
        return self.changes_text or self.changes_title or not same_place
