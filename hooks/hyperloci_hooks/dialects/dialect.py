"""Dialect: one client's table of hooks.

A hook loads this before it has sent its event, so it is a plain class, and Python 3.7 can read it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CLAUDE_CODE = "claude-code"
"""The client whose names of events and fields are ours."""

CLIENT_VARIABLE = "HYPERLOCI_HOOK_CLIENT"
"""In the environment that a hook hands on: the client whose dialect its command was installed for."""

NAMES = ("codex", "gemini", "opencode", "cursor", "copilot", "vscode")
"""Clients that have a table; any other speaks Claude Code's dialect."""

SPECIFIC, FLAT, SILENT = "specific", "flat", "silent"
"""Forms of an answer: Claude Code's `hookSpecificOutput`, Cursor's `additional_context`, or none that is read."""


class Dialect:
    """One client's events, fields and answers.

    Attributes:
        name: of the client, as sessions keep it.
        title: of the client, for people.
        version: the version that the table was read from, or tested with.
        events: the client's name of each event that is handled, with ours.
        fields: our name of a field, with the client's names for it; the first that has a value counts. A field that
            is not here has our name.
        form: how an answer is laid out.
        context_events: our names of the events whose answers may bring context.
        empty_answers: what an event needs for an answer where it is not `{}`, as JSON, by the client's name.
        preface: what context begins with.
        tells_user: whether a notice to the user is shown.
        sources: the wirings that the client may run, first the one that counts: the client whose dialect it speaks,
            and the file, from the home (`~/`) or the project.
        signs: fields that only this client sends.
        variables: environment variables that only this client gives its hooks.
        rules_file: a file of the project that it reads by itself, for what a session's start brings; '' where
            answers do.
    """

    __slots__ = (
        "context_events",
        "empty_answers",
        "events",
        "fields",
        "form",
        "name",
        "preface",
        "rules_file",
        "signs",
        "sources",
        "tells_user",
        "title",
        "variables",
        "version",
    )

    def __init__(
        self,
        *,
        name: str,
        title: str,
        version: str,
        events: Mapping[str, str],
        fields: Mapping[str, tuple[str, ...]] | None = None,
        form: str = SPECIFIC,
        context_events: tuple[str, ...] = ("SessionStart", "UserPromptSubmit"),
        empty_answers: Mapping[str, str] | None = None,
        preface: str = "",
        tells_user: bool = True,
        sources: tuple[tuple[str, str], ...] = (),
        signs: tuple[str, ...] = (),
        variables: tuple[str, ...] = (),
        rules_file: str = "",
    ) -> None:
        self.name = name
        self.title = title
        self.version = version
        self.events = events
        self.fields = fields or {}
        self.form = form
        self.context_events = context_events
        self.empty_answers = empty_answers or {}
        self.preface = preface
        self.tells_user = tells_user
        self.sources = sources
        self.signs = signs
        self.variables = variables
        self.rules_file = rules_file

    def name_event(self, event: str) -> str:
        """Return the client's name of one of our events; the same name where it has none."""
        return next((theirs for theirs, ours in self.events.items() if ours == event), event)


def load_dialect(name: str) -> Dialect | None:
    """Return a client's table; None for Claude Code and for a client that has none."""
    if name not in NAMES:
        return None
    found: Dialect = __import__(f"hyperloci_hooks.dialects.{name}", fromlist=["DIALECT"]).DIALECT
    return found
