-- The first schema. Times are milliseconds since the epoch, UTC; hashes are SHA-256.
-- nodes, hyperedges, membership and evolution_log are SPEC-02's tables; the rest hangs off a node by its integer key.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- 'global', or a project: one for all worktrees of a repository.
CREATE TABLE scopes (
    key         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    root        TEXT,
    remote      TEXT,
    root_commit TEXT,
    created_at  INTEGER NOT NULL
);

CREATE TABLE sessions (
    key             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    scope_key       INTEGER NOT NULL REFERENCES scopes(key),
    status          TEXT NOT NULL DEFAULT 'active' CHECK(status IN ('active', 'completed', 'abandoned')),
    started_at      INTEGER NOT NULL,
    last_seen_at    INTEGER NOT NULL,
    ended_at        INTEGER,
    consolidated_at INTEGER,
    next_seq        INTEGER NOT NULL DEFAULT 0,
    metadata        TEXT NOT NULL DEFAULT '{}' CHECK(json_valid(metadata))
);
CREATE INDEX idx_sessions_scope ON sessions(scope_key, last_seen_at);

-- How far a transcript has been read; a replaced file is noticed by its first bytes.
CREATE TABLE transcripts (
    path       TEXT PRIMARY KEY,
    offset     INTEGER NOT NULL,
    head_hash  BLOB NOT NULL,
    read_at    INTEGER NOT NULL
) WITHOUT ROWID;

-- AUTOINCREMENT: a key is never used twice, so that vector slots and caches in other processes can't mistake one node for another.
CREATE TABLE nodes (
    key           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    type          TEXT NOT NULL CHECK(type IN ('entity', 'fact', 'experience', 'decision', 'snippet')),
    subtype       TEXT,
    title         TEXT NOT NULL DEFAULT '',
    content       TEXT NOT NULL,
    tier          TEXT NOT NULL DEFAULT 'task' CHECK(tier IN ('task', 'session', 'longterm', 'archive')),
    confidence    REAL NOT NULL DEFAULT 0.5 CHECK(confidence >= 0.0 AND confidence <= 1.0),
    decay_rate    REAL NOT NULL DEFAULT 0.1 CHECK(decay_rate >= 0.0),
    provenance    TEXT,
    origin        TEXT NOT NULL,
    scope_key     INTEGER NOT NULL REFERENCES scopes(key),
    session_key   INTEGER REFERENCES sessions(key),
    seq           INTEGER,
    place         TEXT NOT NULL DEFAULT '',
    content_hash  BLOB NOT NULL,
    event_time    INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    last_accessed INTEGER NOT NULL,
    access_count  INTEGER NOT NULL DEFAULT 0,
    valid_from    INTEGER NOT NULL,
    valid_until   INTEGER,
    deleted_at    INTEGER,
    seen_count    INTEGER NOT NULL DEFAULT 1,
    metadata      TEXT NOT NULL DEFAULT '{}' CHECK(json_valid(metadata))
);
CREATE INDEX idx_nodes_tier ON nodes(tier);
CREATE INDEX idx_nodes_type ON nodes(type, subtype);
CREATE INDEX idx_nodes_confidence ON nodes(confidence);
CREATE INDEX idx_nodes_last_accessed ON nodes(last_accessed);
CREATE INDEX idx_nodes_scope ON nodes(scope_key, type, created_at);
CREATE INDEX idx_nodes_session ON nodes(session_key, seq) WHERE session_key IS NOT NULL;
CREATE INDEX idx_nodes_content ON nodes(content_hash, scope_key, place);
CREATE INDEX idx_nodes_event ON nodes(event_time);
CREATE INDEX idx_nodes_deleted ON nodes(deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE hyperedges (
    key          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    type         TEXT NOT NULL CHECK(type IN ('relation', 'composition', 'causation', 'context')),
    label        TEXT NOT NULL,
    weight       REAL NOT NULL DEFAULT 1.0 CHECK(weight >= 0.0),
    confidence   REAL NOT NULL DEFAULT 1.0 CHECK(confidence >= 0.0 AND confidence <= 1.0),
    automatic    INTEGER NOT NULL DEFAULT 0 CHECK(automatic IN (0, 1)),
    evidence     TEXT,
    created_at   INTEGER NOT NULL,
    confirmed_at INTEGER
);
CREATE INDEX idx_hyperedges_label ON hyperedges(label);

CREATE TABLE membership (
    hyperedge_key INTEGER NOT NULL REFERENCES hyperedges(key) ON DELETE CASCADE,
    node_key      INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    role          TEXT NOT NULL CHECK(role IN ('subject', 'object', 'context', 'participant', 'cause', 'effect')),
    position      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (hyperedge_key, node_key, role)
) WITHOUT ROWID;
CREATE INDEX idx_membership_node ON membership(node_key, hyperedge_key);

CREATE TABLE evolution_log (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    operation TEXT NOT NULL,
    node_ids  TEXT NOT NULL CHECK(json_valid(node_ids)),
    from_tier TEXT,
    to_tier   TEXT,
    reasoning TEXT
);
CREATE INDEX idx_evolution_time ON evolution_log(timestamp);
-- One row per node named in an entry, so that a node's history is an index lookup.
CREATE TABLE evolution_nodes (
    node_id TEXT NOT NULL,
    log_id  INTEGER NOT NULL REFERENCES evolution_log(id) ON DELETE CASCADE,
    PRIMARY KEY (node_id, log_id)
) WITHOUT ROWID;

CREATE TABLE files (
    key          INTEGER PRIMARY KEY,
    scope_key    INTEGER NOT NULL REFERENCES scopes(key),
    path         TEXT NOT NULL,
    size         INTEGER NOT NULL,
    mtime_ns     INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    indexed_at   INTEGER NOT NULL,
    UNIQUE (scope_key, path)
);

CREATE TABLE positions (
    node_key      INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    file_key      INTEGER REFERENCES files(key) ON DELETE SET NULL,
    path          TEXT,
    line_start    INTEGER,
    line_end      INTEGER,
    char_start    INTEGER,
    char_end      INTEGER,
    section_path  TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(section_path)),
    heading_level INTEGER,
    module        TEXT,
    class_name    TEXT,
    function_name TEXT,
    symbol        TEXT,
    scope_depth   INTEGER NOT NULL DEFAULT 0,
    language      TEXT,
    url           TEXT,
    anchor        TEXT
);
CREATE INDEX idx_positions_file ON positions(file_key, char_start);
CREATE INDEX idx_positions_path ON positions(path, line_start);
CREATE INDEX idx_positions_symbol ON positions(symbol) WHERE symbol IS NOT NULL;
CREATE INDEX idx_positions_class ON positions(class_name) WHERE class_name IS NOT NULL;
CREATE INDEX idx_positions_function ON positions(function_name) WHERE function_name IS NOT NULL;
CREATE INDEX idx_positions_module ON positions(module) WHERE module IS NOT NULL;

