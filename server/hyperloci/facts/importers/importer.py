"""Importer: adds the facts, entities and relations of other programs, marked as not stated by the user here.

Existing memories are neither changed nor stored again, so a file may be imported again whenever it has grown. A file is
one transaction: if a line can't be read, nothing is stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from itertools import islice
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.facts.importers import markdown_notes, mcp_memory
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.facts.safe_arguments import safety_metadata, sanitize_argument
from hyperloci.model.answers import ImportReport
from hyperloci.model.imported_memory import ImportedEntity, ImportedFact, ImportedMemory, ImportedRelation
from hyperloci.model.kinds import SHARED_KINDS, SYMMETRIC_LABELS, TRUST, NodeKey, NodeType, Origin, Role, Tier
from hyperloci.model.node import MAX_NAME_CHARS, NewNode, Node
from hyperloci.model.position import Position
from hyperloci.store import Store
from hyperloci.store.export_reading import import_memory
from hyperloci.store.ids import shorten_id
from hyperloci.store.memories.decay import has_faded
from hyperloci.store.memories.entities import squash_name
from hyperloci.system.values import dataclass
from hyperloci.text.place_map import PlaceMap
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize

OWN_FORMAT: Final = "hyperloci"
"""What `hyperloci export` writes."""

MAX_FILE_BYTES: Final = 256_000_000
"""Another program's file is read whole; years of notes and observations make a few megabytes."""

MAX_LABEL_CHARS: Final = 64
"""As `relate` has it."""

KIND_OF_WORD: Final = {
    **dict.fromkeys(("person", "people", "user", "human", "developer", "employee", "contact"), "person"),
    **dict.fromkeys(("project", "repository", "repo", "codebase", "product"), "project"),
    **dict.fromkeys(("organization", "organisation", "company", "team", "group", "department"), "organization"),
    **dict.fromkeys(("place", "location", "city", "country", "region", "office"), "place"),
    **dict.fromkeys(("tool", "library", "framework", "language", "software", "service", "technology"), "tool"),
}
"""Peers let any word be a thing's kind; what none of these is, is a concept."""

_PEEK_BYTES: Final = 1 << 20


class _DryRunError(Exception):
    """Takes back what a dry run wrote."""


def import_file(
    store: Store, source: Path, *, scope: str, project_root: Path, clock: Clock, dry_run: bool = False
) -> ImportReport:
    """Add what is new in a file, and return a report; with `dry_run`, only the report.

    The content decides the kind of file: an export of Hyperloci, the JSON lines of the reference memory server,
    or Markdown notes (`MEMORY.md` with the notes it lists, `CLAUDE.md`).

    Args:
        store: where it goes.
        source: the file.
        scope: the scope that other programs' facts belong in; an export brings its own.
        project_root: what paths of sources are relative to.
        clock: the time.
        dry_run: write nothing.

    Raises:
        NotFoundError: there is no such file.
        BadRequestError: it is a folder, of no kind that can be read, or damaged; the message names the line.
    """
    if source.is_dir():
        raise BadRequestError(f"{source} is a folder: give a file.")
    if not source.is_file():
        raise NotFoundError(f"There is no file at {source}.")
    reader = _choose_reader(source)
    if reader is None:
        return _import_export(store, source, clock, dry_run)
    memories = list(reader(source))
    run = _ImportRun(store, scope, clock, MemoryWriter(store))
    try:
        with store.transaction():
            for path, memory in memories:
                run.add_memory(_display_path(path, project_root), memory)
            if dry_run:
                raise _DryRunError
    except _DryRunError:
        pass
    return ImportReport(
        format=memories[0][1].format,
        files=tuple(str(path) for path, _ in memories),
        added=dict(run.added),
        known=run.known,
        redactions=run.redactions,
        skipped=tuple(run.skipped),
        dry_run=dry_run,
    )


def _import_export(store: Store, source: Path, clock: Clock, dry_run: bool) -> ImportReport:
    added: dict[str, int] = {}
    try:
        if dry_run:
            with store.transaction():
                added = import_memory(store, source, clock=clock)
                raise _DryRunError
        added = import_memory(store, source, clock=clock)
    except _DryRunError:
        pass
    added = {table: count for table, count in added.items() if count}
    return ImportReport(format=OWN_FORMAT, files=(str(source),), added=added, dry_run=dry_run)


_Reader = Callable[[Path], Iterator[tuple[Path, ImportedMemory]]]


