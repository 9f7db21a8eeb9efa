-- Searches that read nothing but their own team's part of an index, however many teams there are. The indexes of before
-- held all teams together: a condition on the team was met only after their words were gathered, or their graph walked.

DROP INDEX hyperloci.memories_terms;
DROP INDEX hyperloci.memories_bits;
DROP INDEX hyperloci.memories_project;

-- Terms that begin with some of their team's number, so that each team's words are entries of their own.
CREATE FUNCTION hyperloci.mark_terms(team uuid, keywords text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN keywords = '' THEN ''::tsvector ELSE array_to_tsvector(string_to_array(
    left(team::text, 8) || replace(keywords, ' ', ' ' || left(team::text, 8)), ' ')) END;
CREATE INDEX memories_words ON hyperloci.memories USING gin (hyperloci.mark_terms(team, keywords));

-- All that a search by meaning reads of a row before it knows the nearest: a team's bits lie side by side. A team that
-- is too large to read has a graph besides: `WHERE state = 'live' AND team = ...`, made by `hyperloci team upgrade`.
CREATE INDEX memories_near ON hyperloci.memories (team, project) INCLUDE (id, model, bits) WHERE state = 'live';

-- The same question as before; each of its terms is marked here, whatever is in it.
CREATE OR REPLACE FUNCTION hyperloci.find_worded(query tsquery, without text[], most integer) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asking uuid := hyperloci.current_team();
    marked tsquery;
BEGIN
    IF asking IS NULL THEN
        RETURN;
    END IF;
    marked := regexp_replace(query::text, '''((?:[^'']|'''')*)''', '''' || left(asking::text, 8) || '\1''', 'g')::tsquery;
    -- As text, so that no index by the team is read instead, all rows of it.
    RETURN QUERY SELECT m.id FROM hyperloci.memories m
        WHERE hyperloci.mark_terms(m.team, m.keywords) @@ marked
            AND m.state = 'live' AND m.team::text = asking::text AND NOT (m.project = ANY (without)) LIMIT most;
END $$;

REVOKE ALL ON FUNCTION hyperloci.mark_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hyperloci.mark_terms TO hyperloci_member;
