"""Command secrets: finds passwords on command lines, by tables of each command's options and arguments.

Options that mean the same everywhere (`--password`) are in `contexts.py`. Here are those that mean a password to one
command and a port to another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.secrets.value_checks import SecretCandidate, SecretJudgement, is_secret

MAX_LINE: Final = 600
"""Characters of a command line, with its continuation lines, that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRule:
    """Where one family of commands takes a secret.

    Attributes:
        commands: how the commands begin, in lower case.
        options: options whose next word is a secret.
        glued: options whose value follows in the same word.
        pairs: options whose next word is `user<mark>secret`.
        argument: which word that is no option is a secret, from 1 for the first behind the command; 0 for none.
        judge: decides on the value; the strict one for commands whose name is a word of every day.
    """

    commands: tuple[str, ...]
    options: tuple[str, ...] = ()
    glued: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    argument: int = 0
    judge: SecretJudgement = SecretJudgement.ARGUMENT


COMMANDS: Final = (
    CommandRule(commands=("mysql", "mariadb"), glued=("-p",)),
    CommandRule(commands=("mongo", "cqlsh", "twine upload", "docker login", "podman login", "nerdctl login",
                          "buildah login", "skopeo login", "helm registry login", "oc login", "evil-winrm", "psexec",
                          "ncftp", "rabbitmqadmin", "security unlock-keychain", "keepassxc-cli", "arangosh", "neo4j",
                          "cypher-shell", "impacket", "wsk", "cf login", "couchbase-cli", "nsqadmin"), options=("-p",)),
    CommandRule(commands=("sshpass",), options=("-p",), glued=("-p",)),
    CommandRule(commands=("sqlcmd", "bcp", "ipmitool", "mosquitto_", "p4", "unzip", "zip", "isql", "osql"),
                options=("-P",), glued=("-P",)),
    CommandRule(commands=("7z", "7za", "7zr", "rar", "unrar", "arj"), glued=("-p", "-hp")),
    CommandRule(commands=("openssl",), options=("-k", "-K", "-pass", "-passin", "-passout", "-password", "-kfile")),
    CommandRule(commands=("redis-cli",), options=("-a", "--pass")),
    CommandRule(commands=("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"),
                options=("-w", "-s"), glued=("-w",)),
    CommandRule(commands=("ssh-keygen",), options=("-N", "-P")),
    CommandRule(commands=("az login", "az ad"), options=("-p",)),
    CommandRule(commands=("az keyvault secret set", "az webapp config"), options=("--value",)),
    CommandRule(commands=("aws ssm put-parameter",), options=("--value",)),
    CommandRule(commands=("aws secretsmanager",), options=("--secret-string",)),
    CommandRule(commands=("gh secret set", "glab variable set"), options=("--body", "-b", "--value")),
    CommandRule(commands=("plink", "pscp", "psftp"), options=("-pw",)),
    CommandRule(commands=("snmpwalk", "snmpget", "snmpset"), options=("-A", "-X")),
    CommandRule(commands=("xfreerdp", "wfreerdp", "mstsc", "cmdkey", "net use"), glued=("/p:", "/pass:")),
    CommandRule(commands=("schtasks", "sc config"), options=("/rp", "/p")),
    CommandRule(commands=("smbclient", "rpcclient", "smbmap", "net rpc"), pairs=("-U",)),
    CommandRule(commands=("lftp", "open -u"), pairs=("-u",)),
    CommandRule(commands=("curl",), pairs=("-u", "-U", "--user", "--proxy-user")),
    CommandRule(commands=("http", "https", "xh"), pairs=("-a", "--auth")),
    CommandRule(commands=("ab ",), pairs=("-A", "-P")),
    CommandRule(commands=("nikto",), pairs=("-id",)),
    CommandRule(commands=("sqlmap", "java -jar", "locust", "etcdctl"), pairs=("--auth-cred", "-auth", "--user")),
    CommandRule(commands=("security add-",), options=("-w",)),
    CommandRule(commands=("htpasswd",), argument=3),
    CommandRule(commands=("htpasswd -n",), argument=2),
    CommandRule(commands=("rabbitmqctl add_user", "rabbitmqctl change_password", "wpa_passphrase", "net user",
                          "ejabberdctl register", "poetry config http-basic"), argument=2),
    CommandRule(commands=("poetry config pypi-token", "vault login", "vault operator unseal", "cargo login",
                          "bw unlock", "ngrok authtoken", "ngrok config add-authtoken", "cloudflared service install",
                          "op signin", "ansible-vault encrypt_string", "keyring set", "aws configure set"),
                argument=1),
    CommandRule(commands=("poetry config http-basic.",), argument=3),
    CommandRule(commands=("poetry config pypi-token.",), argument=2),
    CommandRule(commands=("mc alias set", "mc config host add"), argument=4),
    CommandRule(commands=("mc alias set", "mc config host add"), argument=3),
    CommandRule(commands=("nuget push", "gem push"), options=("-k", "--key", "--api-key", "-ApiKey")),
    CommandRule(commands=("net use",), argument=3, judge=SecretJudgement.LOOSE_PASSWORD),
    CommandRule(commands=("net use",), argument=2, judge=SecretJudgement.LOOSE_PASSWORD),
    CommandRule(
        commands=("snmp-server community", "identify", "Identify"), argument=1, judge=SecretJudgement.LOOSE_PASSWORD
    ),
    CommandRule(commands=("user ", "LOGIN "), argument=2, judge=SecretJudgement.LOOSE_PASSWORD),
    CommandRule(commands=("AUTH default", "AUTH ", "PASS ", "IDENTIFY ", "AUTH PLAIN "), argument=1,
                judge=SecretJudgement.LOOSE_PASSWORD),
)  # fmt: skip
"""What is known of commands; where two rows name a command, both look."""


