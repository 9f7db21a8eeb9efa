-- Headings of further sections that a snippet reaches into: short sections share one.
ALTER TABLE positions ADD COLUMN headings TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(headings));

-- No file has this hash: the next index run cuts documents anew, and finds their headings.
UPDATE files SET content_hash = x'' WHERE lower(path) LIKE '%.md' OR lower(path) LIKE '%.markdown' OR lower(path) LIKE '%.mdx';
