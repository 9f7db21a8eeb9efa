"""What a section is for, read from its title (D.04)."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Final


class SectionType(StrEnum):
    """What a section is for (D.04)."""

    OVERVIEW = "overview"
    TUTORIAL = "tutorial"
    HOWTO = "howto"
    REFERENCE = "reference"
    EXPLANATION = "explanation"
    INTRODUCTION = "introduction"
    INSTALLATION = "installation"
    QUICKSTART = "quickstart"
    CONFIGURATION = "configuration"
    API = "api"
    EXAMPLES = "examples"
    TROUBLESHOOTING = "troubleshooting"
    FAQ = "faq"
    LIMITATIONS = "limitations"
    CHANGELOG = "changelog"
    UNKNOWN = "unknown"


MAX_LABEL_WORDS = 5
"""A title of more words is a sentence: a telling word inside it ("one history of all changes") is its subject."""

_TYPE_RULES: Final[tuple[tuple[SectionType, str], ...]] = (
    (SectionType.FAQ, r"faq|frequently asked|вопрос\w* и ответ|частые вопросы"),
    (
        SectionType.TROUBLESHOOTING,
        r"troubleshoot\w*|debugging|common (?:issues|problems|errors)|решение проблем|отладка",
    ),
    (
        SectionType.LIMITATIONS,
        r"limit(?:s|ations?)?|caveats?|known (?:issues|bugs)|restrictions?|non-goals?|ограничени\w*",
    ),
    (SectionType.CHANGELOG, r"change ?log|changes|history|release notes|what'?s new|releases?|история изменений"),
    (SectionType.QUICKSTART, r"quick ?-?start|getting started|get started|быстрый старт|начало работы"),
    (SectionType.INSTALLATION, r"install(?:ing|ation)?|set ?up|requirements|prerequisites|установка|требования"),
    (SectionType.CONFIGURATION, r"config(?:ur\w+)?|settings?|options?|environment variables|настройк\w+|параметры"),
    (SectionType.TUTORIAL, r"tutorials?|walk-?through|step by step|учебник|пошагов\w+"),
    (SectionType.EXAMPLES, r"examples?|usage|demos?|sample(?:s| code)?|recipes?|пример\w*|использование"),
    (SectionType.HOWTO, r"how[ -]to\b.*|how do i\b.*|guides?|cookbook|как\b.*|руководств\w+"),
    (SectionType.API, r"apis?|endpoints?|^(?:methods|functions|classes)\W*$"),
    (SectionType.REFERENCE, r"reference|specifications?|schema|glossary|commands|flags|справ\w+|спецификаци\w+"),
    (SectionType.INTRODUCTION, r"introduction|intro|введение"),
    (SectionType.OVERVIEW, r"overview|about|summary|abstract|features|what is\b.*|обзор|о проекте|возможности"),
    (
        SectionType.EXPLANATION,
        r"why\b.*|background|rationale|motivation|concepts?|architecture|design|internals|how it works|почему\b.*|"
        r"архитектура",
    ),
)
"""Words of a title, the telling ones first: "API examples" shows examples, "How to install" is about installing."""


def infer_section_type(title: str, inherited: SectionType = SectionType.UNKNOWN) -> SectionType:
    """Return what a title says its section is for, else `inherited`. A long title must begin with the telling word."""
    is_label = len(title.split()) <= MAX_LABEL_WORDS
    for kind, pattern in _type_patterns():
        if pattern.search(title) if is_label else pattern.match(title):
            return kind
    return inherited


@cache
def _type_patterns() -> tuple[tuple[SectionType, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)) for kind, words in _TYPE_RULES)