def _choose_reader(source: Path) -> _Reader | None:
    """Return what reads a file, None for an export of our own."""
    if source.suffix.lower() in markdown_notes.SUFFIXES:
        return _read_note_files
    with open(source, "rb") as file:
        head = file.read(_PEEK_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
    first = _parse_first_line(head)
    if isinstance(first, dict) and OWN_FORMAT in first:
        return None
    if mcp_memory.is_graph(first) or (first is None and head.startswith(b"{") and b'"entities"' in head):
        return _read_graph_file
    raise BadRequestError(
        f"{source.name}: line 1 is neither a Hyperloci export nor JSON lines of the reference memory server "
        '({"type": "entity", ...}); notes must end in .md.'
    )


def _parse_first_line(head: bytes) -> object:
    try:
        return json.loads(head.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return None


def _read_text(path: Path) -> str:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise BadRequestError(f"{path} has {size} bytes; at most {MAX_FILE_BYTES} are read.")
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadRequestError(f"{path.name}: line {line}: not UTF-8 ({error.reason}).") from error


def _read_graph_file(source: Path) -> Iterator[tuple[Path, ImportedMemory]]:
    yield source, mcp_memory.read_graph(_read_text(source))


def _read_note_files(source: Path) -> Iterator[tuple[Path, ImportedMemory]]:
    text = _read_text(source)
    yield source, _read_notes(source, text)
    for path in markdown_notes.linked_notes(source, sanitize(text).text):
        yield path, _read_notes(path, _read_text(path))


def _read_notes(path: Path, text: str) -> ImportedMemory:
    """Return the statements of notes, without the private parts and keys that span several of them.

    What is private on one line is left to who stores the statement.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    prepared = sanitize(text)
    hidden_lines = text.count("\n") - prepared.text.count("\n")
    if not hidden_lines:
        return markdown_notes.read_notes(path.name, text)
    memory = markdown_notes.read_notes(path.name, prepared.text)
    lines = PlaceMap.between(text, prepared.text).line_of
    facts = tuple(replace(fact, line=lines[fact.line - 1] + 1) for fact in memory.facts)
    return replace(memory, facts=facts, hidden_lines=hidden_lines, redactions=len(prepared.redactions))


def _display_path(path: Path, root: Path) -> str:
    real, base = path.resolve(), root.resolve()
    return real.relative_to(base).as_posix() if real.is_relative_to(base) else real.as_posix()


@dataclass(slots=True)
class _ImportRun:
    """Writes peers' memories inside one transaction."""

    store: Store
    scope: str
    clock: Clock
    writer: MemoryWriter
    added: Counter[str] = field(default_factory=Counter)
    known: int = 0
    redactions: int = 0
    skipped: list[str] = field(default_factory=list)
    targets: dict[tuple[NodeKey, str], set[NodeKey]] = field(default_factory=dict)

    def add_memory(self, path: str, memory: ImportedMemory) -> None:
        """Add what one file holds."""
        for thing in memory.things:
            self._add_entity(path, thing)
        for fact in memory.facts:
            self._add_fact(path, memory.format, fact)
        for relation in memory.relations:
            self._add_relation(path, relation)
        self.redactions += memory.redactions
        if memory.hidden_lines:
            self.skipped.append(
                f"{path}: {memory.hidden_lines} lines are private or belong to a key; "
                "a <private> that is not closed reaches to the end."
            )

    def _add_fact(self, path: str, format: str, fact: ImportedFact) -> None:
        try:
            sanitize_argument("text", _strip_names(fact))
            text = sanitize_argument("text", fact.text)
        except BadRequestError as error:
            self.skipped.append(f"{path}:{fact.line}: {error}")
            return
        self.redactions += len(text.redactions)
        if self.store.nodes.find_duplicate(text.text, self.scope) is not None:
            self.known += 1
            return
        if self.store.nodes.has_ended(text.text, self.scope, Origin.IMPORT):
            self.known += 1  # It was brought before, and has been replaced since.
            return
        forgotten = self._find_forgotten(text.text)
        if forgotten is not None:
            self._skip_forgotten(path, fact.line, forgotten)
            return
        about = (self._find_entity(sanitize(name).text.strip()) for name in fact.about)
        self.writer.write_statement(
            _make_statement(path, format, fact, text, self.scope),
            self.scope,
            now=self.clock(),
            about=[key for key in about if key is not None],
        )
        self.added["facts"] += 1

    def _find_forgotten(self, content: str) -> Node | None:
        """Return the fact with this content that somebody forgot, while it can be restored."""
        node = self.store.nodes.find_forgotten(content, self.scope)
        if node is None:
            return None
        if node.type != NodeType.FACT and node.subtype not in SHARED_KINDS:
            return None  # A turn or a commit says it, no statement.
        is_late = not node.is_restorable(self.clock())
        return None if is_late or has_faded(self.store.log, node.id) else node

    def _find_forgotten_entity(self, name: str) -> Node | None:
        """Return the entity of this name that somebody forgot, while it can be restored."""
        scope = self.store.scopes.find_key(self.scope)
        bearers = () if scope is None else self.store.entities.find_bearers([squash_name(name)], [scope]).values()
        nodes = (self.store.nodes.get_by_key(bearer.key) for one in bearers for bearer in one)
        return next((node for node in nodes if node is not None and node.is_restorable(self.clock())), None)

    def _skip_forgotten(self, path: str, line: int, node: Node) -> None:
        id = shorten_id(node.id)
        self.skipped.append(f"{path}:{line}: it was forgotten; `hyperloci restore {id}` brings it back.")

    def _add_entity(self, path: str, thing: ImportedEntity) -> None:
        name = sanitize(thing.name).text.strip()
        if not name or len(name) > MAX_NAME_CHARS:
            self.skipped.append(
                f"{path}:{thing.line}: a name of {len(name)} characters; 1 to {MAX_NAME_CHARS} are kept."
            )
            return
        if self._find_entity(name) is not None:
            self.known += 1
            return
        if (forgotten := self._find_forgotten_entity(name)) is not None:
            self._skip_forgotten(path, thing.line, forgotten)
            return
        self.writer.add_entity(
            NewNode(
                type=NodeType.ENTITY,
                subtype=KIND_OF_WORD.get(thing.kind.casefold(), "concept"),
                content=name,
                confidence=TRUST[Origin.IMPORT],
                origin=Origin.IMPORT,
                provenance=f"import: {path}:{thing.line}",
                scope=self.scope,
                tier=Tier.LONGTERM,
                metadata={"kind": sanitize(thing.kind).text[:MAX_NAME_CHARS]} if thing.kind else {},
            ),
            now=self.clock(),
        )
        self.added["entities"] += 1

    def _add_relation(self, path: str, relation: ImportedRelation) -> None:
        ends = [self._find_entity(sanitize(name).text.strip()) for name in (relation.source, relation.target)]
        label = "_".join(sanitize(relation.label).text.lower().split())
        if None in ends or ends[0] == ends[1] or not 0 < len(label) <= MAX_LABEL_CHARS:
            self.skipped.append(f"{path}:{relation.line}: {_refusal_reason(relation, ends, label)}")
            return
        source, target = (NodeKey(int(key)) for key in ends if key is not None)
        known = self._list_targets(source, label)
        if target in known:
            self.known += 1
            return
        known.add(target)
        self.store.edges.link_nodes(
            label,
            source,
            [target],
            now=self.clock(),
            confidence=TRUST[Origin.IMPORT],
            evidence=f"import: {path}:{relation.line}",
        )
        if label in SYMMETRIC_LABELS:
            self._list_targets(target, label).add(source)
        self.added["relations"] += 1

    def _list_targets(self, source: NodeKey, label: str) -> set[NodeKey]:
        """Return what a thing is related to so; it is looked up once, as a thing may have thousands of relations."""
        if (source, label) not in self.targets:
            pairs = [edge.members for edge in self.store.edges.list_of_node(source, label) if len(edge.members) == 2]
            self.targets[source, label] = {
                other.node
                for pair in pairs
                for one, other in (pair, pair[::-1])
                if one.node == source and (one.role in (Role.SUBJECT, Role.CAUSE) or label in SYMMETRIC_LABELS)
            }
        return self.targets[source, label]

    def _find_entity(self, name: str) -> NodeKey | None:
        scope = self.store.scopes.find_key(self.scope)
        found = self.store.entities.find_by_name(name, () if scope is None else (scope,))
        return next((entity.node_key for entity in islice(found, 1)), None)


def _strip_names(fact: ImportedFact) -> str:
    """Return what is said of a thing without the name that was put before it: if that is nothing, so is the fact."""
    text = fact.text
    for name in fact.about:
        text = text.removeprefix(f"{name}: ")
    return text


def _make_statement(path: str, format: str, fact: ImportedFact, text: SanitizedText, scope: str) -> NewNode:
    return NewNode(
        type=NodeType.FACT,
        subtype=fact.subtype,
        content=text.text,
        title=sanitize(fact.title).text.strip(),
        confidence=TRUST[Origin.IMPORT],
        origin=Origin.IMPORT,
        provenance=f"import: {path}:{fact.line} ({format})",
        scope=scope,
        tier=Tier.LONGTERM,
        metadata=safety_metadata(text),
        position=Position(
            path=path,
            line_start=fact.line,
            line_end=fact.line + fact.text.count("\n"),
            section_path=tuple(sanitize(part).text for part in fact.section_path),
        ),
    )


def _refusal_reason(relation: ImportedRelation, ends: list[NodeKey | None], label: str) -> str:
    for name, key in zip((relation.source, relation.target), ends, strict=True):
        if key is None:
            return f"{name!r:.80} is not an entity in this file or in the memory."
    if ends[0] == ends[1]:
        return f"{relation.source!r:.80} is related to itself."
    return f"relationType has {len(label)} characters; 1 to {MAX_LABEL_CHARS} are kept."
