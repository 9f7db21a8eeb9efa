"""Telling a memory's facets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.facets import MAX_TAGS, classify_chunk_facets, classify_facets
from hyperloci.model.chunk import ChunkKind, CodeFacts, TextChunk
from hyperloci.model.facets import ConfidenceLevel, Diataxis, Facets, Persona, SourceType
from hyperloci.model.kinds import Origin
from hyperloci.model.position import Position
from hyperloci.text.chunking.section_types import SectionType
from tests.support import examples


def docs(text: str, section_type: str | None = None) -> Facets:
    return classify_facets(text, Origin.MARKDOWN, section_type=section_type)


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("In this lesson you will learn, step by step, to write a plugin.", Diataxis.TUTORIAL),
        ("How to rotate the keys: run the following in order to do so.", Diataxis.HOWTO),
        ("Parameters: `name`; returns a text; raises ValueError. Default: none.", Diataxis.REFERENCE),
        ("Why we chose this architecture: the rationale and its trade-off.", Diataxis.EXPLANATION),
        ("The cat sat there.", None),
    ],
)
def test_what_a_text_is_for_shows_in_its_words(text: str, kind: Diataxis | None) -> None:
    assert docs(text).diataxis == kind


@pytest.mark.req("D.07")
def test_the_type_of_its_section_settles_it() -> None:
    assert docs("Why we chose this architecture.", section_type="api").diataxis == Diataxis.REFERENCE


@pytest.mark.req("D.07")
def test_of_an_faq_each_question_says_what_its_answer_is() -> None:
    asks_how = docs("#### How do I add a header to every request? Use a hook.", section_type="faq")
    asks_what = docs("#### How is it different from got? It is smaller.", section_type="faq")
    assert (asks_how.diataxis, asks_what.diataxis) == (Diataxis.HOWTO, None)


@pytest.mark.req("D.07")
def test_whom_it_speaks_to() -> None:
    assert docs("An introduction for beginners who are new to it.").persona == Persona.NOVICE
    assert docs("Internals and advanced tuning of performance.").persona == Persona.EXPERT


@pytest.mark.req("D.07")
def test_how_sure_it_is_follows_from_who_stored_it_and_from_its_words() -> None:
    assert classify_facets("The limit is 5.", Origin.TOOL, confidence=0.95).confidence_level == ConfidenceLevel.HIGH
    assert classify_facets("The limit is 5.", Origin.TOOL, confidence=0.7).confidence_level == ConfidenceLevel.MODERATE
    assert classify_facets("The limit is 5.", Origin.TOOL, confidence=0.3).confidence_level == ConfidenceLevel.UNCERTAIN
    assert classify_facets("Maybe the limit is 5, I think.", Origin.TOOL).confidence_level == ConfidenceLevel.LOW


@pytest.mark.req("D.07")
def test_what_may_soon_change_is_marked() -> None:
    assert docs("We currently pin version 2 until the fix lands.").time_sensitive
    assert not docs("Water is wet.").time_sensitive


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("origin", "source", "authority"),
    [
        (Origin.CODE, SourceType.CODE, 1.0),
        (Origin.MARKDOWN, SourceType.DOCS, 0.9),
        (Origin.COMMIT, SourceType.COMMIT, 0.8),
        (Origin.TOOL, SourceType.FACT, 0.9),
        (Origin.USER_PROMPT, SourceType.CONVERSATION, 1.0),
        (Origin.CLAUDE_RESPONSE, SourceType.CONVERSATION, 0.7),
        (Origin.IMPORT, SourceType.EXTERNAL, 0.5),
    ],
)
def test_source_and_authority_follow_the_channel(origin: Origin, source: SourceType, authority: float) -> None:
    found = classify_facets("x", origin)
    assert (found.source_type, found.authority) == (source, authority)


@pytest.mark.req("D.07")
def test_code_is_told_by_its_place_and_its_names() -> None:
    chunk = TextChunk(
        text="def f(): pass",
        kind=ChunkKind.CODE,
        position=Position(path="tests/test_auth.py", symbol="test_login"),
        code=CodeFacts(kind="function", name="test_login"),
    )
    found = classify_chunk_facets(chunk)
    assert found.source_type == SourceType.CODE and found.domain_tags == ("security", "testing")


def test_a_test_is_known_by_the_words_of_its_language() -> None:
    spec = TextChunk(
        text="it { is_expected.to be }",
        kind=ChunkKind.CODE,
        position=Position(path="spec/runner_spec.rb"),
        code=CodeFacts(kind="block"),
    )
    assert classify_chunk_facets(spec).domain_tags == ("testing",)


@settings(max_examples=examples(60))
@given(st.text(max_size=400), st.sampled_from(list(Origin)))
def test_any_text_has_facets_with_few_sorted_tags(text: str, origin: Origin) -> None:
    tags = classify_facets(text, origin).domain_tags
    assert list(tags) == sorted(set(tags)) and len(tags) <= MAX_TAGS


@pytest.mark.req("D.07")
@pytest.mark.parametrize("path", ["src/models.py", "httpx/_models.py", "src/query.py", "docs/index.py"])
def test_a_word_that_means_other_things_as_often_tells_nothing_alone(path: str) -> None:
    chunk = TextChunk(text="x", kind=ChunkKind.CODE, position=Position(path=path), code=CodeFacts(kind="module"))
    assert classify_chunk_facets(chunk).domain_tags == ()
    assert "ml" in docs("The model needs more training on the GPU.").domain_tags


@pytest.mark.req("D.07")
def test_that_a_document_stands_among_the_documents_says_nothing() -> None:
    for path in ("documentation/cache.md", "pkg/documentation/cache.md"):
        chunk = TextChunk(text="It is kept.", kind=ChunkKind.MARKDOWN, position=Position(path=path))
        assert classify_chunk_facets(chunk).domain_tags == ("performance",)


@pytest.mark.req("D.07")
def test_where_a_link_leads_says_nothing() -> None:
    link = "See [the list](https://example.org/api/security/docs/blob/master/README.md) and https://example.org/git."
    assert docs(link).domain_tags == ()


@pytest.mark.req("D.07")
def test_what_nobody_stated_and_no_word_tells_is_open() -> None:
    assert docs("The gateway listens on a port.").confidence_level is None
    assert docs("It must be set; this is guaranteed.").confidence_level == ConfidenceLevel.HIGH
    assert docs("Maybe it works, I guess.").confidence_level == ConfidenceLevel.LOW
    assert docs("You might want to set it.").confidence_level is None


@pytest.mark.req("D.07")
def test_a_changelog_is_for_nobody_in_particular() -> None:
    found = docs("Fixed: a comparison of benchmarks; see how to install it.", section_type="changelog")
    assert (found.diataxis, found.persona) == (None, None)


@pytest.mark.req("D.07")
@pytest.mark.parametrize("name", ["CHANGELOG.md", "docs/release-notes.md", "HISTORY.md"])
def test_a_file_of_changes_is_told_by_its_name_whatever_its_headings_say(name: str) -> None:
    found = classify_chunk_facets(page(name, "# v1.7.0\n\nHow to: possible values; a comparison, compared to others."))
    assert (found.diataxis, found.persona, found.section_type) == (None, None, "changelog")


@pytest.mark.req("D.07")
def test_the_folder_of_a_page_tells_what_it_is_for_where_its_section_does_not() -> None:
    assert (
        classify_chunk_facets(page("docs/tutorial/first.md", "The default value is 3.")).diataxis == Diataxis.TUTORIAL
    )
    assert classify_chunk_facets(page("docs/how-to/rotate.md", "Keys.")).diataxis == Diataxis.HOWTO
    within = page("docs/tutorial/first.md", "Keys.", section_type="api")
    assert classify_chunk_facets(within).diataxis == Diataxis.REFERENCE
    assert classify_chunk_facets(page("docs/first.md", "Keys.")).diataxis is None


@pytest.mark.req("D.07")
def test_code_between_fences_tells_nothing_of_a_page() -> None:
    fenced = "It runs.\n\n```sh\nset-up # how to: possible values; pytest\n```\n"
    assert (docs(fenced).diataxis, docs(fenced).domain_tags) == (None, ())


@pytest.mark.req("D.07")
def test_two_forms_of_a_weak_cue_are_one() -> None:
    assert docs("One branch of many branches.").domain_tags == ()
    assert docs("A commit to a branch.").domain_tags == ("git",)
    assert docs("One setting of the settings.").domain_tags == ("config",)
    assert docs("One query of many queries.").domain_tags == ()
    assert docs("A retry of all retries.").domain_tags == ()


@pytest.mark.req("D.07")
def test_whom_a_text_speaks_to_takes_more_than_one_cue() -> None:
    assert docs("Encourage a newcomer to send a patch.").persona is None
    assert docs("Getting started, for beginners.").persona == Persona.NOVICE


@pytest.mark.req("D.07")
def test_the_branches_that_a_merge_names_say_nothing_of_it() -> None:
    merge = "Merge branch 'master' into feat/sql-cache\n\nThe CLI reads two files."
    assert classify_facets(merge, Origin.COMMIT).domain_tags == ("cli",)
    assert classify_facets("Fix the rebase of two branches", Origin.COMMIT).domain_tags == ("git",)


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("titles", "purpose"),
    [
        (("Options",), Diataxis.REFERENCE),
        (("Status of the API",), None),
        (("Callbacks", "Use a background thread"), None),
        (("The plugins", "How to write one of your own"), Diataxis.HOWTO),
        (("Cookbook", "Returning references"), Diataxis.HOWTO),
        (("How to contribute to it", "Scope"), None),
        (("Architecture",), Diataxis.EXPLANATION),
        (("Architecture", "Build system"), None),
        (("Change log for it", "Version 1.5", "API"), None),
    ],
)
def test_a_title_tells_what_a_piece_is_for_where_the_whole_of_it_says_so(
    titles: tuple[str, ...], purpose: Diataxis | None
) -> None:
    chunk = TextChunk(
        text="It is kept.",
        kind=ChunkKind.MARKDOWN,
        position=Position(path="a.md", section_path=titles),
        section_type=SectionType.API.value,
    )
    assert classify_chunk_facets(chunk).diataxis == purpose


@pytest.mark.req("D.07")
def test_what_a_text_mentions_in_passing_is_not_what_it_is_for() -> None:
    aside = "# Filters\n\nThey are applied in order. See the walkthrough for more."
    assert docs(aside).diataxis is None
    assert docs(aside.replace("Filters", "Walkthrough")).diataxis == Diataxis.TUTORIAL
    newcomers = "# Samples\n\nGetting started is easy for newcomers and beginners."
    assert docs(newcomers).persona is None
    assert docs(newcomers.replace("Samples", "Getting started")).persona == Persona.NOVICE


@pytest.mark.req("D.07")
def test_one_doubt_in_a_page_or_a_commit_does_not_make_it_unsure() -> None:
    assert docs("[rxMaybe] returns a `Maybe` that is cold.").confidence_level is None
    assert classify_facets("Drop the cache: its use is unclear", Origin.COMMIT).confidence_level is None
    assert classify_facets("The limit is probably 5.", Origin.TOOL).confidence_level == ConfidenceLevel.LOW


@pytest.mark.req("D.07")
def test_what_is_so_while_something_runs_will_not_change_soon() -> None:
    for text in (
        "It names the currently\nrunning test.",
        "A temporary file is made.",
        "It fires as soon as it is set.",
    ):
        assert not docs(text).time_sensitive
    assert docs("This is currently only supported on Linux.").time_sensitive


@pytest.mark.req("D.07")
def test_what_a_commit_says_is_so_at_the_moment_it_ends() -> None:
    assert not classify_facets("Make it lazy\n\nCurrently every call loads it.", Origin.COMMIT).time_sensitive
    assert classify_facets("Disable the check for now", Origin.COMMIT).time_sensitive


@pytest.mark.req("D.07")
def test_a_page_that_leads_to_the_documentation_is_not_about_it() -> None:
    assert docs("# Streams\n\nSee its documentation.").domain_tags == ()
    assert docs("# Documentation\n\nIt is written in Markdown.").domain_tags == ("docs",)
    assert classify_facets("Fix the documentation of conflate", Origin.COMMIT).domain_tags == ("docs",)
    assert classify_chunk_facets(page("README.md", "It has a changelog.")).domain_tags == ()


def page(path: str, text: str, section_type: str | None = None) -> TextChunk:
    return TextChunk(text=text, kind=ChunkKind.MARKDOWN, position=Position(path=path), section_type=section_type)