@cache
def _stdin_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?:echo|printf)(?:[ \t]+-[neE]{1,3})?(?:[ \t]+[\"']%s[\"'])?[ \t]+(?P<value>\"[^\"\n]{4,256}\""
        r"|'[^'\n]{4,256}'"
        r"|[^\s|\"']{4,256})[ \t]*"
        r"(?:>{1,2}[ \t]*\S{0,80}(?:pass|secret|token|cred|key)|\|[^\n]{0,60}?(?:--?password-stdin"
        r"|passwd[ \t]+--stdin|kinit|sudo[ \t]+-S"
        r"|chpasswd|secret|passwd"
        r"|cryptsetup|luksOpen|gpg[^\n]{0,40}passphrase-fd|login))",
        re.IGNORECASE,
    )


@cache
def _here_string_pattern() -> re.Pattern[str]:
    return re.compile(r"<<<[ \t]*(?:\"(?P<a>[^\"\n]{4,256})\"|'(?P<b>[^'\n]{4,256})'|(?P<c>[^\s\"']{4,256}))")


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(r"(?:\"(?>(?:[^\"\\\n]++|\\.)*)\"|'[^'\n]*+'|\\[^\n]|[^\s\"'\\]|[\"'](?=\S))+")


@cache
def _end_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<!\\)\n|[ \t][|;]|[;|](?=[ \t\n])|&&")


@cache
def _pair_pattern() -> re.Pattern[str]:
    return re.compile(r"[^\s:%,\"']{1,64}[:%,](?P<value>.{4,256})\Z", re.DOTALL)


_Span = tuple[int, int]


def find_command_secrets(text: str, lowered: str) -> Iterator[_Span]:
    """Yield start and end of what commands in `text` are given as a password."""
    for start, line in _find_lines_with_options(text):
        for name, rules in _rules_with_options().items():
            if name in line:
                yield from _find_spans_of_command(text, start, start + len(line), name, rules)
    for root, names in _rules_with_arguments().items():
        if root in lowered:
            for name, rules in names.items():
                yield from _find_spans_of_command(text, 0, len(text), name, rules)
    if "echo " in text or "printf " in text:
        for match in _stdin_pattern().finditer(text):
            start, end = _strip_quotes(text, *match.span("value"))
            if _is_secret(text, start, end):
                yield start, end
    if "<<<" in text:
        for match in _here_string_pattern().finditer(text):
            start, end = match.span(match.lastgroup or "c")
            if _is_secret(text, start, end, SecretJudgement.LOOSE_PASSWORD):
                yield start, end


