"""Transcript: Claude Code's record of a session, a file of JSON lines that grows while the session runs (C.10).

It is read from where the last reading stopped. An unfinished last line is left for the next time. A file that was
replaced or cut is read from the start: every turn has an id, so nothing is stored twice. Kept are messages, tool uses
and what the user says as they refuse one; thinking, tool output, text added by Claude Code or a hook, sub-agents and
lines of unknown kinds are not. (Format as seen in 2.1; most of a transcript's bytes are request logs, which are never
parsed.)
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, BinaryIO, Final

from hyperloci.conversations.capture.foreign_transcripts import (
    FOREIGN_ENTRY,
    is_codex_entry,
    is_gemini_entry,
    read_codex_entry,
    read_gemini_entry,
    read_time,
)
from hyperloci.conversations.capture.tool_use import describe_tool_use
from hyperloci.conversations.capture.turn_text import is_written_by_user
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store.conversations.sessions import TranscriptMark
from hyperloci.store.projects.set_aside import describe_failure
from hyperloci.system.regular_file import open_regular_file
from hyperloci.system.values import dataclass

BATCH_BYTES: Final = 1 << 17
"""Read and stored at once: a hook that is cut off loses no more than this much work, some 500 turns. They take 0.7 s
on a slow machine; with eight times as much a hook without a server never came to an end of one."""

MAX_LINE_BYTES: Final = 64 << 20
"""A longer line is no turn (it would hold a hundred pictures); it is passed over."""

MAX_DOCUMENT_BYTES: Final = MAX_LINE_BYTES
"""A longer transcript that is one JSON document is not read."""

HEAD_BYTES: Final = 1_024
"""The first bytes identify a transcript: they hold ids and times."""

PATIENCE_BYTES: Final = 1 << 18
"""A tool's result is waited for over so much of a transcript; a call that has none by then was cut off."""

_KEPT_ENTRY: Final = re.compile(rb'"type"\s*:\s*"(?:user|assistant|queued_command)"')

_REFUSED: Final = re.compile(
    r"The user doesn't want to proceed with this tool use\. The tool use was rejected [^\n]{0,200}?\. "
    r"(?:To tell you how to proceed, the user said:\n(?P<said>.*)|STOP what you are doing)",
    re.DOTALL,
)
"""What Claude Code gives the assistant in place of a result where the user refused it, with what they wrote then."""

_NOTE: Final = "\n\nNote: The user's next message may contain"
_REFUSAL: Final = "refused by the user"
_FOREIGN_TOOL: Final = "mcp__"


@dataclass(frozen=True, slots=True)
class TranscriptBatch:
    """What one batch gave.

    Attributes:
        turns: in order.
        mark: where the next batch begins.
        has_more: whether there is a next one now.
        failed: lines that could not be read: the byte each begins at, and why.
    """

    turns: tuple[Turn, ...]
    mark: TranscriptMark
    has_more: bool
    failed: tuple[tuple[int, str], ...] = ()


def read_batch(
    path: Path,
    mark: TranscriptMark | None = None,
    *,
    root: str | None = None,
    sidechains: bool = False,
    batch_bytes: int = BATCH_BYTES,
) -> TranscriptBatch | None:
    """Read the next lines of a transcript, about `batch_bytes` of them; None where nothing was added.

    Args:
        path: the transcript.
        mark: where the last reading stopped; None reads from the start.
        root: the project's folder, for paths.
        sidechains: keep the lines of sub-agents too (their transcripts are files of their own).
        batch_bytes: how much to read.

    Raises:
        OSError: the file can't be read.
    """
    with _open_transcript(path) as file:
        start = _find_resume_offset(file, mark)
        if path.suffix == ".json":
            return _read_document(file, start, root)
        length, size, there = 0, batch_bytes, file.seek(0, 2) - start
        while not length:  # A call that waits for its result may hold up all that was read.
            file.seek(start)
            data = _read_whole_lines(file, size)
            if not data:
                return None
            more = bool(file.read(1))
            batch = _BatchState(root, sidechains)
            turns, length = _parse_turns(data, batch)
            if not length and size >= there:
                return None
            size *= 2
        offset = start + length
        failed = tuple((start + place, reason) for place, reason in batch.failed if place < length)
        return TranscriptBatch(turns, TranscriptMark(offset, _hash_head(file, offset)), more, failed)


