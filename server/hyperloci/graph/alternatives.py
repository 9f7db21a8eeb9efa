"""Families of tools and conventions of which one is chosen for a purpose: two of a family exclude each other."""

from __future__ import annotations

from typing import Final

_FAMILIES: Final[dict[str, str]] = {
    "database": "postgres=postgresql=pg|mysql|mariadb|sqlite|oracle|mongodb=mongo|cockroachdb|sql server|dynamodb",
    "cache": "redis|memcached|valkey",
    "message broker": "kafka|rabbitmq|nats|sqs|pulsar|activemq",
    "JavaScript package manager": "npm|yarn|pnpm|bun",
    "Python package manager": "pip|uv|poetry|pipenv|conda|pdm|hatch",
    "Python test runner": "pytest|unittest|nose|nose2",
    "JavaScript test runner": "jest|vitest|mocha|jasmine|ava",
    "browser test tool": "playwright|cypress|selenium|puppeteer",
    "continuous integration": "github actions|gitlab ci|circleci|jenkins|travis ci=travis|buildkite|teamcity|drone",
    "Python formatter": "black|yapf|autopep8|ruff format",
    "Python linter": "flake8|ruff|pylint",
    "type checker": "mypy|pyright|pyre",
    "JavaScript formatter": "prettier|biome|dprint",
    "cloud": "aws|gcp=google cloud|azure|digitalocean|hetzner|heroku|fly.io",
    "Python web framework": "flask|django|fastapi|starlette|bottle|pyramid|tornado",
    "JavaScript server framework": "express|fastify|koa|nestjs|hapi",
    "front-end framework": "react|vue|angular|svelte|solid|preact",
    "CSS framework": "bootstrap|tailwind|bulma|foundation",
    "bundler": "webpack|vite|esbuild|rollup|parcel|turbopack",
    "infrastructure tool": "terraform|pulumi|cloudformation|opentofu",
    "container tool": "docker|podman",
    "orchestrator": "kubernetes=k8s|nomad|docker swarm=swarm",
    "task queue": "celery|rq|dramatiq|huey|sidekiq",
    "error tracker": "sentry|rollbar|bugsnag|honeybadger",
    "indentation": "tabs=tab|spaces=space",
    "API style": "rest|graphql|grpc|soap",
    "naming": "camelcase=camel case|snake_case=snake case|kebab-case=kebab case|pascalcase=pascal case",
    "quotes": "single quotes|double quotes",
    "merge strategy": "merge commits|rebase|squash merge",
    "repository layout": "monorepo|polyrepo",
    "time zone": "utc|local time",
    "editor": "neovim=nvim|vim|emacs|vs code=vscode=visual studio code|zed|sublime text|pycharm|intellij",
    "shell": "bash|zsh|fish|powershell",
    "license": "mit|apache-2.0=apache 2.0|gpl|bsd|mpl|unlicense",
    "HTTP client": "requests|httpx|aiohttp|urllib3",
    "ORM": "sqlalchemy|peewee|tortoise|django orm|prisma|typeorm|drizzle",
    "version control": "git|mercurial|svn=subversion",
    "branch": "main|master|trunk|develop",
    "log level": "debug|info|warning|error|critical",
    "config format": "yaml|toml|json|ini",
    "issue tracker": "jira|linear|github issues|trello|asana",
    "chat": "slack|discord|teams|mattermost",
}
"""Family: members separated by `|`, names of one member by `=`."""

FAMILIES: Final = frozenset(_FAMILIES)

AMBIGUOUS: Final = frozenset(
    {"requests", "error", "info", "rest", "solid", "linear", "teams", "space", "tab", "spaces"}
)
"""Also plain words: a member only where the other statement names one of the same family."""

MEMBERS: Final[dict[str, tuple[str, str]]] = {
    name: (family, member.split("=")[0])
    for family, members in _FAMILIES.items()
    for member in members.split("|")
    for name in member.split("=")
}
"""Name in lower case to its family and the member it stands for."""

FIRST_WORDS: Final = frozenset(name.split()[0] for name in MEMBERS if " " in name)
"""Where a name of several words may begin."""
