-- Methods that an interface, a trait or an abstract class declares are symbols: code in languages that have such is cut
-- anew, and its relations are found anew. No file has this hash and this time.
UPDATE files SET content_hash = x'', mtime_ns = -1
WHERE key IN (SELECT file_key FROM positions WHERE language IN
    ('typescript', 'tsx', 'go', 'rust', 'java', 'kotlin', 'scala', 'c_sharp', 'php', 'swift'));
INSERT OR IGNORE INTO unlinked(node_key)
SELECT n.key FROM nodes n JOIN positions p ON p.node_key = n.key
WHERE n.type = 'snippet' AND n.subtype = 'code' AND n.deleted_at IS NULL AND p.language IN
    ('typescript', 'tsx', 'go', 'rust', 'java', 'kotlin', 'scala', 'c_sharp', 'php', 'swift');