-- What the parse tree said of a code snippet (model.chunk.CodeFacts), for the spaces that see code.
CREATE TABLE code_facts (
    node_key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    facts    TEXT NOT NULL CHECK(json_valid(facts))
);

-- The symbol a fact speaks of, with the hash of its text then: a change is flagged at read.
CREATE TABLE anchors (
    node_key    INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    scope_key   INTEGER NOT NULL REFERENCES scopes(key),
    path        TEXT NOT NULL,
    symbol      TEXT NOT NULL,
    symbol_hash BLOB NOT NULL,
    PRIMARY KEY (node_key, path, symbol)
) WITHOUT ROWID;
CREATE INDEX idx_anchors_place ON anchors(path, symbol);

CREATE TABLE facets (
    node_key         INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    diataxis         TEXT,
    persona          TEXT,
    verification     TEXT,
    confidence_level TEXT,
    section_type     TEXT,
    source_type      TEXT,
    authority        REAL,
    time_sensitive   INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE domain_tags (
    tag      TEXT NOT NULL,
    node_key INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    PRIMARY KEY (tag, node_key)
) WITHOUT ROWID;
CREATE INDEX idx_domain_tags_node ON domain_tags(node_key);

-- An entity is a node; its names are here.
CREATE TABLE entities (
    node_key       INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    canonical_name TEXT NOT NULL,
    summary        TEXT,
    mention_count  INTEGER NOT NULL DEFAULT 0,
    first_seen     INTEGER NOT NULL,
    last_updated   INTEGER NOT NULL
);
CREATE TABLE aliases (
    alias      TEXT NOT NULL,
    entity_key INTEGER NOT NULL REFERENCES entities(node_key) ON DELETE CASCADE,
    PRIMARY KEY (alias, entity_key)
) WITHOUT ROWID;
CREATE TABLE mentions (
    node_key   INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    entity_key INTEGER NOT NULL REFERENCES entities(node_key) ON DELETE CASCADE,
    PRIMARY KEY (node_key, entity_key)
) WITHOUT ROWID;
CREATE INDEX idx_mentions_entity ON mentions(entity_key);

CREATE TABLE commits (
    scope_key INTEGER NOT NULL REFERENCES scopes(key),
    sha       TEXT NOT NULL,
    node_key  INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    PRIMARY KEY (scope_key, sha)
) WITHOUT ROWID;
CREATE INDEX idx_commits_node ON commits(node_key);

-- Analysed terms of a node by field, space-joined with repetition; the index below finds nodes by them.
CREATE TABLE keywords (
    node_key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    title    TEXT NOT NULL,
    body     TEXT NOT NULL,
    extra    TEXT NOT NULL,
    length   INTEGER NOT NULL
);
-- detail=none: postings hold row ids only; term counts come from `keywords` for the few rows that are scored.
-- The ascii tokenizer leaves every analysed term as it is; unicode61 would fold and split by the rules of Unicode 6.1.
CREATE VIRTUAL TABLE keyword_index USING fts5(
    title, body, extra,
    content='keywords', content_rowid='node_key', detail=none,
    tokenize="ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE keyword_vocabulary USING fts5vocab('keyword_index', 'row');
-- How many rows `keywords` has and how many terms they hold: BM25 needs both for every query, and counting reads it all.
CREATE TABLE keyword_totals (
    key   INTEGER PRIMARY KEY CHECK(key = 1),
    nodes INTEGER NOT NULL,
    terms INTEGER NOT NULL
);
INSERT INTO keyword_totals(key, nodes, terms) VALUES (1, 0, 0);
CREATE TRIGGER keywords_insert AFTER INSERT ON keywords BEGIN
    UPDATE keyword_totals SET nodes = nodes + 1, terms = terms + new.length;
    INSERT INTO keyword_index(rowid, title, body, extra) VALUES (new.node_key, new.title, new.body, new.extra);
END;
CREATE TRIGGER keywords_delete AFTER DELETE ON keywords BEGIN
    UPDATE keyword_totals SET nodes = nodes - 1, terms = terms - old.length;
    INSERT INTO keyword_index(keyword_index, rowid, title, body, extra)
    VALUES ('delete', old.node_key, old.title, old.body, old.extra);
END;
CREATE TRIGGER keywords_update AFTER UPDATE ON keywords BEGIN
    UPDATE keyword_totals SET terms = terms - old.length + new.length;
    INSERT INTO keyword_index(keyword_index, rowid, title, body, extra)
    VALUES ('delete', old.node_key, old.title, old.body, old.extra);
    INSERT INTO keyword_index(rowid, title, body, extra) VALUES (new.node_key, new.title, new.body, new.extra);
END;

-- The durable queue of nodes without a fingerprint (B.03).
CREATE TABLE pending (
    node_key  INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    queued_at INTEGER NOT NULL,
    attempts  INTEGER NOT NULL DEFAULT 0,
    error     TEXT
);

CREATE TABLE models (
    key        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL,
    first_used INTEGER NOT NULL
);

-- One row is one fingerprint: all spaces are written together or not at all (E.01). NULL is "absent": the space does not apply.
-- e1 is float32; the other dense spaces are int8 with unit norm; e9 is 1024 bits.
CREATE TABLE fingerprints (
    node_key   INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    model_key  INTEGER NOT NULL REFERENCES models(key),
    made_at    INTEGER NOT NULL,
    e1         BLOB,
    e5_cause   BLOB,
    e5_effect  BLOB,
    e7         BLOB,
    e8_out     BLOB,
    e8_in      BLOB,
    e9         BLOB,
    e10        BLOB,
    e11        BLOB,
    e12        BLOB
);

-- Sign bits of a space's vectors, 8,192 node keys a block, scanned whole; `version` tells readers to load a block anew.
CREATE TABLE code_blocks (
    key     INTEGER PRIMARY KEY,
    space   TEXT NOT NULL,
    block   INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,
    codes   BLOB NOT NULL,
    UNIQUE (space, block)
);