def _read_document(file: BinaryIO, start: int, root: str | None) -> TranscriptBatch | None:
    """Read a transcript that is one JSON document, as earlier versions of Gemini CLI wrote it; None if it was read."""
    size = file.seek(0, 2)
    if start == size or size > MAX_DOCUMENT_BYTES:
        return None
    file.seek(0)
    try:
        document = json.loads(file.read())
    except (ValueError, RecursionError):
        return None
    messages = document.get("messages") if isinstance(document, dict) else None
    entries = [entry for entry in messages or () if isinstance(entry, dict) and is_gemini_entry(entry)]
    turns = tuple(turn for entry in entries for turn in read_gemini_entry(entry, root))
    return TranscriptBatch(turns, TranscriptMark(size, _hash_head(file, size)), False)


def _open_transcript(path: Path) -> BinaryIO:
    try:
        return open_regular_file(path)
    except ValueError as error:  # A NUL in it: no file has such a name.
        raise FileNotFoundError(errno.ENOENT, str(error), str(path)) from error


def _find_resume_offset(file: BinaryIO, mark: TranscriptMark | None) -> int:
    if mark is None or file.seek(0, 2) < mark.offset or _hash_head(file, mark.offset) != mark.head_hash:
        return 0
    return mark.offset


def _hash_head(file: BinaryIO, offset: int) -> bytes:
    file.seek(0)
    return hashlib.sha256(file.read(min(HEAD_BYTES, offset))).digest()


def _read_whole_lines(file: BinaryIO, size: int) -> bytes:
    """Return the lines that end within about `size` bytes; one longer line is read to its end."""
    data = file.read(size)
    if b"\n" not in data:
        data += file.readline(MAX_LINE_BYTES)
    end = data.rfind(b"\n") + 1
    file.seek(end - len(data), 1)
    if not end and len(data) >= MAX_LINE_BYTES:
        return data
    return data[:end]


@dataclass(slots=True)
class _BatchState:
    """How to read the lines of a batch, and what is known so far.

    Attributes:
        root: the project's folder.
        sidechains: whether to read what subagents said.
        calls: those without a result yet, with the place of their line.
        failed: the places of lines that could not be read, with the reason.
        message: the id of the assistant's last message, of which each line holds a part.
    """

    root: str | None
    sidechains: bool
    calls: dict[str, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)
    failed: list[tuple[int, str]] = field(default_factory=list)
    message: str | None = None


def _parse_turns(data: bytes, batch: _BatchState) -> tuple[tuple[Turn, ...], int]:
    """Return the turns in whole lines and how many bytes they take: those up to a call that waits for its result."""
    found: list[tuple[int, Turn]] = []
    position = 0
    for line in data.splitlines(keepends=True):
        try:
            found.extend((position, turn) for turn in _parse_line(line, position, batch))
        except Exception as error:  # One unexpected line must not stop the others.
            batch.failed.append((position, describe_failure(error)))
        position += len(line)
    waiting = [place for place, _ in batch.calls.values() if position - place <= PATIENCE_BYTES]
    length = min(waiting, default=position)
    return tuple(turn for place, turn in found if place < length), length


def _parse_line(line: bytes, position: int, batch: _BatchState) -> list[Turn]:
    entry = _parse_entry(line)
    if entry is not None and is_codex_entry(entry):
        return list(read_codex_entry(entry, position, batch.calls, batch.root))
    if entry is not None and is_gemini_entry(entry):
        return list(read_gemini_entry(entry, batch.root))
    if entry is None or (entry.get("isSidechain") is True and not batch.sidechains):
        return []
    return list(_turns_of_entry(entry, position, batch))


def _parse_entry(line: bytes) -> dict[str, Any] | None:
    """Return what a line holds, None if it is of no kind that is kept.

    Raises:
        ValueError, RecursionError: it is no JSON, or none that can be read.
    """
    if not _KEPT_ENTRY.search(line) and not FOREIGN_ENTRY.search(line):
        return None
    entry = json.loads(line)
    if not isinstance(entry, dict):
        return None
    known = isinstance(entry.get("uuid"), str) or is_codex_entry(entry) or is_gemini_entry(entry)
    return entry if known else None


