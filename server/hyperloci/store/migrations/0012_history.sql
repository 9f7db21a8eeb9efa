-- All of a project's history, newest first and over many runs: a commit that is known and not wanted any more (purged, or
-- it could not be stored) stays known, without a node.
CREATE TABLE commits_new (
    scope_key INTEGER NOT NULL REFERENCES scopes(key),
    sha       TEXT NOT NULL,
    node_key  INTEGER REFERENCES nodes(key) ON DELETE SET NULL,
    PRIMARY KEY (scope_key, sha)
) WITHOUT ROWID;
INSERT INTO commits_new(scope_key, sha, node_key) SELECT scope_key, sha, node_key FROM commits;
DROP TABLE commits;
ALTER TABLE commits_new RENAME TO commits;
CREATE INDEX idx_commits_node ON commits(node_key);

-- How far a project's history is stored. Every commit before `whole_to` is known, as long as `basis` (where the clone is cut
-- off, how many commits are wanted) stands. `tips` are commits that all stored ones are before: what leads to them is lost.
CREATE TABLE histories (
    scope_key INTEGER PRIMARY KEY REFERENCES scopes(key) ON DELETE CASCADE,
    whole_to  TEXT,
    basis     TEXT NOT NULL,
    waiting   INTEGER NOT NULL,
    older     INTEGER NOT NULL,
    tips      TEXT NOT NULL CHECK(json_valid(tips))
);
-- What files were called in commits that are still to be read, while they are read.
CREATE TABLE renames (
    scope_key INTEGER NOT NULL REFERENCES scopes(key) ON DELETE CASCADE,
    old_path  TEXT NOT NULL,
    path      TEXT NOT NULL,
    PRIMARY KEY (scope_key, old_path)
) WITHOUT ROWID;

-- The order of the queue, so that taking a few from it doesn't look at all of it: 0 what people said, the latest first;
-- 1 commits of the last 30 days and files that changed after they were indexed, the latest first; 2 files in their order;
-- 3 older commits, the latest first.
ALTER TABLE pending ADD COLUMN lane INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pending ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER pending_inserted AFTER INSERT ON pending BEGIN
    UPDATE pending SET (lane, turn) = (
        SELECT CASE
            WHEN n.subtype = 'commit' THEN iif(n.event_time >= new.queued_at - 2592000000, 1, 3)
            WHEN n.type = 'snippet' THEN iif(n.created_at < new.queued_at - 60000, 1, 2)
            ELSE 0 END,
        CASE
            WHEN n.subtype = 'commit' THEN -n.event_time
            WHEN n.type = 'snippet' THEN iif(n.created_at < new.queued_at - 60000, -new.queued_at, n.key)
            ELSE -n.key END
        FROM nodes n WHERE n.key = new.node_key)
    WHERE node_key = new.node_key;
END;
CREATE TRIGGER pending_queued_again AFTER UPDATE OF queued_at ON pending BEGIN
    UPDATE pending SET (lane, turn) = (
        SELECT iif(n.type = 'snippet', 1, pending.lane), iif(n.type = 'snippet', -new.queued_at, pending.turn)
        FROM nodes n WHERE n.key = new.node_key)
    WHERE node_key = new.node_key;
END;
UPDATE pending SET (lane, turn) = (
    SELECT CASE WHEN n.subtype = 'commit' THEN 3 WHEN n.type = 'snippet' THEN 2 ELSE 0 END,
        CASE WHEN n.subtype = 'commit' THEN -n.event_time WHEN n.type = 'snippet' THEN n.key ELSE -n.key END
    FROM nodes n WHERE n.key = pending.node_key);
CREATE INDEX idx_pending_order ON pending(attempts, lane, turn, node_key);
