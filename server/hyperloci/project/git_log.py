"""Git log: reads the output of `git log --raw -p -U0`: commits, the files they changed, and where.

The reader is a generator over lines: it reads a history of any length and keeps no patch. Every commit has
a budget; what exceeds it is counted, not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Final

from hyperloci.system.values import dataclass

HEADER_FORMAT: Final = "%x00%H%x00%an%x00%at%x00%ct%x00%P%n%B%n%x00%x00"
"""A line of fields, the message, a line that ends it. Only these two lines can start with NUL: patch lines start with a
sign, messages can't hold one. Parents come last: of an octopus, whose line is cut, only they are lost."""

MAX_FILES: Final = 300
"""A commit that changes more is an import or a sweep over the tree: which symbols it touched says nothing."""

MAX_HUNKS: Final = 200
"""Of one file; more is a reformatting."""

MAX_PATCH_BYTES: Final = 2_000_000
"""Of one commit's changes that are looked at: forty thousand lines. Vendored code and generated files have millions."""

MAX_MESSAGE_BYTES: Final = 65_536
"""Of a commit's message that are kept here; what is remembered of it is shorter still."""

_MESSAGE_ENDS: Final = b"\0\0\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that a commit changed.

    Attributes:
        path, old_path: after the commit; before it, if it was renamed or copied.
        blob: Git's id of the content after the commit; all zeros if the file is gone.
        hunks: first line and number of lines of each changed place, after the commit; 0 lines were deleted after it.
        names: names of the functions and classes that the changed places stand in or define, as far as Git sees.
    """

    path: str
    old_path: str | None = None
    blob: str = ""
    hunks: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit.

    Attributes:
        date_ms, committed_ms: when it was written; when it was made a commit, as by a rebase.
        files: the files it changed, `MAX_FILES` at most.
        changed: how many files it changed.
        read: in how many of them the changes were read to the end.
    """

    sha: str
    parents: tuple[str, ...]
    author: str
    date_ms: int
    committed_ms: int
    subject: str
    body: str
    files: tuple[ChangedFile, ...] = ()
    changed: int = 0
    read: int = 0

    @property
    def truncated(self) -> bool:
        """Whether it changed more files than are listed."""
        return self.changed > len(self.files)


@dataclass(slots=True)
class _FileDiff:
    path: str
    old_path: str | None
    blob: str
    hunks: list[tuple[int, int]] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)

    def make_changed_file(self) -> ChangedFile:
        return ChangedFile(
            path=self.path, old_path=self.old_path, blob=self.blob, hunks=tuple(self.hunks), names=tuple(self.names)
        )


def read_log(lines: Iterable[bytes]) -> Iterator[Commit]:
    """Make commits of the lines of a log written with `HEADER_FORMAT`; one that exceeds its budget is the last."""
    reader: _CommitParser | None = None
    for line in lines:
        if reader is None or (line.startswith(b"\0") and reader.header_is_complete):
            if reader is not None:
                yield reader.make_commit()
            reader = _CommitParser()
        reader.feed_line(line)
        if reader.is_spent:
            yield reader.make_commit()
            return
    if reader is not None and reader.header_is_complete:
        yield reader.make_commit()


class _CommitParser:
    """Reads the lines of one commit."""

    def __init__(self) -> None:
        self._fields: list[str] = []
        self._message: list[bytes] = []
        self._message_bytes = 0
        self.header_is_complete = False
        self._files: dict[str, _FileDiff] = {}
        self._changed = 0
        self._read = 0
        self._patch_bytes = 0
        self._file: _FileDiff | None = None
        self._hunk: _HunkReader | None = None
        self.is_spent = False

    def feed_line(self, line: bytes) -> None:
        """Read a line."""
        if not self.header_is_complete:
            self._read_head_line(line)
            return
        self._patch_bytes += len(line)
        if self._hunk is not None and self._hunk.takes_line(line):
            self.is_spent = self._patch_bytes > MAX_PATCH_BYTES
        elif line.startswith(b":"):
            self._read_raw_line(line)
            self._patch_bytes = 0  # Names are cheap, and come before all changes.
        elif line.startswith(b"diff --git "):
            self._file = None
            self._read += 1
            # In which symbols so many files were changed, nobody asks.
            self.is_spent = self._patch_bytes > MAX_PATCH_BYTES or self._changed > MAX_FILES
        elif line.startswith(b"+++ "):
            self._file = self._files.get(_decode_path(line[4:]).removeprefix("b/"))
        elif line.startswith(b"@@ "):
            self._hunk = _HunkReader(line, self._file)

    def _read_head_line(self, line: bytes) -> None:
        if not self._fields:
            self._fields = _decode_line(line).rstrip("\n").split("\0")[1:]
        elif line == _MESSAGE_ENDS:
            self.header_is_complete = True
        elif self._message_bytes < MAX_MESSAGE_BYTES:
            self._message.append(line)
            self._message_bytes += len(line)

    def make_commit(self) -> Commit:
        """Return what was read."""
        sha, author, seconds, committed, parents = (*self._fields, "", "", "", "", "")[:5]
        subject, _, body = _decode_line(b"".join(self._message)).strip().partition("\n\n")
        return Commit(
            sha=sha,
            parents=tuple(parents.split()),
            author=author,
            date_ms=_parse_seconds(seconds) * 1_000,
            committed_ms=_parse_seconds(committed) * 1_000,
            subject=" ".join(subject.split()),
            body=body.strip(),
            files=tuple(file.make_changed_file() for file in self._files.values()),
            changed=self._changed,
            read=max(0, self._read - 1) if self.is_spent else self._changed,
        )

    def _read_raw_line(self, line: bytes) -> None:
        self._changed += 1
        if len(self._files) >= MAX_FILES:
            return
        meta, *paths = line.rstrip(b"\n").split(b"\t")
        fields = meta.split(b" ")
        if len(fields) < 5 or not paths:
            return
        path = _decode_path(paths[-1])
        old_path = _decode_path(paths[0]) if len(paths) > 1 else None
        self._files[path] = _FileDiff(path, old_path, _decode_line(fields[3]))


