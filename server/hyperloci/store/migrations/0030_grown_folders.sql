-- What a plain folder was when its memory began: device, inode and birth; NULL where the system can't tell, or before.
ALTER TABLE places ADD COLUMN folder_mark TEXT;

-- Memories of empty folders that went on in a repository begun in them, each once; undecided as long as that has no
-- commit: whose it is shows only then.
CREATE TABLE place_growths (
    scope_key  INTEGER PRIMARY KEY REFERENCES scopes(key) ON DELETE CASCADE,
    place_id   TEXT NOT NULL REFERENCES places(id) ON DELETE CASCADE,
    began_at   INTEGER NOT NULL,
    decided_at INTEGER
);
CREATE INDEX idx_place_growths_place ON place_growths(place_id) WHERE decided_at IS NULL;
