-- How far each session was made into facts, and looked through for causes. Turns below a mark (`seq`) are done: what
-- is stored and the mark move in one transaction, so that a killed process leaves nothing done twice or not at all.

CREATE TABLE consolidations (
    session_key INTEGER PRIMARY KEY REFERENCES sessions(key) ON DELETE CASCADE,
    through_seq INTEGER NOT NULL DEFAULT 0,
    causes_seq  INTEGER NOT NULL DEFAULT 0,
    strategy    TEXT,
    kept        INTEGER NOT NULL DEFAULT 0,
    rejected    INTEGER NOT NULL DEFAULT 0,
    attempts    INTEGER NOT NULL DEFAULT 0,
    updated_at  INTEGER NOT NULL
);
