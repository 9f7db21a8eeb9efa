-- Statements of conversations that are to be judged by meaning once they have a vector: what do they replace?
CREATE TABLE statement_reviews (
    node_key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE
);
