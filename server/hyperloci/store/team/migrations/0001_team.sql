-- The shared truth of teams. Every key begins with the team, so that a distributed PostgreSQL can place rows by it.
-- Times of memories are milliseconds since the epoch, UTC, as on every member's machine.

CREATE TABLE hyperloci.teams (
    team       uuid PRIMARY KEY,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE hyperloci.members (
    team       uuid NOT NULL REFERENCES hyperloci.teams,
    member     uuid NOT NULL,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    role       text NOT NULL CHECK (role IN ('admin', 'member', 'reader')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team, member),
    UNIQUE (team, name)
);

-- A token is 256 random bits, so its plain hash tells nothing of it.
CREATE TABLE hyperloci.tokens (
    team       uuid NOT NULL,
    hash       bytea NOT NULL,
    member     uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    PRIMARY KEY (team, hash),
    FOREIGN KEY (team, member) REFERENCES hyperloci.members
);

-- `change` numbers what happened in a project. Whoever stores holds this row until the commit, so that numbers become
-- visible in their order, without gaps: a reader that asks for what is above its last one misses nothing.
CREATE TABLE hyperloci.projects (
    team    uuid NOT NULL REFERENCES hyperloci.teams,
    project text NOT NULL CHECK (length(project) BETWEEN 1 AND 500),
    change  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (team, project)
);

-- What holds now of each shared memory.
CREATE TABLE hyperloci.memories (
    team        uuid NOT NULL,
    id          uuid NOT NULL,
    project     text NOT NULL,
    revision    integer NOT NULL CHECK (revision >= 1),
    change      bigint NOT NULL,
    author      uuid NOT NULL,
    state       text NOT NULL CHECK (state IN ('live', 'withdrawn', 'forgotten', 'purged')),
    type        text NOT NULL,
    subtype     text,
    agent       text,
    title       text NOT NULL CHECK (length(title) <= 2000),
    content     text NOT NULL CHECK (length(content) <= 20000),
    confidence  real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    event_time  bigint NOT NULL,
    valid_from  bigint NOT NULL,
    valid_until bigint,
    supersedes  uuid[] NOT NULL,
    digest      bytea NOT NULL,
    stored_at   timestamptz NOT NULL DEFAULT now(),
    -- The index terms that members' machines make of a text: searches here and there look for the same words.
    keywords    text NOT NULL DEFAULT '',
    terms       tsvector GENERATED ALWAYS AS (array_to_tsvector(string_to_array(keywords, ' '))) STORED,
    -- The view of meaning, E1, by the model that made it; vectors of two models have nothing to do with each other.
    model       text,
    e1          halfvec(384),
    bits        bit(384) GENERATED ALWAYS AS (binary_quantize(e1)::bit(384)) STORED,
    PRIMARY KEY (team, id),
    FOREIGN KEY (team, project) REFERENCES hyperloci.projects,
    FOREIGN KEY (team, author) REFERENCES hyperloci.members (team, member)
);
CREATE INDEX memories_project ON hyperloci.memories (team, project) WHERE state = 'live';
CREATE INDEX memories_forgotten ON hyperloci.memories (team, stored_at) WHERE state = 'forgotten';
CREATE INDEX memories_terms ON hyperloci.memories USING gin (terms);
-- Bits are a sixteenth of the vectors: the graph over them stays in memory long after one over vectors would not, and
-- what it finds is put in order by the vectors themselves.
CREATE INDEX memories_bits ON hyperloci.memories USING hnsw (bits bit_hamming_ops) WHERE state = 'live';

-- Everything that was ever told of a memory, by whom, and what they had before them (`base`). Where that was not the
-- newest, the revision has diverged: both are kept, and every member is shown them.
CREATE TABLE hyperloci.revisions (
    team      uuid NOT NULL,
    project   text NOT NULL,
    change    bigint NOT NULL,
    id        uuid NOT NULL,
    revision  integer NOT NULL,
    base      integer NOT NULL,
    -- Made on the machine that tells it, the same each time it tells it again.
    edit      uuid NOT NULL,
    editor    uuid NOT NULL,
    diverged  boolean NOT NULL,
    payload   jsonb NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team, id, revision),
    UNIQUE (team, edit),
    UNIQUE (team, project, change),
    FOREIGN KEY (team, editor) REFERENCES hyperloci.members (team, member)
);

