"""E11: the things a memory is about, each under one name whatever it is called there.

Names come from the graph where it has them (`store.entities`), else from rules of spelling. Aliases that every
programmer knows are resolved here; those of a project are the store's.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from hyperloci.spaces.abbreviations import ABBREVIATIONS
from hyperloci.spaces.space import MAX_CHARS
from hyperloci.text.language.dates import date_words, languages
from hyperloci.text.language.fences import mask_code

MAX_NAME_CHARS: Final = 80
"""A longer word is encoded data."""

MAX_NAMES: Final = 16
"""The mean of more says little about each."""

_GROUPS: Final = (
    "Kubernetes: k8s, kube",
    "PostgreSQL: postgres, pg, psql, pgsql, постгрес",
    "JavaScript: js, ecmascript",
    "TypeScript: ts",
    "Python: py, python3, cpython, питон",
    "Golang: go lang, golang",
    "MongoDB: mongo, монга",
    "Elasticsearch: elastic, elastic search",
    "RabbitMQ: rabbit mq, rabbit",
    "SQLite: sqlite3",
    "MySQL: my sql, mariadb",
    "SQL Server: mssql, ms sql",
    "Redis: редис",
    "Docker: докер",
    "GitHub: gh, git hub",
    "GitHub Actions: gha",
    "GitLab: git lab",
    "Amazon Web Services: aws",
    "Google Cloud Platform: gcp, google cloud",
    "Microsoft Azure: azure",
    "Amazon S3: s3, aws s3",
    "Amazon EC2: ec2",
    "Node.js: node, nodejs, node js",
    "React: reactjs, react.js",
    "Vue: vuejs, vue.js",
    "Next.js: nextjs, next js",
    "NumPy: np",
    "pandas: pd",
    "TensorFlow: tf",
    "PyTorch: torch",
    "scikit-learn: sklearn, scikit learn",
    "Hugging Face: huggingface, hf",
    "Visual Studio Code: vs code, vscode",
    "Windows Subsystem for Linux: wsl, wsl2",
    "Terraform: tf cloud, terraform cloud",
    "Apache Kafka: kafka, кафка",
    "Apache Spark: pyspark, spark",
    "Internet Explorer: ie11",
    "macOS: os x, osx, mac os",
    "Ubuntu: ubuntu linux, убунту",
    "Linux: gnu/linux, линукс",
    "Model Context Protocol: mcp",
    "Claude Code: claude-code",
    "Continuous Integration: ci",
    "Cascading Style Sheets: css",
    "Server-Side Rendering: ssr",
    "Single Sign-On: sso",
    "Multi-Factor Authentication: mfa, 2fa, two-factor authentication",
    "JSON Web Token: jwt, json web tokens",
    "Open Authorization: oauth, oauth2, oauth 2.0",
    "Object-Relational Mapping: orm",
    "Language Server Protocol: lsp",
    "Large Language Model: llm, llms, large language models",
    "Representational State Transfer: rest",
    "Remote Procedure Call: rpc",
    "Transport Layer Security: tls, ssl",
    "Domain Name System: dns",
    "Write-Ahead Log: wal, write-ahead logging, wal mode",
    "Regular Expression: regex, regexp, regular expressions",
    "Graphics Processing Unit: gpu, gpus",
    "User Interface: ui",
    "User Experience: ux",
    "Database: db, бд, база данных",
    "Pull Request: pr, prs, pull requests, merge request",
    "Application Programming Interface: api, apis",
    "Command Line Interface: cli, command line, командная строка",
    "Software Development Kit: sdk",
    "Virtual Machine: vm, vms",
    "Infrastructure as Code: iac",
)


def fold(name: str) -> str:
    """Return what two spellings of one name have in common: no case, one kind of space and dash."""
    return " ".join(re.sub(r"[_‐-―]", "-", unicodedata.normalize("NFKC", name)).casefold().split())


def _alias_table() -> dict[str, str]:
    table: dict[str, str] = {}
    for group in (*_GROUPS, *ABBREVIATIONS):
        canonical, _, others = group.partition(": ")
        for alias in (canonical, *others.split(", ")):
            table[fold(alias)] = canonical
    return table


ALIASES: Final[Mapping[str, str]] = MappingProxyType(_alias_table())
"""Canonical name by folded alias."""

_WORDLY: Final = re.compile(r"[\w+#]+(?:[-'./][\w+#]+)*")
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[A-Z][a-z0-9]++[A-Z]|[A-Z]{2}[a-z]")
_ACRONYM: Final = re.compile(r"[A-Z][A-Z0-9]{1,7}s?")
_FILE: Final = re.compile(
    r"[\w./-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|c|h|cpp|cs|rb|php|sql|sh|md|toml|yaml|yml|json)"
)
_QUOTED: Final = re.compile(r"`([^`\n]{2,60})`")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?")
_CAPITAL: Final = re.compile(r"[A-ZА-ЯЁ][\w+#]*[a-zа-яё0-9+#]")
_BEGINS: Final = re.compile(r"(?:^|[.!?:\n]|[-*#>] |\d[.)] )[\s\"'(*_#>-]{0,12}$")
_VERSION: Final = re.compile(r"^v?\d[\d.]*$", re.IGNORECASE)
_PLAIN: Final = frozenset(
    """i i'm i'll i've i'd ok okay yes no todo fixme note warning error true false none null the this that
    these those we you they he she it if when while for from with and or but not a an is are was were as at by in of
    on to do don't use using all any how why what where who which then there here also only
    new old first second next last""".split()  # noqa: SIM905 - a list of literals reads worse
)


@functools.cache
def _plain_words() -> frozenset[str]:
    return _PLAIN.union(*(date_words(language).names for language in languages()))


def in_text(text: str) -> list[str]:
    """Return the canonical names of what a text names, in order, once each."""
    plain = mask_code(text[:MAX_CHARS])
    known = _known(plain)
    taken = {place for start, name in known for place in range(start, start + len(name))}
    spelt = [(start, name) for start, name in _spelt(plain) if start not in taken]
    return canonical(name for _, name in sorted([*_quoted(plain), *known, *spelt], key=lambda found: found[0]))


def canonical(names: Iterable[str]) -> list[str]:
    """Return canonical names without repetition, sixteen at most."""
    found: dict[str, str] = {}
    for name in names:
        known = ALIASES.get(fold(name), name.strip())
        found.setdefault(fold(known), known)
    return list(found.values())[:MAX_NAMES]


def _quoted(text: str) -> list[tuple[int, str]]:
    return [
        (match.start(), match[1].removesuffix("()"))
        for match in _QUOTED.finditer(text)
        if _IDENTIFIER.fullmatch(match[1]) or _FILE.fullmatch(match[1])
    ]


def _known(text: str) -> list[tuple[int, str]]:
    """Return aliases, the longest first: `Git Hub Actions` is not also `Git Hub`."""
    words = [(match.start(), match[0]) for match in _WORDLY.finditer(text[:MAX_CHARS])]
    found: list[tuple[int, str]] = []
    place = 0
    while place < len(words):
        length = next((size for size in (4, 3, 2, 1) if _is_alias(words[place : place + size], size)), 0)
        if length:
            found.append((words[place][0], " ".join(word for _, word in words[place : place + length])))
        place += length or 1
    return found


_AMBIGUOUS: Final = frozenset(
    {"go", "node", "rest", "rabbit", "elastic", "kube", "spark", "pr", "ts", "np", "pd", "tf"}
)
"""Also plain words or variables: only as written by who means the thing (capital or digits), or never in lower case."""


def _is_alias(words: list[tuple[int, str]], size: int) -> bool:
    if len(words) < size:
        return False
    text = " ".join(word for _, word in words)
    return fold(text) in ALIASES and text not in _AMBIGUOUS


def _spelt(text: str) -> list[tuple[int, str]]:
    """Return names that their spelling gives away: `fooBar`, `HTTP`, `a/b.py`, `Acme Corp` within a sentence."""
    found: list[tuple[int, str]] = []
    end, run = -2, ""
    for match in _WORDLY.finditer(text):
        word = match[0].rstrip("'")
        kind = _kind(word, bool(_BEGINS.search(text[max(0, match.start() - 12) : match.start()])))
        if kind == "capital" and run and match.start() == end + 1:
            start, run = found.pop()[0], f"{run} {word}"
            found.append((start, run))
        elif kind:
            found.append((match.start(), word))
            run = word if kind == "capital" else ""
        else:
            run = ""
        end = match.end()
    return found


def _kind(word: str, begins: bool) -> str:
    if not 2 <= len(word) <= MAX_NAME_CHARS or word.lower() in _plain_words() or _VERSION.match(word):
        return ""
    if _FILE.fullmatch(word) or _CAMEL.search(word) or _ACRONYM.fullmatch(word) or "_" in word.strip("_"):
        return "spelt"
    # Every sentence begins with a capital.
    return "capital" if _CAPITAL.fullmatch(word) and not begins else ""
