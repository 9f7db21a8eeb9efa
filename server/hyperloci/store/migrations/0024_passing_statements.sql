-- What the user said in passing: of which no memory was made, but which a later statement may replace. Only where it
-- stands in its turn, and the words that it answers in theirs, so that no text is kept twice.
CREATE TABLE passing_statements (
    node_key    INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    first       INTEGER NOT NULL,
    length      INTEGER NOT NULL,
    about_key   INTEGER REFERENCES nodes(key) ON DELETE SET NULL,
    about_first INTEGER,
    about_length INTEGER,
    PRIMARY KEY (node_key, first)
) WITHOUT ROWID;
CREATE INDEX idx_passing_statements_about ON passing_statements(about_key) WHERE about_key IS NOT NULL;
