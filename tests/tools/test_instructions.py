"""What an assistant is told as it connects, by whom it says it is and what hooks are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperloci.conversations.capture.client_names import find_client
from hyperloci_hooks.dialects.wiring import CaptureState
from hyperloci_tools.instructions import TEXTS, InstructionsMiddleware

MODERN = "io.modelcontextprotocol/clientInfo"


class Request:
    """As much of a request as the middleware looks at."""

    def __init__(self, method: str, params: dict[str, Any] | None) -> None:
        self.method = method
        self.params = params


async def ask(home: Path, method: str, params: dict[str, Any] | None) -> Any:
    async def answer(ctx: Any) -> dict[str, Any]:
        return {"instructions": "as they were"}

    middleware = InstructionsMiddleware(home, home / "project")
    return await middleware(Request(method, params), answer)  # type: ignore[arg-type]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("claude-code", CaptureState.WHOLE),
        ("gemini-cli-mcp-client", CaptureState.WHOLE),
        ("github-copilot-developer", CaptureState.NOTHING),
        ("copilot-cli", CaptureState.KEPT),
        ("codex-mcp-client", CaptureState.NOTHING),
        ("Zed", CaptureState.NOTHING),
        ("claude-ai", CaptureState.NOTHING),
    ],
)
async def test_instructions_say_what_is_captured_of_this_client(tmp_path: Path, name: str, state: CaptureState) -> None:
    for file in (".gemini/settings.json", ".copilot/hooks/hyperloci.json", ".codex/hooks.json"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("hyperloci-hook")
    told = await ask(tmp_path, "initialize", {"clientInfo": {"name": name, "version": "1"}})
    assert told == {"instructions": TEXTS[state]}
    told = await ask(tmp_path, "server/discover", {"_meta": {MODERN: {"name": name}}})
    assert told == {"instructions": TEXTS[state]}


@pytest.mark.anyio
@pytest.mark.parametrize("params", [None, {}, {"clientInfo": None}, {"clientInfo": {"name": 5}}, {"_meta": 1}])
async def test_a_client_that_says_no_name_is_told_that_nothing_is_captured(
    tmp_path: Path, params: dict[str, Any] | None
) -> None:
    assert await ask(tmp_path, "initialize", params) == {"instructions": TEXTS[CaptureState.NOTHING]}


@pytest.mark.anyio
async def test_other_answers_pass_as_they_are(tmp_path: Path) -> None:
    assert await ask(tmp_path, "tools/list", {}) == {"instructions": "as they were"}


def test_only_where_hooks_are_at_work_is_an_assistant_told_that_its_prompts_are_captured() -> None:
    assert "captured without you; do not store them" in TEXTS[CaptureState.WHOLE]
    assert "captured without you; do not store them" in TEXTS[CaptureState.KEPT]
    assert "Nothing of this conversation is captured" in TEXTS[CaptureState.NOTHING]


@pytest.mark.parametrize(
    ("told", "client"),
    [
        ("codex-mcp-client", "codex"),
        ("Visual Studio Code - Insiders", "vscode"),
        ("cursor-vscode", "cursor"),
        ("opencode", "opencode"),
        ("claude-ai", None),
        ("", None),
    ],
)
def test_a_client_is_known_by_how_its_name_begins(told: str, client: str | None) -> None:
    assert find_client(told) == client


@pytest.mark.anyio
@pytest.mark.parametrize(("version", "kept"), [("0.170.1", "0.170.1"), (5, None), ("run\nrm", None), ("", None)])
async def test_the_version_that_a_client_tells_is_noted_if_it_is_one(
    tmp_path: Path, version: object, kept: str | None
) -> None:
    middleware = InstructionsMiddleware(tmp_path, tmp_path)
    request = Request("initialize", {"clientInfo": {"name": "codex-mcp-client", "version": version}})

    async def answer(_: Any) -> dict[str, Any]:
        return {"instructions": ""}

    await middleware(request, answer)  # type: ignore[arg-type]
    assert (middleware.client, middleware.client_version) == ("codex", kept)
