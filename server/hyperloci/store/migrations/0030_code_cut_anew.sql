-- More of code is a symbol, a call or a base than when these files were cut: the next index run cuts them anew, and finds
-- their relations anew. No file has this hash and this time. Documents that 0016 gave the hash alone were not looked at.
UPDATE files SET content_hash = x'', mtime_ns = -1 WHERE content_hash = x'' OR key IN (
    SELECT p.file_key FROM code_facts c JOIN positions p ON p.node_key = c.node_key);
INSERT OR IGNORE INTO unlinked(node_key)
SELECT key FROM nodes WHERE type = 'snippet' AND subtype = 'code' AND deleted_at IS NULL;
