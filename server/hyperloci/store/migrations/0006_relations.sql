-- Relations that rules find in snippets (D.03): which snippets' relations are still to be found.
-- The queue is filled where a snippet is written, in the same transaction, so that no crash can lose it.

CREATE TABLE unlinked (
    node_key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE
);
CREATE TRIGGER unlinked_new AFTER INSERT ON nodes WHEN new.type = 'snippet' AND new.subtype IN ('markdown', 'code', 'text')
BEGIN
    INSERT OR IGNORE INTO unlinked(node_key) VALUES (new.key);
END;
CREATE TRIGGER unlinked_changed AFTER UPDATE OF content, title, deleted_at ON nodes
    WHEN new.type = 'snippet' AND new.subtype IN ('markdown', 'code', 'text') AND new.deleted_at IS NULL
BEGIN
    INSERT OR IGNORE INTO unlinked(node_key) VALUES (new.key);
END;
INSERT INTO unlinked(node_key) SELECT key FROM nodes
    WHERE type = 'snippet' AND subtype IN ('markdown', 'code', 'text') AND deleted_at IS NULL;
