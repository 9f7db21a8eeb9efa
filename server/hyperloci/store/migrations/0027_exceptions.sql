-- What a project decides otherwise than what holds in all of them (`excepts`) stands in its opening, as what may have
-- replaced a memory does.
CREATE TRIGGER openings_exception_added AFTER INSERT ON hyperedges WHEN new.label = 'excepts' BEGIN
    DELETE FROM openings;
END;
CREATE TRIGGER openings_exception_removed AFTER DELETE ON hyperedges WHEN old.label = 'excepts' BEGIN
    DELETE FROM openings;
END;
