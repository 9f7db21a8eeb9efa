-- E1 takes two bytes a dimension instead of four (store.half), and its codes two bits instead of one: they are made anew
-- when this has run (store.migrate).
UPDATE fingerprints SET e1 = halves(e1)
WHERE length(e1) = 4 * (SELECT m.dimensions FROM models m WHERE m.key = fingerprints.model_key);
-- A program from before that still runs must not write as it used to: its batch stays in the queue.
CREATE TRIGGER fingerprints_insert BEFORE INSERT ON fingerprints
WHEN length(new.e1) <> 2 * (SELECT m.dimensions FROM models m WHERE m.key = new.model_key) BEGIN
    SELECT RAISE(ABORT, 'e1 does not have two bytes a dimension');
END;

-- How often the terms of a node were replaced or taken out. While it stands, what a reader knows of a term only grows.
ALTER TABLE keyword_totals ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER keywords_insert;
CREATE TRIGGER keywords_insert AFTER INSERT ON keywords BEGIN
    UPDATE keyword_totals SET nodes = nodes + 1, terms = terms + new.length,
        rewritten = rewritten + (new.node_key < (SELECT max(node_key) FROM keywords));
    INSERT INTO keyword_index(rowid, title, body, extra) VALUES (new.node_key, new.title, new.body, new.extra);
END;
DROP TRIGGER keywords_delete;
CREATE TRIGGER keywords_delete AFTER DELETE ON keywords BEGIN
    UPDATE keyword_totals SET nodes = nodes - 1, terms = terms - old.length, rewritten = rewritten + 1;
    INSERT INTO keyword_index(keyword_index, rowid, title, body, extra)
    VALUES ('delete', old.node_key, old.title, old.body, old.extra);
END;
DROP TRIGGER keywords_update;
CREATE TRIGGER keywords_update AFTER UPDATE ON keywords BEGIN
    UPDATE keyword_totals SET terms = terms - old.length + new.length, rewritten = rewritten + 1;
    INSERT INTO keyword_index(keyword_index, rowid, title, body, extra)
    VALUES ('delete', old.node_key, old.title, old.body, old.extra);
    INSERT INTO keyword_index(rowid, title, body, extra) VALUES (new.node_key, new.title, new.body, new.extra);
END;

-- What somebody asked to be remembered, few among many: a search asks which of its candidates are among them.
CREATE INDEX idx_nodes_told ON nodes(key) WHERE origin = 'tool' AND type <> 'entity';

-- How many postings a term has, and a version: what a reader keeps of a term holds while that stands. Random, for a term's
-- key may be used again.
ALTER TABLE sparse_terms ADD COLUMN postings INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sparse_terms ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
UPDATE sparse_terms SET version = random(), postings = coalesce(
    (SELECT sum(length(p.postings) / 3) FROM sparse_postings p WHERE p.term_key = sparse_terms.key), 0);
CREATE TRIGGER sparse_postings_insert AFTER INSERT ON sparse_postings BEGIN
    UPDATE sparse_terms SET postings = postings + length(new.postings) / 3, version = random()
    WHERE key = new.term_key;
END;
CREATE TRIGGER sparse_postings_update AFTER UPDATE ON sparse_postings BEGIN
    UPDATE sparse_terms SET postings = postings + (length(new.postings) - length(old.postings)) / 3,
        version = random()
    WHERE key = new.term_key;
END;
CREATE TRIGGER sparse_postings_delete AFTER DELETE ON sparse_postings BEGIN
    UPDATE sparse_terms SET postings = postings - length(old.postings) / 3, version = random()
    WHERE key = old.term_key;
END;

-- The forgotten, few among many: a walk over the graph steps on none of them.
CREATE INDEX idx_nodes_forgotten ON nodes(key) WHERE deleted_at IS NOT NULL;
