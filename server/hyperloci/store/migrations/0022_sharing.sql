-- When a version was put before others, as it says: of a withdrawal its time, of a memory that was shared anew after one
-- that time, 0 of any other. The later word counts. Of earlier withdrawals it is when they were noted here.
ALTER TABLE shared_records ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0;
UPDATE shared_records SET told_at = exchanged_at WHERE state = 'forgotten';

-- Teammates' memories that are yet to be compared with what else is held, for contradictions.
CREATE TABLE shared_comparisons (
    node_key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE
);
