-- Memories that the user keeps, and that no session is shown: neither found by a search nor put before the assistant.
CREATE TABLE withheld (
    node_key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
    since    INTEGER NOT NULL
);
-- The set of what a search may find is kept by readers and brought up to date by these; what sessions begin with goes.
CREATE TRIGGER withheld_added AFTER INSERT ON withheld BEGIN
    INSERT INTO node_changes(node_key) VALUES (new.node_key);
    DELETE FROM openings;
END;
CREATE TRIGGER withheld_removed AFTER DELETE ON withheld BEGIN
    INSERT INTO node_changes(node_key) VALUES (old.node_key);
    DELETE FROM openings;
END;

-- Pages of what happened, of one kind and latest first, without a look at the rest.
CREATE INDEX idx_nodes_events ON nodes(scope_key, subtype, event_time) WHERE type IN ('fact', 'decision', 'experience');
-- What looked like an instruction when it was stored; few among many.
CREATE INDEX idx_nodes_flagged ON nodes(scope_key) WHERE instr(metadata, '"flags"') > 0;
