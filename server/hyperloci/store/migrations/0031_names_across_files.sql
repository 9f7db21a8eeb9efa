-- Names of other files are resolved in more languages: relations of code are found anew. Components are cut anew, since
-- their templates say what they show and call. No file has this hash and this time.
UPDATE files SET content_hash = x'', mtime_ns = -1
WHERE path LIKE '%.vue' OR path LIKE '%.svelte' OR path LIKE '%.astro';
INSERT OR IGNORE INTO unlinked(node_key)
SELECT key FROM nodes WHERE type = 'snippet' AND subtype = 'code' AND deleted_at IS NULL;
