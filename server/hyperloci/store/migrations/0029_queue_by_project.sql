-- Whose a node in the queue is, so that the project that somebody sits at comes before others without a look at what they
-- have waiting; NULL of a forgotten node, which gets no fingerprint unless it is restored.
ALTER TABLE pending ADD COLUMN scope_key INTEGER;
DROP TRIGGER pending_inserted;
CREATE TRIGGER pending_inserted AFTER INSERT ON pending BEGIN
    UPDATE pending SET (lane, turn, scope_key) = (
        SELECT CASE
            WHEN n.subtype = 'commit' THEN iif(n.event_time >= new.queued_at - 2592000000, 1, 3)
            WHEN n.type = 'snippet' THEN iif(n.created_at < new.queued_at - 60000, 1, 2)
            ELSE 0 END,
        CASE
            WHEN n.subtype = 'commit' THEN -n.event_time
            WHEN n.type = 'snippet' THEN iif(n.created_at < new.queued_at - 60000, -new.queued_at, n.key)
            ELSE -n.key END,
        iif(n.deleted_at IS NULL, n.scope_key, NULL)
        FROM nodes n WHERE n.key = new.node_key)
    WHERE node_key = new.node_key;
END;
CREATE TRIGGER pending_node_moved AFTER UPDATE OF scope_key, deleted_at ON nodes BEGIN
    UPDATE pending SET scope_key = iif(new.deleted_at IS NULL, new.scope_key, NULL) WHERE node_key = new.key;
END;
UPDATE pending SET scope_key = (
    SELECT n.scope_key FROM nodes n WHERE n.key = pending.node_key AND n.deleted_at IS NULL);
CREATE INDEX idx_pending_scope ON pending(scope_key, attempts, lane, turn, node_key) WHERE scope_key IS NOT NULL;

-- Which session goes on now, of many thousands that are over.
CREATE INDEX idx_sessions_open ON sessions(last_seen_at) WHERE ended_at IS NULL;
