-- Fewer relations of code are wrong: they are found anew. C++ is cut anew, since a test of GoogleTest has its own name, and
-- Kotlin, since a class has no base of its companion's. No file has this hash and this time.
UPDATE files SET content_hash = x'', mtime_ns = -1
WHERE key IN (SELECT file_key FROM positions WHERE language IN ('cpp', 'kotlin'));
INSERT OR IGNORE INTO unlinked(node_key)
SELECT key FROM nodes WHERE type = 'snippet' AND subtype = 'code' AND deleted_at IS NULL;
