-- Where projects lie on this machine. A place is a Git folder (with the token we left in it) or a plain folder; each has
-- an id made of nothing but that, and a scope, which is another's only if the place moved or the user linked it.
CREATE TABLE places (
    id            TEXT PRIMARY KEY,
    scope_key     INTEGER NOT NULL REFERENCES scopes(key),
    path          TEXT NOT NULL,
    root          TEXT NOT NULL,
    token_hash    TEXT,
    inode         TEXT,
    remote        TEXT,
    root_commit   TEXT,
    claimed_name  TEXT,
    reason        TEXT NOT NULL CHECK(reason IN ('place', 'moved', 'adopted', 'linked')),
    first_seen_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL,
    told_at       INTEGER
) WITHOUT ROWID;
CREATE INDEX idx_places_token ON places(token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX idx_places_path ON places(path);
CREATE INDEX idx_places_scope ON places(scope_key);

-- What the user joined, and which rows moved with it, so that it can be undone.
CREATE TABLE place_links (
    key            INTEGER PRIMARY KEY,
    place_id       TEXT NOT NULL REFERENCES places(id) ON DELETE CASCADE,
    from_scope_key INTEGER NOT NULL REFERENCES scopes(key),
    to_scope_key   INTEGER NOT NULL REFERENCES scopes(key),
    linked_at      INTEGER NOT NULL,
    unlinked_at    INTEGER
);
CREATE INDEX idx_place_links_place ON place_links(place_id);
CREATE TABLE place_link_rows (
    link_key INTEGER NOT NULL REFERENCES place_links(key) ON DELETE CASCADE,
    kind     TEXT NOT NULL CHECK(kind IN ('node', 'session')),
    row_key  INTEGER NOT NULL,
    PRIMARY KEY (link_key, kind, row_key)
) WITHOUT ROWID;

-- Scopes made before places were known, under ids made of what a repository says. Each is taken over once, by the place
-- that lies where it was made.
CREATE TABLE unplaced_scopes (
    scope_key INTEGER PRIMARY KEY REFERENCES scopes(key) ON DELETE CASCADE
);
INSERT INTO unplaced_scopes(scope_key) SELECT key FROM scopes WHERE id <> 'global';
