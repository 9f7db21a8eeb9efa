"""Opposites as developers use them, and the word-forming that makes more of them (`encrypted`, `unencrypted`)."""

from __future__ import annotations

import functools
from typing import Final

from hyperloci.graph.words import stem_of

_PAIRS: Final = """
enable disable
enabled disabled
allow forbid
allow deny
allow prevent
accept reject
add remove
include exclude
attach detach
always never
sync async
increase decrease
increase reduce
raise lower
grow shrink
expand collapse
maximum minimum
max min
start stop
open close
open closed
show hide
visible hidden
lock unlock
succeed fail
success failure
pass fail
on off
in out
true false
yes no
up down
public private
required optional
mandatory optional
manual automatic
automatic by-hand
static dynamic
strict lenient
strict loose
local remote
global local
eager lazy
blocking non-blocking
light dark
verbose concise
verbose terse
long short
longer shorter
large small
big small
huge tiny
fast slow
faster slower
quick slow
high low
higher lower
better worse
best worst
good bad
easy hard
simple complex
cheap expensive
safe dangerous
safe unsafe
ascending descending
love hate
like dislike
like hate
prefer avoid
before after
first last
early late
new old
old young
full empty
crowded empty
near far
wide narrow
broad narrow
hot cold
wet dry
loud quiet
silent speaking
strong weak
rich poor
inside outside
above below
left right
push pull
upload download
import export
encrypt decrypt
compress decompress
serialize deserialize
install uninstall
mutable immutable
stateful stateless
internal external
online offline
cached uncached
tracked ignored
deprecated supported
alive dead
stable flaky
stable unstable
temporary permanent
volatile persistent
single multiple
centralized distributed
horizontal vertical
opt-in opt-out
whitelist blacklist
blocklist allowlist
relative absolute
singular plural
ordered unordered
sorted unsorted
signed unsigned
upper lower
uppercase lowercase
greater less
more fewer
more less
many few
same different
equal unequal
present absent
available unavailable
"""

_PREFIXES: Final = ("un", "non-", "non", "de-", "in", "im", "dis", "a")
_ADJECTIVE_ENDS: Final = ("ble", "al", "ate", "ive", "id", "ect", "ent", "ant", "it", "act", "ete", "ed", "ly", "ful")
"""`in-`, `im-` and `a-` turn only adjectives around: `import` is not the opposite of `port`."""

_COUNTING: Final = ("single", "multi")
_MIN_STEM_CHARS: Final = 4
"""Shorter words with a prefix are other words (`unit`, `nona`)."""


def _table() -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for line in _PAIRS.strip().splitlines():
        a, b = line.split()
        for one, other in ((a, b), (stem_of(a), stem_of(b))):
            found |= {(one, other), (other, one)}
    return frozenset(found)


OPPOSITES: Final = _table()
"""Pairs of words and of stems, both ways round."""

OPPOSED: Final = frozenset(one for one, _ in OPPOSITES)
"""Every word and stem that has an opposite in the table."""


@functools.lru_cache(maxsize=16_384)
def opposite(a: str, b: str) -> bool:
    """Return whether two words in lower case mean the opposite; symmetric, never true of a word and itself."""
    if a == b:
        return False
    one, other = stem_of(a), stem_of(b)
    if one != other and ((a, b) in OPPOSITES or (one, other) in OPPOSITES):
        return True
    return _formed(a, b) or _formed(b, a)


def _formed(longer: str, shorter: str) -> bool:
    """Return whether `longer` is made of `shorter`, or of its root, to mean the opposite."""
    if longer.endswith("less") and shorter.endswith("ful") and longer[:-4] == shorter[:-3] and longer[:-4]:
        return True
    for first, second in (_COUNTING, _COUNTING[::-1]):
        if longer.startswith(first) and shorter.startswith(second):
            return longer.removeprefix(first).lstrip("-") == shorter.removeprefix(second).lstrip("-")
    return any(
        longer.startswith(prefix)
        and len(shorter) >= _MIN_STEM_CHARS
        and stem_of(longer.removeprefix(prefix)) == stem_of(shorter)
        and (prefix in ("un", "non", "non-", "de-") or shorter.endswith(_ADJECTIVE_ENDS))
        for prefix in _PREFIXES
    )
