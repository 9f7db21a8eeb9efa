"""Prose relations: links, and mentions of files, documents, commits, issues and code symbols (D.03).

Only what is said outright counts: a link, a path, a number (`RFC-013`, `#12`), a hash, a heading by its name after
"see", a symbol in backticks that the project has exactly once. A word that tells what the reference is for ("depends
on", "supersedes", "contradicts") right before it, in the same sentence and not denied, gives a second, typed relation.
"However" and "unlike" are no contradiction: what they set apart is mostly both true.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

from hyperloci.knowledge.names.written_names import dotted_suffixes, is_suffix_of_symbol
from hyperloci.knowledge.relations.code_relations import MAX_OUT
from hyperloci.knowledge.relations.file_view import CLASS_LIKE
from hyperloci.knowledge.relations.name_resolution import CodeContext
from hyperloci.model.edge import WantedRelation
from hyperloci.model.kinds import NodeKey
from hyperloci.store.memories.relation_queue import LinkableSnippet
from hyperloci.store.projects.set_aside import note_failure_of
from hyperloci.system.values import dataclass
from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.sentences import sentence_spans

LABELS: Final = (
    "links",
    "documents",
    "relates_to",
    "depends_on",
    "supersedes",
    "contradicts",
    "elaborates",
    "summarizes",
    "exemplifies",
)
"""The labels of edges from prose."""

LINKED: Final = 0.98
NAMED_FILE: Final = 0.9
NAMED_DOCUMENT: Final = 0.85
NAMED_SECTION: Final = 0.8
NAMED_COMMIT: Final = 0.9
SAME_ISSUE: Final = 0.6
DOTTED: Final = 0.9
NAMED: Final = 0.85
NAMED_METHOD: Final = 0.7
"""A method by its bare name: the project has one, but the text may speak of a field or another library's."""
CUE: Final = 0.7
"""A cue is read from a few words before a reference: right four times in five, hence kept apart from the reference."""

MAX_COMMITS_OF_ISSUE: Final = 3
"""An issue that more commits name is a release or a long discussion."""

MAX_LINK_CHARS: Final = 1_000
"""A longer link is data."""

CUE_CHARS: Final = 80
"""Characters before a reference in which a cue may stand."""