def _find_lines_with_options(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold an option of the table, with where they start; what is continued is one line."""
    done = 0
    options, heads = _all_options(), _heads_of_options()
    for mark in _OPTION_MARKS:
        at = text.find(mark)
        while at >= 0:
            if at >= done and text[at + 1 : at + 3] in heads and text.startswith(options, at + 1):
                start = _find_line_start(text, at)
                end = _find_line_end(text, at)
                yield start, text[start:end]
                done = end
            at = text.find(mark, at + 1)
        done = 0


def _find_line_start(text: str, at: int) -> int:
    first = max(0, at - MAX_LINE)
    start = text.rfind("\n", first, at)
    while start > first and text[start - 1] == "\\":
        start = text.rfind("\n", first, start - 1)
    return max(first, start + 1)


def _find_line_end(text: str, at: int) -> int:
    last = min(len(text), at + MAX_LINE)
    end = text.find("\n", at, last)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1, last)
    return last if end < 0 else end


def _find_spans_of_command(text: str, start: int, end: int, name: str, rules: list[CommandRule]) -> Iterator[_Span]:
    at = text.find(name, start, end)
    while at >= 0:
        if not text[at - 1 : at].isalnum() and text[at - 1 : at] not in ("-", "_", ".", "@"):
            line_end = _end_pattern().search(text, at + len(name), at + len(name) + MAX_LINE)
            stop = line_end.start() if line_end else at + len(name) + MAX_LINE
            yield from _find_spans_in_line(text, at + len(name), stop, rules)
            at = max(at, stop - len(name))  # the same command once more on its own line is an argument of it
        at = text.find(name, at + len(name), end)


_OPTION_MARKS: Final = (" -", '"-', " /")


@cache
def _all_options() -> tuple[str, ...]:
    return tuple({option for rule in COMMANDS for option in (*rule.options, *rule.glued, *rule.pairs)})


@cache
def _heads_of_options() -> frozenset[str]:
    """Return how the options begin: a look at two characters spares most dashes the comparison with all of them."""
    return frozenset(option[:2] for option in _all_options())


@cache
def _rules_with_options() -> dict[str, list[CommandRule]]:
    return _group_by_command(rule for rule in COMMANDS if not rule.argument)


@cache
def _rules_with_arguments() -> dict[str, dict[str, list[CommandRule]]]:
    """Return the rules of arguments by command, and the commands by a literal that each has."""
    names: dict[str, dict[str, list[CommandRule]]] = {}
    for name, rules in _group_by_command(rule for rule in COMMANDS if rule.argument).items():
        names.setdefault(next((root for root in _ROOTS if root in name.lower()), name.lower()), {})[name] = rules
    return names


_ROOTS: Final = ("login", "auth", "pass", "user", "config", "vault", "mc ")


def _group_by_command(chosen: Iterable[CommandRule]) -> dict[str, list[CommandRule]]:
    rules: dict[str, list[CommandRule]] = {}
    for rule in chosen:
        for command in rule.commands:
            rules.setdefault(command, []).append(rule)
    return rules


def _find_spans_in_line(text: str, start: int, stop: int, rules: list[CommandRule]) -> Iterator[_Span]:
    if text[start : start + 1] in ('"', "'"):  # a list of words: `["redis-cli", "-a", "secret"]`
        start += 2
    words = [match.span() for match in _word_pattern().finditer(text, start, stop)]
    if (
        words and words[0][0] == start and text[start - 1] not in " ,"
    ):  # the rest of the command's name: `mongosh`, `mysqldump`
        words = words[1:] if not text.startswith("-", start) else words
    for rule in rules:
        for begin, end in _find_spans_of_rule(text, words, rule):
            begin, end = _strip_quotes(text, begin, end)
            if text.startswith("pass:", begin):
                begin += len("pass:")
            if _is_secret(text, begin, end, rule.judge):
                yield begin, end


def _find_spans_of_rule(text: str, words: list[_Span], rule: CommandRule) -> Iterator[_Span]:
    arguments = 0
    for place, (begin, end) in enumerate(words):
        word = text[begin:end].strip("\"',[]")
        following = words[place + 1] if place + 1 < len(words) else None
        if word in rule.options and following:
            yield following
        elif word in rule.pairs or (word[:2] in rule.pairs and len(word) > 2):
            yield from _split_user_pair(text, following if word in rule.pairs else (begin + 2, end))
        elif option := next((option for option in rule.pairs if word.startswith(option + "=")), None):
            yield from _split_user_pair(text, (begin + len(option) + 1, end))
        elif option := next(
            (option for option in rule.glued if word.startswith(option) and len(word) > len(option)), None
        ):
            yield begin + len(option), end
        elif not word.startswith("-"):
            arguments += 1
            if arguments == rule.argument:
                yield begin, end


def _split_user_pair(text: str, span: _Span | None) -> Iterator[_Span]:
    if span:
        begin, end = _strip_quotes(text, *span)
        if match := _pair_pattern().match(text[begin:end]):
            yield begin + match.start("value"), end


def _strip_quotes(text: str, begin: int, end: int) -> _Span:
    while end > begin and text[end - 1] in "\"',]":
        end -= 1
    while begin < end and text[begin] in "\"'":
        begin += 1
    return begin, end


def _is_secret(text: str, begin: int, end: int, kind: SecretJudgement = SecretJudgement.ARGUMENT) -> bool:
    return is_secret(kind, SecretCandidate(value=text[begin:end], quoted=True))
