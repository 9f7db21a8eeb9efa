-- No statement needs these, and every memory, every recall and every piece of code paid for them. Most memories are as
-- sure as a search asks for; a condition on a module is met by beginnings of names, which no index finds.
DROP INDEX idx_nodes_last_accessed;
DROP INDEX idx_nodes_confidence;
DROP INDEX idx_positions_module;
