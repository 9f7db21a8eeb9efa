-- What a session of a project begins with, rendered ahead, so that its hook reads one row. A row is as true as what it was
-- made of: whatever changes that removes it, in the same transaction, and who finds none renders anew.
CREATE TABLE openings (
    scope_key   INTEGER PRIMARY KEY REFERENCES scopes(key) ON DELETE CASCADE,
    -- What else it depends on: the program's version and its settings.
    basis       TEXT NOT NULL,
    text        TEXT NOT NULL,
    -- The ids of what is in it, JSON.
    shown       TEXT NOT NULL CHECK(json_valid(shown)),
    -- The session that it calls the last one.
    session_key INTEGER REFERENCES sessions(key) ON DELETE SET NULL,
    made_at     INTEGER NOT NULL,
    -- When time alone makes it wrong: a deadline passes.
    holds_until INTEGER
);

-- What is global stands in the opening of every project. Of a turn, its ids in hooks and transcripts don't matter.
CREATE TRIGGER openings_node_added AFTER INSERT ON nodes WHEN new.type IN ('fact', 'decision', 'experience') BEGIN
    DELETE FROM openings
    WHERE scope_key = new.scope_key OR (SELECT id FROM scopes WHERE key = new.scope_key) = 'global';
END;
CREATE TRIGGER openings_node_removed AFTER DELETE ON nodes WHEN old.type IN ('fact', 'decision', 'experience') BEGIN
    DELETE FROM openings
    WHERE scope_key = old.scope_key OR (SELECT id FROM scopes WHERE key = old.scope_key) = 'global';
END;
CREATE TRIGGER openings_node_changed AFTER UPDATE ON nodes
WHEN (new.type IN ('fact', 'decision', 'experience') OR old.type IN ('fact', 'decision', 'experience')) AND (
    new.type IS NOT old.type OR new.subtype IS NOT old.subtype OR new.content IS NOT old.content
    OR new.tier IS NOT old.tier OR new.origin IS NOT old.origin OR new.scope_key IS NOT old.scope_key
    OR new.session_key IS NOT old.session_key OR new.seq IS NOT old.seq OR new.event_time IS NOT old.event_time
    OR new.valid_from IS NOT old.valid_from OR new.valid_until IS NOT old.valid_until
    OR new.deleted_at IS NOT old.deleted_at OR new.seen_count IS NOT old.seen_count
    OR (new.metadata IS NOT old.metadata AND new.subtype NOT IN ('episode', 'action')))
BEGIN
    DELETE FROM openings
    WHERE scope_key IN (new.scope_key, old.scope_key)
        OR 'global' IN (SELECT id FROM scopes WHERE key IN (new.scope_key, old.scope_key));
END;

-- Which memories replace or contradict each other; few, so that all openings may go.
CREATE TRIGGER openings_edge_added AFTER INSERT ON hyperedges
WHEN new.label IN ('updates', 'supersedes', 'contradicts') BEGIN
    DELETE FROM openings;
END;
CREATE TRIGGER openings_edge_changed AFTER UPDATE ON hyperedges
WHEN 'updates' IN (new.label, old.label) OR 'supersedes' IN (new.label, old.label)
    OR 'contradicts' IN (new.label, old.label)
BEGIN
    DELETE FROM openings;
END;
CREATE TRIGGER openings_edge_removed AFTER DELETE ON hyperedges
WHEN old.label IN ('updates', 'supersedes', 'contradicts') BEGIN
    DELETE FROM openings;
END;
