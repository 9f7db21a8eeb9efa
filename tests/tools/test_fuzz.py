"""Every tool, with arguments that nobody would send."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from bench._fuzz_tools import TOOLS, Call, arguments_of, run_server, target_of
from tests.support import examples

EXAMPLES = 30
"""A tool: enough to meet each argument with several kinds of value, few enough for every run."""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    with run_server(tmp_path_factory.mktemp("fuzz")) as called:
        yield called


@pytest.mark.parametrize("tool", TOOLS)
def test_no_arguments_bring_a_tool_down(call: Call, tool: str) -> None:
    target = target_of(call, tool)

    @given(arguments_of(tool))
    @settings(max_examples=examples(EXAMPLES), suppress_health_check=list(HealthCheck))
    def answers(arguments: dict[str, object]) -> None:
        target(arguments)

    answers()


def test_the_server_still_answers_after_all_of_that(call: Call) -> None:
    assert not call("remember_fact", {"fact": "Still here."}).is_error
    assert not call("memory_stats", {}).is_error
