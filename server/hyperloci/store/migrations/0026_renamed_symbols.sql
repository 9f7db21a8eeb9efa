-- By what an anchored symbol is known under another name: the hash of its text without its name, NULL of one too short
-- (and of what was anchored before, until it is confirmed). And where it stood when the memory was tied to it, where it
-- was renamed since.
ALTER TABLE anchors ADD COLUMN body_hash BLOB;
ALTER TABLE anchors ADD COLUMN former_path TEXT;
ALTER TABLE anchors ADD COLUMN former_symbol TEXT;
