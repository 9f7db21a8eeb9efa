"""Words that programmers use for the same thing, one group a line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hyperloci.store.analysis import terms

_GROUPS: Final = """
delete remove erase drop purge destroy discard unlink
create make build construct generate produce instantiate new
add append insert push attach include
get fetch retrieve obtain load read lookup acquire
find search locate lookup query discover seek
set assign update write put modify
change modify alter edit update mutate adjust
store save persist write keep record
send transmit post emit dispatch publish push
receive accept get consume
start begin launch boot run initiate open
stop end halt terminate kill quit shutdown abort
fail crash break error fault
error exception failure fault bug problem issue
bug defect issue problem flaw
fix repair correct patch resolve solve mend
test check verify validate assert spec
check verify validate inspect test ensure
fast quick rapid speedy performance
slow sluggish latency lag delay
speed performance throughput latency
config configuration setting settings preference option options conf
option flag setting parameter switch
argument parameter arg param input
function method procedure routine func def callable
class type object struct
variable field attribute property member
return yield output give result
result output answer response outcome
list array sequence collection vector
dict dictionary map mapping hash hashmap object
string text str characters
number integer int numeric float digit count
boolean bool flag
file document path
folder directory dir
path route location filename
key identifier id name
user account member person customer client
password credential secret passphrase
token credential key
login signin authentication authenticate auth logon
logout signout
permission access authorization authorisation privilege right role
encrypt cipher encode
decode parse decrypt deserialize
parse read decode interpret analyse analyze tokenize
serialize dump encode marshal
deserialize load unmarshal
convert transform cast translate change coerce
format render print display
show display print render present view
hide conceal mask
copy clone duplicate replicate
move relocate transfer migrate shift
rename relabel
merge combine join concatenate unite concat
split divide separate partition break tokenize
sort order arrange rank
filter select exclude choose
count number amount total tally
sum total add aggregate
average mean
maximum max largest biggest highest greatest
minimum min smallest lowest least
compare diff difference match
equal same identical match
wait sleep pause delay block
retry repeat again reattempt
loop iterate repeat cycle traverse
thread concurrency parallel worker
async asynchronous concurrent nonblocking
lock mutex semaphore latch
queue buffer backlog
cache memoize memo buffer store
database db table storage store
table relation grid
query request search select
request call query
response reply answer result
server service backend host daemon
client frontend consumer caller
network connection socket internet
connect link attach join open
disconnect close detach drop
deploy release ship rollout publish
deployment release rollout shipping
build compile bundle make
dependency package library module requirement
library package module framework dependency
import include require load use
version release revision
commit change revision checkin
branch fork
log logging trace record journal
monitor observe watch track
event signal message notification
message notification text mail
notify alert inform warn
warning alert caution
schedule plan cron timer
date time day timestamp
timestamp time datetime date
timeout deadline expiry expiration
expire timeout lapse
memory ram heap
leak drain exhaustion
disk storage drive filesystem
size length width dimension
empty blank null none void missing
missing absent lost lacking
null none nil undefined empty
random arbitrary shuffle
url link address uri
page site document screen
image picture photo
download fetch get
upload send put
upgrade update bump migrate
downgrade rollback revert
revert rollback undo restore
restore recover undelete
backup snapshot copy dump
install setup
uninstall remove
enable activate allow
disable deactivate forbid block
allow permit enable grant
deny refuse reject forbid block
limit bound cap maximum quota throttle
default fallback standard
optional nullable
private hidden internal secret
public exposed open
security safety protection
safe secure protected
example sample demo
explain describe clarify document
documentation docs manual guide readme
guide tutorial howto
decide choose pick select settle
decision choice verdict
prefer favour favor like
reason cause why motive
because reason cause
purpose goal aim intent objective
""".splitlines()


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for group in filter(None, _GROUPS):
        words = group.split()
        # The first word stands for the group: the others are near it, and not always near each other.
        for word in words[:1]:
            table.setdefault(terms(word)[0], {}).update(dict.fromkeys(words[1:]))
        for word in words[1:]:
            table.setdefault(terms(word)[0], {}).update({words[0]: None})
    return {stem: tuple(others) for stem, others in table.items()}


SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(_table())
"""Other words by stem."""
