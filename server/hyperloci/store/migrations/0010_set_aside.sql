-- What failed on its own and was set aside, so that the rest goes on and the same failure is paid for once.
-- `content` tells the state that failed (a hash); '' for what never changes, like a commit. `program` is the version that
-- could not do it: another one tries again. `node_key` is the memory it is about, if it is one.
CREATE TABLE set_aside (
    key        INTEGER PRIMARY KEY,
    scope_key  INTEGER NOT NULL REFERENCES scopes(key) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    node_key   INTEGER REFERENCES nodes(key) ON DELETE CASCADE,
    reason     TEXT NOT NULL,
    content    TEXT NOT NULL DEFAULT '',
    program    TEXT NOT NULL,
    first_at   INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    tries      INTEGER NOT NULL DEFAULT 1,
    UNIQUE (scope_key, kind, subject)
);
CREATE INDEX idx_set_aside_node ON set_aside(node_key) WHERE node_key IS NOT NULL;
CREATE TRIGGER set_aside_forgotten AFTER UPDATE OF deleted_at ON nodes
    WHEN new.deleted_at IS NOT NULL AND old.deleted_at IS NULL
BEGIN
    DELETE FROM set_aside WHERE node_key = new.key;
END;
CREATE TRIGGER set_aside_changed AFTER UPDATE OF content ON nodes WHEN new.content IS NOT old.content
BEGIN
    DELETE FROM set_aside WHERE node_key = new.key;
END;
