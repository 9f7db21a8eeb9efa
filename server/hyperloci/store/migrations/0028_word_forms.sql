-- Words that are not ASCII are found without accents and by their stems, and emoji at all: what older versions indexed
-- is indexed again by maintenance (`keyword_job.py`).
INSERT INTO meta(name, value) SELECT 'keywords.next', '1' WHERE EXISTS (SELECT 1 FROM nodes);