_QUOTED: Final = re.compile(r"`([A-Za-z_$][\w$]*+(?>(?:(?:\.|::|#)[\w$]++)*))(\([^`\n]{0,80}\))?`")
_TEST: Final = re.compile(r"_*[tT]est")
_CODE_LIKE: Final = re.compile(r"[.]|[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_PATH: Final = re.compile(r"(?<![\w@./:#~-])(?>(?:[\w@.-]++/)*)[\w@-][\w@.-]*\.[A-Za-z]\w{0,4}\b(?![/@-])")
_LINK_TARGET: Final = re.compile(r"\]\([^)\n]{0,2000}+\)|^\[[^\]\n]++\]:[^\n]*+", re.MULTILINE)
_DOCUMENT: Final = re.compile(r"\b(RFC|ADR|PEP|SPEC|DEP|KEP|TEP)[-_ ]?0*(\d{1,5})\b")
_HASH: Final = re.compile(r"(?<![\w/#.-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_ISSUE: Final = re.compile(r"(?<![\w&/#])(?:#|GH-)(\d{1,6})\b")
_SEE: Final = re.compile(
    r"\b[Ss]ee\s+(?:also\s+)?(?:the\s+)?(?:section\s+)?[\"“'*_`]*([A-Z][^.,;:()\n\"”*`\]\[]{2,60}?)[\"”'*_`]*"
    r"(?:\s+(?:section|chapter)|\s+(?:above|below))?(?=[.,;:)\n]|$)"
)
_HEADING: Final = re.compile(r"^#{1,6}[ \t]++(.*[^\s#]|.)[ \t\r#]*+$", re.MULTILINE)
_PROSE_ENDINGS: Final = frozenset({".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc"})

_CUES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (label, re.compile(rf"\b(?:{words})\b[^.!?]{{0,40}}$", re.IGNORECASE))
    for label, words in (
        ("supersedes", r"supersedes|obsoletes|replaces"),
        ("contradicts", r"contradicts|conflicts with|is at odds with|contrary to|disagrees with"),
        (
            "depends_on",
            r"depends (?:up)?on|depend (?:up)?on|requires|builds (?:up)?on|relies on|prerequisites? (?:is|are)",
        ),
        ("elaborates", r"extends|expands on|elaborates on|details"),
        ("summarizes", r"summari[sz]es|(?:is )?a summary of"),
        ("exemplifies", r"(?:is )?an example of|exemplifies|illustrates"),
    )
)
_DENIED: Final = re.compile(r"\b(?:not|never|no longer|neither|nor|without)\b|n't\b", re.IGNORECASE)


class DocumentContext(CodeContext, Protocol):
    """What the rules for prose need to know about the project."""

    def rows(self, path: str) -> Sequence[LinkableSnippet]:
        """Return a file's snippets."""
        ...

    def commits_like(self, prefix: str) -> Sequence[NodeKey]:
        """Return at most two commits whose hash begins so."""
        ...

    def commits_of_issue(self, number: str) -> Sequence[NodeKey]:
        """Return the commits whose message names an issue."""
        ...


@dataclass(frozen=True, slots=True)
class _TextReference:
    """Something a text refers to: where in the text, and how sure it is what is meant."""

    offset: int
    target: NodeKey
    label: str
    confidence: float
    evidence: str


class ProseRules:
    """The rules, over one document of a project."""

    def __init__(self, world: DocumentContext, path: str, rows: Sequence[LinkableSnippet]) -> None:
        self._world = world
        self._path = path
        self._rows = rows
        self._headings: dict[str, _HeadingIndex] = {}
        self._text = {row.key: mask_code(row.content) for row in rows}
        names = {name for text in self._text.values() for name, _ in _blank_quoted(text)}
        self.failed: dict[NodeKey, str] = {}
        """Snippets with a relation that could not be found, and why."""
        self._named = (
            world.symbols_named(sorted({tail for name in names for tail in dotted_suffixes(name)})) if names else {}
        )

    def links(self, row: LinkableSnippet) -> list[WantedRelation]:
        """Return the relations that one snippet states, each once."""
        found: dict[tuple[str, NodeKey], WantedRelation] = {}
        text = self._text[row.key]
        for rule in (
            self._find_links,
            self._find_paths,
            self._find_documents,
            self._find_commits,
            self._find_issues,
            self._find_sections,
            self._find_code_names,
        ):
            with note_failure_of(self.failed, row.key):
                for reference in rule(row, text):
                    if reference.target == row.key:
                        continue
                    link = WantedRelation(reference.label, reference.target, reference.confidence, reference.evidence)
                    found.setdefault((link.label, link.target), link)
                    if reference.label == "links" and (label := find_cue_before(text, reference.offset)):
                        evidence = f"{reference.evidence}, which it {label.replace('_', ' ')}"
                        found.setdefault((label, link.target), WantedRelation(label, link.target, CUE, evidence))
        return list(found.values())[:MAX_OUT]

    # -- rules -------------------------------------------------------------------------------------------------------

    def _find_links(self, row: LinkableSnippet, text: str) -> Iterator[_TextReference]:
        for said in row.links:
            place = resolve_link(said)
            target = None if place is None else self._resolve_target(*place)
            if target is not None:
                offset = max(0, text.find(f"]({said}"))
                yield _TextReference(offset, target, "links", LINKED, f"links to {said}")

    def _resolve_target(self, path: str, anchor: str) -> NodeKey | None:
        file = self._path if not path else self._resolve_relative_path(path)
        if file is None:
            return None
        rows = self._rows if file == self._path else self._world.rows(file)
        return self._headings_of(file, rows).find_snippet(anchor) if anchor else (rows[0].key if rows else None)

    def _headings_of(self, file: str, rows: Sequence[LinkableSnippet]) -> _HeadingIndex:
        if file not in self._headings:
            self._headings[file] = _HeadingIndex(rows)
        return self._headings[file]

    def _resolve_relative_path(self, path: str) -> str | None:
        base = "" if path.startswith("/") else posixpath.dirname(self._path)
        file = posixpath.normpath(posixpath.join(base, path.lstrip("/")))
        candidates = (file, f"{file}.md", f"{file}/README.md", f"{file}/index.md")
        return next((candidate for candidate in candidates if candidate in self._world.modules), None)

    def _find_paths(self, row: LinkableSnippet, text: str) -> Iterator[_TextReference]:
        # What a link leads to is said by the link.
        for match in _PATH.finditer(_LINK_TARGET.sub(_blank_match, text)):
            said = match[0]
            file = self._resolve_relative_path(said) or (
                said.removeprefix("./") if said in self._world.modules else None
            )
            if file is None:
                found = self._world.modules.files_ending_with(said) if "../" not in said else []
                file = found[0] if len(found) == 1 else None
            head = self._first_snippet(file) if file is not None and file != self._path else None
            if head is not None and file is not None:
                label = "links" if PurePosixPath(file).suffix.lower() in _PROSE_ENDINGS else "documents"
                yield _TextReference(match.start(), head, label, NAMED_FILE, f"names the file {said}")

    def _first_snippet(self, path: str) -> NodeKey | None:
        view = self._world.view(path)
        return None if view is None else view.head

    def _find_documents(self, row: LinkableSnippet, text: str) -> Iterator[_TextReference]:
        for match in {match[0]: match for match in reversed(list(_DOCUMENT.finditer(text)))}.values():
            found = self._world.modules.find_numbered(match[1], match[2])
            head = self._first_snippet(found[0]) if len(found) == 1 and found[0] != self._path else None
            if head is not None:
                yield _TextReference(match.start(), head, "links", NAMED_DOCUMENT, f"names {match[0]}")

    def _find_commits(self, row: LinkableSnippet, text: str) -> Iterator[_TextReference]:
        for match in _HASH.finditer(text):
            found = self._world.commits_like(match[0])
            if len(found) == 1:
                yield _TextReference(match.start(), found[0], "links", NAMED_COMMIT, f"names the commit {match[0]}")

    def _find_issues(self, row: LinkableSnippet, text: str) -> Iterator[_TextReference]:
        for match in _ISSUE.finditer(text):
            found = self._world.commits_of_issue(match[1])
            if 0 < len(found) <= MAX_COMMITS_OF_ISSUE:
                for key in found:
                    yield _TextReference(match.start(), key, "relates_to", SAME_ISSUE, f"both name issue #{match[1]}")

    def _find_sections(self, row: LinkableSnippet, text: str) -> Iterator[_TextReference]:
        for match in _SEE.finditer(text):
            title = " ".join(match[1].split()).casefold()
            found = self._headings_of(self._path, self._rows).titled.get(title)
            if found is not None and found != row.key:
                yield _TextReference(match.start(1), found, "links", NAMED_SECTION, f"says: see {match[1]}")

    def _find_code_names(self, row: LinkableSnippet, text: str) -> Iterator[_TextReference]:
        for name, called in _blank_quoted(text):
            target = self._resolve_symbol(name, called=called)
            if target is not None:
                key, sure = target
                yield _TextReference(text.find(f"`{name}"), key, "documents", sure, f"names `{name}`")

    def _resolve_symbol(self, name: str, *, called: bool) -> tuple[NodeKey, float] | None:
        """Return the only symbol that a name in backticks may mean, and how surely.

        An everyday word means none unless it is called, and what only tests define is no subject of a document.
        """
        found = [
            place
            for tail in dotted_suffixes(name)
            for place in self._named.get(tail, ())
            if is_suffix_of_symbol(name, *place)
        ]
        meant = [place for place in dict.fromkeys(found) if not self._world.is_test(place[0]) or _TEST.match(name)]
        if len(meant) != 1:
            return None
        path, symbol = meant[0]
        view = self._world.view(path)
        if view is None or not (called or _CODE_LIKE.search(name) or self._is_class(view.kinds.get(symbol), name)):
            return None
        key = view.symbols.get(symbol)
        sure = DOTTED if "." in name else NAMED_METHOD if "." in symbol else NAMED
        return None if key is None else (key, sure)

    def _is_class(self, kind: str | None, name: str) -> bool:
        return kind in CLASS_LIKE and name[:1].isupper() and len(name) > 2


def resolve_link(link: str) -> tuple[str, str] | None:
    """Return the path and the anchor that a link leads to, either may be empty; None if it leads out or nowhere.

    Links may hold anything: one that cannot be parsed leads nowhere.
    """
    if len(link) >= MAX_LINK_CHARS:
        return None
    try:
        parts = urlsplit(link)
    except ValueError:  # `http://[::1/a`
        return None
    if parts.scheme or parts.netloc or "\0" in link:
        return None
    return unquote(parts.path), unquote(parts.fragment)


def find_cue_before(text: str, offset: int) -> str | None:
    """Return the relation that the words right before a reference name, if they name one and don't deny it."""
    before = text[max(0, offset - CUE_CHARS) : offset]
    # The link's own text stands between the cue and its target.
    before = before[: before.rindex("[")] if "[" in before and "]" not in before[before.rindex("[") :] else before
    *_, (start, _) = sentence_spans(f"{before}X")
    sentence = before[start:]
    if _DENIED.search(sentence):
        return None
    return next((label for label, pattern in _CUES if pattern.search(sentence)), None)


def heading_slug(title: str) -> str:
    """Return the anchor that GitHub gives a heading, without the suffix for repetitions."""
    plain = re.sub(r"\[([^\]]{0,400}+)\]\([^)]{0,2000}+\)|[`*]", r"\1", title).strip().lower()
    return "".join(char for char in plain if char.isalnum() or char in " -_").replace(" ", "-")


class _HeadingIndex:
    """Where the headings of one file stand, looked up as often as it is referred to.

    Attributes:
        titled: the first snippet with a title, in its folded form.
    """

    def __init__(self, rows: Sequence[LinkableSnippet]) -> None:
        self._rows = rows
        self._anchors: dict[str, NodeKey] = {}
        self._slugs: dict[str, NodeKey] = {}
        self.titled: dict[str, NodeKey] = {}
        # A fence may go on through several snippets: it is looked for in all of them together.
        plain = mask_code("\n".join(row.content for row in rows))
        at, in_code = 0, []
        for row in rows:
            if row.anchor is not None:
                self._anchors.setdefault(row.anchor, row.key)
            if row.section_path:
                self.titled.setdefault(row.section_path[-1].casefold(), row.key)
            text = plain[at : at + len(row.content)]
            at += len(row.content) + 1
            self._note_headings(row.key, text)
            if text != row.content:
                in_code.append(row)
        # A comment in code looks like a heading. It counts last: a fence may open that is none.
        for row in in_code:
            self._note_headings(row.key, row.content)

    def _note_headings(self, key: NodeKey, text: str) -> None:
        for title in _HEADING.findall(text):
            self._slugs.setdefault(heading_slug(title), key)
            self.titled.setdefault(title.casefold(), key)

    def find_snippet(self, anchor: str) -> NodeKey | None:
        """Return the snippet that begins at an anchor or has its heading; lines (`L10`) count too."""
        if match := re.fullmatch(r"L(\d{1,9})(?:-L?\d{1,9})?", anchor):
            line = int(match[1])
            return next((row.key for row in self._rows if row.line_start <= line <= row.line_end), None)
        return self._anchors.get(anchor) or self._slugs.get(anchor.lower())


def _blank_quoted(text: str) -> list[tuple[str, bool]]:
    return [(re.sub("::|#", ".", match[1]), match[2] is not None) for match in _QUOTED.finditer(text)]


def _blank_match(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
