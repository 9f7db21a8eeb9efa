-- Topics (E.09): what memories cluster into. Derived, but kept: a topic has one id over many runs.

CREATE TABLE topics (
    key         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    scope_key   INTEGER NOT NULL REFERENCES scopes(key) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    terms       TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(terms)),
    phase       TEXT NOT NULL CHECK(phase IN ('emerging', 'stable', 'declining', 'merging')),
    agreement   REAL NOT NULL,
    strengths   TEXT NOT NULL DEFAULT '{}' CHECK(json_valid(strengths)),
    churn       REAL NOT NULL DEFAULT 0.0,
    recalled    REAL NOT NULL DEFAULT 0.0,
    recalled_before REAL NOT NULL DEFAULT 0.0,
    created_at  INTEGER NOT NULL,
    run_at      INTEGER NOT NULL,
    settled_at  INTEGER NOT NULL,
    merged_into TEXT,
    model_key   INTEGER REFERENCES models(key),
    centroid    BLOB,
    floor       REAL NOT NULL DEFAULT 1.0
);
CREATE INDEX idx_topics_scope ON topics(scope_key);

-- A memory is in one topic at most; `joined_at` after the topic's `run_at`: it joined between two runs.
CREATE TABLE topic_members (
    node_key  INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    topic_key INTEGER NOT NULL REFERENCES topics(key) ON DELETE CASCADE,
    weight    REAL NOT NULL,
    joined_at INTEGER NOT NULL
);
CREATE INDEX idx_topic_members_topic ON topic_members(topic_key, weight);

-- When topics were last looked for in a scope, and among how many memories; `wanted`: somebody asked for a new run.
CREATE TABLE topic_runs (
    scope_key INTEGER PRIMARY KEY REFERENCES scopes(key) ON DELETE CASCADE,
    run_at    INTEGER NOT NULL,
    memories  INTEGER NOT NULL,
    wanted    INTEGER NOT NULL DEFAULT 0 CHECK(wanted IN (0, 1))
);
