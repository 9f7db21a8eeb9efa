"""What the abbreviations in code stand for: `idx` is found by `index`.

Worth a point of recall@10 on pycode (docs/benchmarks.md, "Fusion"), whose docstrings say in whole words what the code
says in short ones. The words count half, as all context of a memory does (`store.keyword_search.EXTRA_WEIGHT`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z]+")
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

_TABLE: Final = """
addr: address
app: application
arg: argument
args: arguments
arr: array
async: asynchronous
attr: attribute
attrs: attributes
auth: authentication
avg: average
bool: boolean
buf: buffer
calc: calculate
cb: callback
cert: certificate
cfg: config configuration
char: character
chars: characters
cls: class
cmp: compare
cnt: count
concat: concatenate
conf: config configuration
conn: connection
coro: coroutine
ctx: context
cur: current
curr: current
db: database
decl: declaration
del: delete remove
desc: description
dest: destination
dict: dictionary
dir: directory
doc: document
dst: destination
dt: datetime
elem: element
enum: enumeration
env: environment
eq: equal
err: error
exc: exception
exec: execute
expr: expression
fd: file descriptor
fmt: format
fn: function
fp: file
func: function
gen: generator
gt: greater
idx: index
img: image
info: information
init: initialize
int: integer
iter: iterate iterator iterable
kw: keyword
kwargs: keyword arguments
len: length size
lib: library
loc: location
lst: list
lt: less
max: maximum
min: minimum
msg: message
num: number
obj: object
opt: option
opts: options
param: parameter
params: parameters
pct: percent
pid: process
pkg: package
pos: position
pred: predicate
prev: previous
proc: process
ptr: pointer
rand: random
ref: reference
refs: references
regex: regular expression
repr: representation
req: request
res: result response
resp: response
rm: remove
sep: separator
seq: sequence
spec: specification
src: source
std: standard
stmt: statement
str: string
sync: synchronize
temp: temporary
tmp: temporary
tok: token
ts: timestamp
txt: text
tz: timezone
util: utility
val: value
vals: values
var: variable
ver: version
"""

SPELLED_OUT: Final[Mapping[str, str]] = MappingProxyType(
    {short: words for line in _TABLE.split("\n") if line for short, words in [line.split(": ")]}
)
"""What each abbreviation stands for."""


def spelled_out(code: str) -> str:
    """Return the words that the abbreviations in code stand for, each abbreviation once, in their order."""
    parts = dict.fromkeys(part for word in dict.fromkeys(_WORD.findall(code)) for part in _abbreviations(word))
    return " ".join(SPELLED_OUT[part] for part in parts)


@functools.lru_cache(maxsize=16_384)
def _abbreviations(word: str) -> tuple[str, ...]:
    """Return the parts of a word that are abbreviations, in lower case."""
    return tuple(part for part in map(str.lower, _PART.findall(word)) if part in SPELLED_OUT)