class _HunkReader:
    """Reads one hunk: counts its lines, so that no content can pass for a heading, and notes what they define."""

    def __init__(self, line: bytes, file: _FileDiff | None) -> None:
        self._file = file
        heading = _HUNK.match(line)
        old, start, new, context = heading.groups() if heading else (b"0", b"0", b"0", b"")
        self._left = _parse_count(old) + _parse_count(new)
        self._context: str | None = _read_context_name(context)
        if file is not None and len(file.hunks) < MAX_HUNKS:
            file.hunks.append((int(start), _parse_count(new)))
        if self._left == 0:
            self._note_context()

    def takes_line(self, line: bytes) -> bool:
        """Read a line of content; False when the hunk is over and the line is not its own."""
        if self._left <= 0:
            return line.startswith(b"\\ ")  # "\ No newline at end of file"
        if line.startswith(b"\\ "):
            return True
        self._left -= 1
        self._find_names(line[1:])
        if self._left == 0:
            self._note_context()
        return True

    def _find_names(self, text: bytes) -> None:
        if self._file is None:
            return
        if defined := _DEFINITION.match(text):
            self._file.names[_decode_line(defined[1])] = None
            self._context = None  # What stands before a definition is touched only if a line of its own was.
        elif self._context is not None and not _NEUTRAL.match(text):
            if not text[:1].isspace():
                self._context = None  # At the margin: after the function that Git names, not in it.
            self._note_context()

    def _note_context(self) -> None:
        if self._file is not None and self._context is not None:
            self._file.names[self._context] = None
        self._context = None


_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_NEUTRAL: Final = re.compile(rb"\s*(?:$|#|//|/\*|\*|@|\"\"\"|''')")
"""Blank lines, comments and decorators between two definitions: they belong to the next one."""
_MODIFIERS: Final = (
    rb"(?>(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|virtual|override|sealed"
    rb"|partial|unsafe|inline|open|data|suspend|declare|extern|const|pub(?:\([^)]{0,80}\))?)\s++)*)"
)
_KEYWORDS: Final = (
    rb"(?:def|class|function\*?|fn|func|fun|struct|enum|trait|interface|impl|module|namespace|object|record|type)"
)
_DEFINITION: Final = re.compile(
    rb"\s*+" + _MODIFIERS + _KEYWORDS + rb"\s++(?:\([^)]{0,400}+\)\s*+)?(?:self\.)?([A-Za-z_$][\w$]*+)"
)
_CALL_LIKE: Final = re.compile(rb"(?<![\w$])(~?[A-Za-z_$][\w$]*+)\s*+\(")
_BARE: Final = re.compile(rb"(?<![\w$])([A-Za-z_$][\w$]*+)\s*+[:{]?\s*+$")


def _read_context_name(context: bytes) -> str | None:
    """Return the name in the line that Git shows as a hunk's context (`def g(self):`, `void A::run(int x)`)."""
    found = _DEFINITION.match(context) or _CALL_LIKE.search(context) or _BARE.search(context)
    return _decode_line(found[1]) if found else None


def _parse_seconds(text: str) -> int:
    """Return a time as Git gives it; 0 for what is none: anyone may write anything into a commit."""
    try:
        return int(text)
    except ValueError:
        return 0


def _parse_count(number: bytes | None) -> int:
    return 1 if number is None else int(number)


def _decode_line(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


_ESCAPED: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES: Final = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def _unescape_byte(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPES.get(code, code)


def _decode_path(raw: bytes) -> str:
    """Return a path as it is, from the form that Git writes: quoted where it has odd characters."""
    raw = raw.rstrip(b"\n")
    if raw.startswith(b'"'):
        closing = raw.rindex(b'"')
        return _decode_line(_ESCAPED.sub(_unescape_byte, raw[1:closing] if closing else raw[1:]))
    return _decode_line(raw.rstrip(b"\t"))
