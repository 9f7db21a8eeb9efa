"""Protocol: messages between an index run and its parser process: a pickled value as the body of a frame.

Both ends are this program and one user's; a child that a bad file corrupted can write nonsense, which is rejected.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from hyperloci.indexing.file_reader import FreshChunk
from hyperloci.knowledge.entities.recognition import EntityMention
from hyperloci.model.chunk import CodeFacts, TextChunk
from hyperloci.model.facets import Facets
from hyperloci.model.position import Position
from hyperloci.system.framing import FrameError, Framing
from hyperloci.system.values import dataclass

READY: Final = "ready"
"""What the child says first: it has imported all it needs."""

_FRAMES: Final = Framing(b"HLP\x01", max_header=0, max_body=1 << 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRequest:
    """A file to cut: its path and bytes, and what that may cost in seconds of processor time and bytes of memory."""

    path: str
    data: bytes
    seconds: float
    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseAnswer:
    """What a file was cut into, or why it could not be, in words."""

    chunks: tuple[FreshChunk, ...] = ()
    failure: str | None = None


_KINDS: Final[tuple[type[Any], ...]] = (FreshChunk, TextChunk, Position, CodeFacts, EntityMention, Facets)
_NAMES: Final = {kind: tuple(field.name for field in fields(kind)) for kind in _KINDS}
_VALUES: Final[dict[type, Callable[[Any], Any]]] = {kind: attrgetter(*names) for kind, names in _NAMES.items()}
_SETTERS: Final = {kind: tuple(getattr(kind, name).__set__ for name in names) for kind, names in _NAMES.items()}


def _reduce_value(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return how a value with slots is put together again; the general way asks for its fields every time."""
    kind = type(value)
    return _rebuild_value, (kind, _VALUES[kind](value))


def _rebuild_value(kind: type[Any], values: tuple[Any, ...]) -> Any:
    made: Any = object.__new__(kind)
    for put, value in zip(_SETTERS[kind], values, strict=True):
        put(made, value)
    return made


_DISPATCH: Final = copyreg.dispatch_table | dict.fromkeys(_NAMES, _reduce_value)


def frame_of(value: object) -> bytes:
    """Return the bytes that carry a value."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _DISPATCH
    pickler.dump(value)
    return _FRAMES.pack(b"", buffer.getvalue())


def take_frame(buffer: bytearray) -> Any | None:
    """Take the first value out of what was received; None while it is not all there.

    Raises:
        FrameError: what came is no value.
    """
    frame = _FRAMES.take(buffer)
    return None if frame is None else _unpickled(frame[1])


def receive(read: Callable[[int], bytes]) -> Any:
    """Read one value from a blocking pipe.

    Raises:
        EOFError: the other end is gone.
        FrameError: what came is no value.
    """
    return _unpickled(_FRAMES.read(read)[1])


def _unpickled(body: bytes | bytearray) -> Any:
    try:
        return pickle.loads(body)
    except Exception as error:  # Unpickling raises whatever the bytes say.
        raise FrameError("the body of the frame is not a valid value") from error
