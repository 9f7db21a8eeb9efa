-- Weighted terms of a memory in a sparse space (E13), and the inverted index over them.

CREATE TABLE sparse_terms (
    key   INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    term  TEXT NOT NULL,
    UNIQUE (space, term)
);

-- A memory's terms: records of five bytes, the term's key (32 bits, little endian) and its weight.
CREATE TABLE sparse_docs (
    node_key INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    space    TEXT NOT NULL,
    terms    BLOB NOT NULL,
    PRIMARY KEY (node_key, space)
) WITHOUT ROWID;

-- A term's memories, 8,192 node keys a block: records of three bytes in no order, the place in the block (16 bits,
-- little endian) and the weight.
CREATE TABLE sparse_postings (
    term_key INTEGER NOT NULL REFERENCES sparse_terms(key) ON DELETE CASCADE,
    block    INTEGER NOT NULL,
    postings BLOB NOT NULL,
    PRIMARY KEY (term_key, block)
) WITHOUT ROWID;