-- Who asks: the token that a transaction sets (`SET LOCAL hyperloci.token`) names the team and proves the member.
CREATE FUNCTION hyperloci.current_identity(OUT team uuid, OUT member uuid, OUT role text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.team, t.member, m.role
    FROM hyperloci.tokens t
    JOIN hyperloci.members m ON m.team = t.team AND m.member = t.member
    WHERE t.team = substring(current_setting('hyperloci.token', true) FROM '^hlt_([0-9a-f]{32})_')::uuid
        AND t.hash = sha256(convert_to(current_setting('hyperloci.token', true), 'UTF8'))
        AND t.revoked_at IS NULL
$$;
-- Policies call these two with the rights, and else with the search path, of whoever asks: an operator of their own must
-- not decide who they are.
CREATE FUNCTION hyperloci.current_team() RETURNS uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT (hyperloci.current_identity()).team $$;
CREATE FUNCTION hyperloci.current_writer() RETURNS uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT i.member FROM hyperloci.current_identity() i WHERE i.role <> 'reader'
$$;

CREATE FUNCTION hyperloci.add_member(new_member uuid, new_name text, new_role text, new_hash bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller record;
    known uuid;
BEGIN
    SELECT * INTO caller FROM hyperloci.current_identity();
    IF caller.role IS DISTINCT FROM 'admin' THEN
        RAISE insufficient_privilege USING MESSAGE = 'only an admin of the team adds members';
    END IF;
    INSERT INTO hyperloci.members (team, member, name, role) VALUES (caller.team, new_member, new_name, new_role)
    ON CONFLICT (team, name) DO UPDATE SET role = excluded.role RETURNING member INTO known;
    INSERT INTO hyperloci.tokens (team, hash, member) VALUES (caller.team, new_hash, known);
END $$;

CREATE FUNCTION hyperloci.revoke_member(old_name text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller record;
    revoked integer;
BEGIN
    SELECT * INTO caller FROM hyperloci.current_identity();
    IF caller.role IS DISTINCT FROM 'admin' THEN
        RAISE insufficient_privilege USING MESSAGE = 'only an admin of the team revokes tokens';
    END IF;
    UPDATE hyperloci.tokens t SET revoked_at = now() FROM hyperloci.members m
    WHERE t.team = caller.team AND m.team = t.team AND m.member = t.member AND m.name = old_name
        AND t.revoked_at IS NULL;
    GET DIAGNOSTICS revoked = ROW_COUNT;
    RETURN revoked;
END $$;

-- Takes the texts of memories out of the history: of those that their authors (or an admin) purged or withdrew, and of
-- those that nobody can restore any more.
CREATE FUNCTION hyperloci.erase_history(erased uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller record;
BEGIN
    SELECT * INTO caller FROM hyperloci.current_identity();
    UPDATE hyperloci.revisions r SET payload = '{}' FROM hyperloci.memories m
    WHERE r.team = caller.team AND m.team = r.team AND m.id = r.id AND r.id = ANY (erased) AND m.content = ''
        AND (m.state IN ('purged', 'withdrawn') OR m.stored_at < now() - interval '30 days')
        AND (m.author = caller.member OR caller.role = 'admin' OR m.state = 'forgotten');
END $$;

-- What is purged or withdrawn is erased on every member's machine, and nobody brings it back: so only its author or an
-- admin may say it, whatever statement a member sends.
CREATE FUNCTION hyperloci.guard_erasure() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller record;
BEGIN
    SELECT * INTO caller FROM hyperloci.current_identity();
    IF caller.member IS DISTINCT FROM old.author AND caller.role IS DISTINCT FROM 'admin' THEN
        RAISE insufficient_privilege USING MESSAGE = 'only its author or an admin of the team erases a memory';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard_erasure BEFORE UPDATE OF state ON hyperloci.memories FOR EACH ROW
    WHEN (new.state IN ('purged', 'withdrawn') AND new.state <> old.state)
    EXECUTE FUNCTION hyperloci.guard_erasure();

-- Under row-level security an operator that might leak a row is asked last, and so the index of words never: this asks for the
-- caller's team itself, as the owner.
CREATE FUNCTION hyperloci.find_worded(query tsquery, without text[], most integer) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asking uuid := hyperloci.current_team();
BEGIN
    IF asking IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT m.id FROM hyperloci.memories m
        WHERE m.state = 'live' AND m.team = asking AND NOT (m.project = ANY (without)) AND m.terms @@ query LIMIT most;
END $$;

ALTER TABLE hyperloci.teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.teams FORCE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.members FORCE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.tokens FORCE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.projects FORCE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.memories FORCE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.revisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE hyperloci.revisions FORCE ROW LEVEL SECURITY;

-- The owner, as whom the functions above run, and nobody else.
CREATE POLICY owner_only ON hyperloci.tokens TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY owner_only ON hyperloci.members TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY owner_adds ON hyperloci.teams FOR INSERT TO CURRENT_USER WITH CHECK (true);
CREATE POLICY owner_erases ON hyperloci.revisions FOR UPDATE TO CURRENT_USER
    USING (team = (SELECT hyperloci.current_team()));

CREATE POLICY owner_searches ON hyperloci.memories FOR SELECT TO CURRENT_USER USING (true);

CREATE POLICY of_team ON hyperloci.teams FOR SELECT USING (team = (SELECT hyperloci.current_team()));
CREATE POLICY of_team ON hyperloci.members FOR SELECT USING (team = (SELECT hyperloci.current_team()));
CREATE POLICY of_team ON hyperloci.projects FOR SELECT USING (team = (SELECT hyperloci.current_team()));
CREATE POLICY of_team ON hyperloci.memories FOR SELECT USING (team = (SELECT hyperloci.current_team()));
CREATE POLICY of_team ON hyperloci.revisions FOR SELECT USING (team = (SELECT hyperloci.current_team()));

-- `current_writer()` is NULL for a reader, and nothing equals or is not NULL then.
CREATE POLICY by_writer ON hyperloci.projects FOR INSERT
    WITH CHECK (team = (SELECT hyperloci.current_team()) AND (SELECT hyperloci.current_writer()) IS NOT NULL);
CREATE POLICY by_writer_update ON hyperloci.projects FOR UPDATE
    USING (team = (SELECT hyperloci.current_team()) AND (SELECT hyperloci.current_writer()) IS NOT NULL);
CREATE POLICY by_writer ON hyperloci.memories FOR INSERT
    WITH CHECK (team = (SELECT hyperloci.current_team()) AND author = (SELECT hyperloci.current_writer()));
CREATE POLICY by_writer_update ON hyperloci.memories FOR UPDATE
    USING (team = (SELECT hyperloci.current_team()) AND (SELECT hyperloci.current_writer()) IS NOT NULL);
CREATE POLICY by_writer ON hyperloci.revisions FOR INSERT
    WITH CHECK (team = (SELECT hyperloci.current_team()) AND editor = (SELECT hyperloci.current_writer()));

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA hyperloci FROM PUBLIC;
GRANT USAGE ON SCHEMA hyperloci TO hyperloci_member;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA hyperloci TO hyperloci_member;
GRANT SELECT ON hyperloci.teams, hyperloci.members, hyperloci.projects, hyperloci.memories, hyperloci.revisions
    TO hyperloci_member;
GRANT INSERT ON hyperloci.projects, hyperloci.memories, hyperloci.revisions TO hyperloci_member;
GRANT UPDATE (change) ON hyperloci.projects TO hyperloci_member;
-- Neither whose memory it is nor which can be changed.
GRANT UPDATE (revision, change, state, type, subtype, agent, title, content, confidence, event_time, valid_from,
    valid_until, supersedes, digest, stored_at, keywords, model, e1) ON hyperloci.memories TO hyperloci_member;
