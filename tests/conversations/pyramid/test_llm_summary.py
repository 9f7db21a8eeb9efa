"""Summaries by a model: used where they hold, refused where they don't, and then made by rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hyperloci.conversations.pyramid.llm_summary import ModelSummariser
from hyperloci.conversations.pyramid.pyramid_jobs import make_builder
from hyperloci.errors import BadRequestError, NotReadyError
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.pyramid import Digest
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn
from tests.conversations.pyramid.conftest import Talk

SAID = [Turn(uuid="", role=Speaker.USER, text=f"We ship part {n} in 2026.", timestamp_ms=None) for n in range(3)]


class Model:
    """Answers what it was given, and keeps what it was asked."""

    strategy = "llm"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def ask_for_json(self, system: str, user: str) -> Any:
        self.asked.append(user)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.req("B.17", "C.05")
def test_a_models_summary_is_taken_as_it_is() -> None:
    model = Model({"summary": "Parts ship in 2026.", "key_facts": ["Part 2 ships in 2026."], "themes": ["shipping"]})
    digest = ModelSummariser(model)(PyramidLevel.MICRO, SAID, [])
    assert digest == Digest("Parts ship in 2026.", ("Part 2 ships in 2026.",), ("shipping",))
    assert [json.loads(line)["said"] for line in model.asked[0].splitlines()] == [turn.text for turn in SAID]


def test_a_macro_is_asked_for_by_its_minis() -> None:
    model = Model({"summary": "All ships."})
    ModelSummariser(model)(PyramidLevel.MACRO, SAID, [Digest("Part one.", ("a fact",)), Digest("Part two.")])
    assert [json.loads(line)["summary"] for line in model.asked[0].splitlines()] == ["Part one.", "Part two."]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (["not a JSON object"], "not a JSON object"),
        ({}, "summary must be non-empty texts"),
        ({"summary": "  "}, "summary must be non-empty texts"),
        ({"summary": "\u200b"}, "of the model's summary nothing may be stored"),
        ({"summary": 7}, "summary must be non-empty texts"),
        ({"summary": "Parts ship in 2027."}, "numbers that no turn has: 2027"),
        ({"summary": "ok", "key_facts": "one"}, "must be lists"),
        ({"summary": "ok", "key_facts": ["It costs 99 euros."]}, "key_facts have numbers that no turn has: 99"),
        ({"summary": "ok", "themes": [None]}, "themes must be non-empty texts"),
        ({"summary": "word " * 500}, "summary has 500 tokens"),
    ],
)
def test_what_cannot_be_used_is_refused(answer: Any, complaint: str) -> None:
    with pytest.raises(BadRequestError, match=complaint):
        ModelSummariser(Model(answer))(PyramidLevel.MICRO, SAID, [])


@pytest.mark.req("B.17")
@pytest.mark.parametrize("answer", [{"summary": "Year 3000."}, NotReadyError("away")])
def test_the_rules_stand_in_where_the_model_fails(talk: Talk, answer: Any) -> None:
    talk.say(30)
    plain = talk.builder()
    replace(plain, summarise=ModelSummariser(Model(answer))).advance_all()
    node = talk.store.nodes.get_node(talk.chunks(PyramidLevel.MICRO)[0].id)
    assert node is not None and "must be ready" in node.content


def test_without_an_endpoint_the_rules_are_used(talk: Talk) -> None:
    settings = replace(talk.settings, consolidation="llm")
    made = make_builder(MaintenanceContext(store=talk.store, settings=settings, clock=talk.clock))
    assert type(made.summarise) is type(made.fallback)
    named = replace(settings, llm_url="http://localhost:9/v1", llm_model="m")
    assert isinstance(
        make_builder(MaintenanceContext(store=talk.store, settings=named, clock=talk.clock)).summarise, ModelSummariser
    )
