-- Who may speak to this memory over HTTP. A token itself is kept nowhere: only its SHA-256.
CREATE TABLE access_tokens (
    id        TEXT PRIMARY KEY,
    digest    BLOB NOT NULL UNIQUE,
    person    TEXT NOT NULL,
    may_write INTEGER NOT NULL CHECK(may_write IN (0, 1)),
    created   INTEGER NOT NULL,
    expires   INTEGER,
    revoked   INTEGER,
    last_used INTEGER
) WITHOUT ROWID;

-- Who read and wrote what over HTTP: one row a call.
CREATE TABLE access_log (
    key      INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    person   TEXT NOT NULL,
    token_id TEXT,
    client   TEXT,
    tool     TEXT NOT NULL,
    outcome  TEXT NOT NULL CHECK(outcome IN ('done', 'refused', 'failed')),
    memories TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(memories))
);
CREATE INDEX idx_access_log_at ON access_log(at);
