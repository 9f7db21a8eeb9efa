-- When a version was put before others, as it says: of a withdrawal its time, of a memory that was shared anew after one
-- that time, 0 of any other. The later word counts. What is taken back before this knew when it was noted here.
ALTER TABLE shared_records ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0;
UPDATE shared_records SET told_at = exchanged_at WHERE state = 'forgotten';
