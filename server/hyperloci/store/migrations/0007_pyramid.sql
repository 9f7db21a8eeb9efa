-- The pyramid of a session's turns (RFC-013). Turns are nodes; a chunk is a range of a session's sequence numbers.
-- A chunk's summary is a node once it has one. `ctf` holds the turns of a warm micro-chunk (CTF v1, zstd); those of a
-- cold one lie in the archive file `archive_day`, `archive_length` bytes from `archive_offset`.
CREATE TABLE chunks (
    key            INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    session_key    INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
    level          TEXT NOT NULL CHECK(level IN ('micro', 'mini', 'macro')),
    stage          TEXT NOT NULL CHECK(stage IN ('hot', 'warm', 'cold')),
    first_seq      INTEGER NOT NULL,
    last_seq       INTEGER NOT NULL CHECK(last_seq >= first_seq),
    turns          INTEGER NOT NULL,
    tokens         INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    ended_at       INTEGER NOT NULL,
    node_key       INTEGER UNIQUE REFERENCES nodes(key) ON DELETE SET NULL,
    summarised_at  INTEGER,
    key_facts      TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(key_facts)),
    themes         TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(themes)),
    ctf            BLOB,
    archive_day    TEXT,
    archive_offset INTEGER,
    archive_length INTEGER,
    created_at     INTEGER NOT NULL,
    UNIQUE (session_key, level, first_seq)
);
CREATE INDEX idx_chunks_bare ON chunks(stage) WHERE node_key IS NULL;
CREATE INDEX idx_chunks_archive ON chunks(archive_day) WHERE archive_day IS NOT NULL;

-- Which row of which micro-chunk a turn is; `packed`: the node holds only the beginning of its text.
CREATE TABLE chunk_turns (
    node_key  INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    chunk_key INTEGER NOT NULL REFERENCES chunks(key) ON DELETE CASCADE,
    place     INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    packed    INTEGER NOT NULL DEFAULT 0 CHECK(packed IN (0, 1))
);
CREATE INDEX idx_chunk_turns_chunk ON chunk_turns(chunk_key, place);

-- The days that a turn speaks of without naming them ("last Friday"), resolved against the day it was said.
CREATE TABLE spoken_times (
    node_key INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL CHECK(until > since),
    phrase   TEXT NOT NULL,
    PRIMARY KEY (node_key, since, until, phrase)
) WITHOUT ROWID;
CREATE INDEX idx_spoken_times ON spoken_times(since, until);
