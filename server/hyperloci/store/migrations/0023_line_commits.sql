-- Which commits wrote most of the lines of a snippet of code, as they stand.
CREATE TABLE line_commits (
    node_key   INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    commit_key INTEGER NOT NULL REFERENCES nodes(key) ON DELETE CASCADE,
    PRIMARY KEY (node_key, commit_key)
) WITHOUT ROWID;
CREATE INDEX idx_line_commits_commit ON line_commits(commit_key);
-- Which content of each file was asked for them, by Git's id of it.
CREATE TABLE line_commit_files (
    file_key INTEGER PRIMARY KEY REFERENCES files(key) ON DELETE CASCADE,
    blob     TEXT NOT NULL
);
