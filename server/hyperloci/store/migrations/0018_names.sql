-- Symbols by their names whatever the case and the joints: `message hash` and `MessageHash` find `message_hash`.
CREATE INDEX idx_positions_symbol_squashed ON positions(replace(lower(symbol), '_', '')) WHERE symbol IS NOT NULL;
CREATE INDEX idx_positions_function_squashed ON positions(replace(lower(function_name), '_', ''))
WHERE function_name IS NOT NULL;
CREATE INDEX idx_positions_class_squashed ON positions(replace(lower(class_name), '_', ''))
WHERE class_name IS NOT NULL;

-- More calls can be resolved than when these relations were found (receivers, objects made in place, names handed on).
INSERT OR IGNORE INTO unlinked(node_key)
SELECT key FROM nodes WHERE type = 'snippet' AND subtype = 'code' AND deleted_at IS NULL;
