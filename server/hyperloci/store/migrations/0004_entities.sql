-- Entities that were found to be one: what moved is kept, so that a merge can be undone.

-- How a name was written, for people to read; `alias` is the form that is looked up.
ALTER TABLE aliases ADD COLUMN written TEXT;

CREATE TABLE entity_merges (
    key        INTEGER PRIMARY KEY,
    merged_key INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    kept_key   INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    merged_at  INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    score      REAL NOT NULL,
    undone_at  INTEGER,
    UNIQUE (merged_key, merged_at)
);
CREATE INDEX idx_entity_merges_kept ON entity_merges(kept_key);

-- The names that a merge gave to the entity that was kept.
CREATE TABLE merged_aliases (
    merge_key INTEGER NOT NULL REFERENCES entity_merges(key) ON DELETE CASCADE,
    alias     TEXT NOT NULL,
    written   TEXT,
    PRIMARY KEY (merge_key, alias)
) WITHOUT ROWID;

-- The mentions that it gave to it; `added` unless the memory mentioned both.
CREATE TABLE merged_mentions (
    merge_key INTEGER NOT NULL REFERENCES entity_merges(key) ON DELETE CASCADE,
    node_key  INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    added     INTEGER NOT NULL CHECK(added IN (0, 1)),
    PRIMARY KEY (merge_key, node_key)
) WITHOUT ROWID;
CREATE INDEX idx_merged_mentions_node ON merged_mentions(node_key);

-- Which facets somebody set by hand: rules leave these alone.
ALTER TABLE facets ADD COLUMN by_hand TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(by_hand));
CREATE INDEX idx_facets_diataxis ON facets(diataxis) WHERE diataxis IS NOT NULL;
CREATE INDEX idx_facets_persona ON facets(persona) WHERE persona IS NOT NULL;
CREATE INDEX idx_facets_verification ON facets(verification) WHERE verification IS NOT NULL;
CREATE INDEX idx_facets_confidence ON facets(confidence_level) WHERE confidence_level IS NOT NULL;
CREATE INDEX idx_facets_source ON facets(source_type) WHERE source_type IS NOT NULL;

-- Memories that are older than this have neither mentions nor facets: upkeep fills them in, from this key on.
INSERT INTO meta(name, value) SELECT 'annotate.next', '1' WHERE EXISTS (SELECT 1 FROM nodes);