def _turns_of_entry(entry: dict[str, Any], position: int, batch: _BatchState) -> Iterator[Turn]:
    kind = entry.get("type")
    message = entry.get("message")
    if kind == "attachment":
        yield from _queued_prompts(entry)
    elif isinstance(message, dict) and kind == "assistant":
        blocks = _content_blocks(message.get("content"))
        if entry.get("isSidechain") is not True:  # Several subagents speak in turns.
            id = message.get("id")
            if id != batch.message:
                batch.calls.clear()  # The assistant speaks once it has all results: the others were cut off.
            batch.message = id
        for block in blocks:
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                batch.calls[block["id"]] = (position, block)
        yield from _make_text_turn(entry, Speaker.ASSISTANT, _text_blocks(blocks))
    elif isinstance(message, dict) and kind == "user":
        blocks = _content_blocks(message.get("content"))
        for block in blocks:
            if block.get("type") == "tool_result":
                comment = _read_refusal(block, batch)
                yield from _make_action_turn(entry, block, batch, is_refused=comment is not None)
                if comment:
                    # What follows was asked for anew.
                    yield _make_turn(entry, f"{block['tool_use_id']}:said", Speaker.USER, comment)
        texts = [text for text in _text_blocks(blocks) if is_written_by_user(text)]
        flags = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
        if texts and not any(map(entry.get, flags)) and _is_of_human(entry):
            batch.calls.clear()  # What the user says while a tool runs is queued, and comes as an attachment.
            yield from _make_text_turn(entry, Speaker.USER, texts)


def _queued_prompts(entry: dict[str, Any]) -> Iterator[Turn]:
    """Yield what the user wrote while the assistant was working."""
    attachment = entry.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command" or attachment.get("isMeta"):
        return
    texts = [text for text in _text_blocks(_content_blocks(attachment.get("prompt"))) if is_written_by_user(text)]
    if attachment.get("commandMode", "prompt") == "prompt" and _is_of_human(attachment):
        yield from _make_text_turn(entry, Speaker.USER, texts)


def _is_of_human(told: Mapping[str, Any]) -> bool:
    """Tell whether a prompt came from the user, not from another session, a task or Claude Code, as far as it says."""
    origin = told.get("origin")
    return not isinstance(origin, Mapping) or origin.get("kind", "human") == "human"


def _make_text_turn(entry: dict[str, Any], role: Speaker, texts: list[str]) -> Iterator[Turn]:
    text = "\n".join(texts)
    if text.strip():
        yield _make_turn(entry, entry["uuid"], role, text)


def _make_turn(entry: dict[str, Any], uuid: str, role: Speaker, text: str) -> Turn:
    return Turn(uuid=uuid, role=role, text=text, timestamp_ms=read_time(entry.get("timestamp")))


def _read_refusal(result: Mapping[str, Any], batch: _BatchState) -> str | None:
    """Return what the user said in place of letting a tool run, empty where they only refused it; None else.

    What a tool of another server fails with is its own text, which may look the same.
    """
    _, call = batch.calls.get(str(result.get("tool_use_id")), (0, None))
    if call is None or str(call.get("name", "")).startswith(_FOREIGN_TOOL):
        return None
    refusal = _REFUSED.match(_read_error(result) or "")
    if refusal is None:
        return None
    return refusal["said"].partition(_NOTE)[0].strip() if refusal["said"] else ""


def _make_action_turn(
    entry: dict[str, Any], result: Mapping[str, Any], batch: _BatchState, *, is_refused: bool = False
) -> Iterator[Turn]:
    tool_use_id = result.get("tool_use_id")
    _, call = batch.calls.pop(str(tool_use_id), (0, None))
    if call is None:
        return
    arguments = call.get("input")
    use = describe_tool_use(
        str(call.get("name", "")),
        arguments if isinstance(arguments, dict) else {},
        entry.get("toolUseResult"),
        error=_REFUSAL if is_refused else _read_error(result),
        root=batch.root,
    )
    if use is not None:
        yield Turn(
            uuid=str(tool_use_id),
            role=Speaker.ASSISTANT,
            text=use.line,
            timestamp_ms=read_time(entry.get("timestamp")),
            kind=TurnKind.ACTION,
            path=use.path,
        )


def _read_error(result: Mapping[str, Any]) -> str | None:
    """Return what a tool failed with, None if it did not."""
    return "\n".join(_text_blocks(_content_blocks(result.get("content")))) if result.get("is_error") is True else None


def _content_blocks(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text_blocks(blocks: list[Mapping[str, Any]]) -> list[str]:
    found = [block.get("text") for block in blocks if block.get("type") == "text"]
    return [text for text in found if isinstance(text, str)]
