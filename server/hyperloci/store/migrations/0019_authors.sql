-- Whose words a memory is, as Git writes people (`Ada Lovelace <ada@example.com>`; what is in brackets is the stable id),
-- through which assistant it came (NULL: none, the person wrote it), and who may have it.
ALTER TABLE nodes ADD COLUMN author TEXT;
ALTER TABLE nodes ADD COLUMN agent TEXT;
ALTER TABLE nodes ADD COLUMN visibility TEXT NOT NULL DEFAULT 'private' CHECK(visibility IN ('private', 'shared'));
CREATE INDEX idx_nodes_shared ON nodes(scope_key) WHERE visibility = 'shared';

-- The program in which a session was held (`claude-code`, `codex`).
ALTER TABLE sessions ADD COLUMN client TEXT;
ALTER TABLE sessions ADD COLUMN client_version TEXT;

-- What was exchanged with others, one row for each version of a shared memory. Its id is the node's, and the same on
-- every machine; its hash is of what was exchanged. Nothing is taken in twice, and what was forgotten stays forgotten.
CREATE TABLE shared_records (
    scope_key    INTEGER NOT NULL REFERENCES scopes(key) ON DELETE CASCADE,
    id           TEXT NOT NULL,
    hash         BLOB NOT NULL,
    door         TEXT NOT NULL CHECK(door IN ('git', 'team')),
    state        TEXT NOT NULL CHECK(state IN ('sent', 'received', 'forgotten', 'refused')),
    node_key     INTEGER REFERENCES nodes(key) ON DELETE SET NULL,
    reason       TEXT,
    exchanged_at INTEGER NOT NULL,
    PRIMARY KEY (scope_key, id, hash, door)
) WITHOUT ROWID;
CREATE INDEX idx_shared_records_node ON shared_records(node_key) WHERE node_key IS NOT NULL;

-- What a folder of shared memories looked like when it was last read: one that looks the same isn't read again.
CREATE TABLE shared_folders (
    scope_key INTEGER NOT NULL REFERENCES scopes(key) ON DELETE CASCADE,
    path      TEXT NOT NULL,
    stamp     TEXT NOT NULL,
    read_at   INTEGER NOT NULL,
    PRIMARY KEY (scope_key, path)
) WITHOUT ROWID;
