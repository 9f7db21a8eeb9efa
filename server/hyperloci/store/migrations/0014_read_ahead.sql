-- How far rules read a session at the end of its turns, ahead of the strategy that reads it when it is over: what a turn
-- says is a memory at once, whichever strategy is set.
ALTER TABLE consolidations ADD COLUMN ahead_seq INTEGER NOT NULL DEFAULT 0;
