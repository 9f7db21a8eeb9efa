-- Which of the team's projects is which of ours, and how much of it is here. The user said so: what a repository claims
-- to be must not decide whose memories a session is shown.
CREATE TABLE team_projects (
    scope_key INTEGER PRIMARY KEY REFERENCES scopes(key) ON DELETE CASCADE,
    project   TEXT NOT NULL UNIQUE,
    cursor    INTEGER NOT NULL DEFAULT 0,
    joined_at INTEGER NOT NULL
);

-- What is here and there, as of the revision that was exchanged last. A memory whose digest is another now has changed
-- here since; whatever else happened to its row (a recall, a tier) concerns nobody.
CREATE TABLE team_rows (
    node_id     TEXT PRIMARY KEY,
    project     TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    digest      BLOB NOT NULL,
    is_mine     INTEGER NOT NULL CHECK(is_mine IN (0, 1)),
    has_vector  INTEGER NOT NULL DEFAULT 0 CHECK(has_vector IN (0, 1))
) WITHOUT ROWID;

-- What may have to be told to the team, in order; a node may be in it many times. Triggers write it, so that no way of
-- changing a memory can be missed, in the transaction of the change, so that none is told that did not happen.
CREATE TABLE team_outbox (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id TEXT NOT NULL
);
CREATE INDEX idx_team_outbox_node ON team_outbox(node_id);
CREATE TRIGGER team_node_added AFTER INSERT ON nodes WHEN new.visibility = 'shared' BEGIN
    INSERT INTO team_outbox(node_id) VALUES (new.id);
END;
CREATE TRIGGER team_node_removed AFTER DELETE ON nodes WHEN old.visibility = 'shared' BEGIN
    INSERT INTO team_outbox(node_id) VALUES (old.id);
END;
CREATE TRIGGER team_node_changed AFTER UPDATE ON nodes
WHEN 'shared' IN (new.visibility, old.visibility) AND (
    new.visibility IS NOT old.visibility OR new.content IS NOT old.content OR new.title IS NOT old.title
    OR new.type IS NOT old.type OR new.subtype IS NOT old.subtype OR new.event_time IS NOT old.event_time
    OR new.valid_from IS NOT old.valid_from OR new.valid_until IS NOT old.valid_until
    OR new.deleted_at IS NOT old.deleted_at)
BEGIN
    INSERT INTO team_outbox(node_id) VALUES (new.id);
END;

-- Where two members changed one memory without having seen each other's change; both are kept, both are told.
CREATE TABLE team_conflicts (
    node_id  TEXT NOT NULL,
    revision INTEGER NOT NULL,
    editor   TEXT NOT NULL,
    reason   TEXT NOT NULL,
    copy_id  TEXT,
    noted_at INTEGER NOT NULL,
    PRIMARY KEY (node_id, revision)
) WITHOUT ROWID;
