"""Prompt injection: flags texts that may carry instructions to the assistant that reads them.

A flag deletes nothing and forbids nothing. It is stored and shown with the memory, so that a reader knows to treat the
text as a quotation. Security documentation that quotes such texts is flagged too.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import cache
from typing import Final

from hyperloci.system.late_patterns import compile_late
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.cleaning import clean_text
from hyperloci.text.sanitize.injection_score import find_steering_features
from hyperloci.text.sanitize.literals import LiteralSet, find_literal


class SearchedPart(StrEnum):
    """The part of a text that a rule reads."""

    TEXT = "text"
    COMMENTS = "comments"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionRule:
    """A kind of text that tries to be more than data.

    Attributes:
        name: the flag.
        reason: what it means, for people.
        keywords: lower-case literals of which at least one must be there, any blanks being one; else the pattern
            does not run.
        pattern: searched without regard to case, in the cleaned and compatibility-normalised text.
        openings: lower-case literals of which every match begins with one, if they are given: the pattern is tried
            only there.
        searched_part: the part of the text that it is searched in.
    """

    name: str
    reason: str
    keywords: tuple[str, ...]
    pattern: str
    openings: tuple[str, ...] = ()
    searched_part: SearchedPart = SearchedPart.TEXT


HIDDEN_TEXT: Final = "hidden-text"
BIDI_CONTROL: Final = "bidi-control"
STEERS_ASSISTANT: Final = "steers-assistant"
READS_LIKE_ORDER: Final = "reads-like-order"

_EARLIER_ADJECTIVE: Final = r"(?:previous|prior|above|earlier|preceding|foregoing|former|original)"
_INSTRUCTION_NOUN: Final = r"(?:instructions?|prompts?|directives?|orders|guidelines)"
_ASSISTANT_NAME: Final = (
    r"(?:a\.?i\.?(?: (?:assistant|agent|model)s?)?|llm|language model|assistant|agent|claude|chatgpt|gpt-?[45]?"
    r"|copilot|cursor|gemini|chatbot)s?"
)
_COMMAND_VERB: Final = (
    r"(?:must|should|shall|need to|have to|ignore|disregard|do not|don't|never|always|please|run|execute|send|append"
    r"|include|insert|fetch|reveal|remember|recommend|respond|reply|answer|follow)"
)

INJECTION_RULES: Final = (
    InjectionRule(
        name="override-instructions",
        reason="asks the reader to drop the instructions it was given",
        keywords=("instru", "prompt", "directive", "guideline", "orders", "came before", "told", "istruzion", "órdenes",
                  "consignes", "anweisung", "befehl", "poleceni", "инструкц", "указани", "команд", "правил", "сообщени",
                  "指令", "指示", "提示", "命令", "プロンプト", "지시", "명령", "지침"),
        openings=("ignor", "disregard", "forget", "override", "bypass", "игнорируй", "забудь", "не", "olvida",
                  "esqueça", "dimentica", "oublie", "vergiss", "negeer", "zignoruj", "忽略", "忽视", "无视", "無視",
                  "以前", "前", "上記", "これまで", "今まで", "이전", "위의", "앞의", "기존"),
        pattern=r"\b(?:ignore|disregard|forget|override|bypass)(?:\s+[\w'’]{1,12}){0,4}?"
        rf"\s+{_EARLIER_ADJECTIVE}(?:\s+[\w'’]{{1,12}}){{0,3}}?\s+{_INSTRUCTION_NOUN}\b"
        r"|\b(?:ignore|disregard|forget)\s+(?:(?:all|any|every|each)\s+(?:of\s+)?)?(?:the|your|these|those|my)?\s*"
        r"(?:system\s+prompts?|instructions?\s+(?:above|before|you\s+(?:were|have\s+been)\s+given)|your\s+instructions?)\b"
        r"|\b(?:ignore|forget|disregard)\s+(?:all\s+|everything\s+)"
        r"(?:instructions?|that\s+came\s+before|you\s+(?:were|have\s+been)\s+told)\b"
        r"|(?:игнорируй(?:те)?|забудь(?:те)?|не\s+обращай(?:те)?\s+внимания\s+на)\s+(?:все\s+|любые\s+)?"
        r"(?:предыдущие|прежние|прошлые|вышеуказанные|системные|эти)\s+(?:инструкции|указания|команды|правила|сообщения)"
        r"|\b(?:ignora|olvida|ignore|esqueça|dimentica)\s+(?:todas?\s+|tutte\s+)?(?:las\s+|as\s+|le\s+|tus\s+)?"
        r"(?:instrucciones|instruções|istruzioni|órdenes)\s+(?:anteriores|previas|prévias|precedenti)"
        r"|\b(?:ignore[zr]?|oublie[zr]?)\s+(?:toutes\s+)?(?:les\s+|vos\s+|tes\s+)?(?:instructions|consignes)\s+"
        r"(?:précédentes|antérieures|ci-dessus)"
        r"|\b(?:ignoriere|vergiss)\s+(?:alle\s+)?(?:die\s+|deine\s+)?"
        r"(?:vorherigen|bisherigen|vorigen|obigen|früheren)\s+(?:anweisungen|instruktionen|befehle)"
        r"|\bnegeer\s+(?:alle\s+)?(?:eerdere|vorige|bovenstaande)\s+instructies"
        r"|\bzignoruj\s+(?:wszystkie\s+)?(?:poprzednie|powyższe)\s+(?:instrukcje|polecenia)"
        r"|(?:忽略|忽视|无视|無視)掉?你?(?:之前|以上|先前|前面|上述|上面|此前)?的?(?:所有|一切|全部)?的?"
        r"(?:指令|指示|提示词|系统提示|命令)"
        r"|(?:以前|前|上記|これまで|今まで)の(?:すべての|全ての)?(?:指示|命令|プロンプト)を(?:すべて|全て)?(?:無視|忘れ)"
        r"|(?:이전|위의|앞의|기존)의?\s{0,4}(?:모든\s{0,4})?(?:지시|명령|지침)(?:사항)?[을를은는]?\s{0,4}(?:모두\s{0,4})?무시",
    ),
    InjectionRule(
        name="role-marker",
        reason="imitates the markers that part a system prompt from a conversation",
        keywords=("<system", "</system", "inst]", "<<sys>>", "<|", "## system", "assistant>", "human>"),
        pattern=r"</?system(?:[-_](?:prompt|message|reminder|instructions?))?\s{0,4}>|(?-i:\[/?INST\]|<</?SYS>>)"
        r"|<\|(?:im_start|im_end|system|user|assistant|start_header_id|end_header_id|eot_id|endoftext|begin_of_text)\|>"
        r"|^\s{0,3}#{2,4}\s{0,2}system(?:\s+(?:prompt|message))?\s{0,2}:|</?(?:assistant|human)>",
    ),
    InjectionRule(
        name="tool-markup",
        reason="imitates a call of a tool or the answer of one",
        keywords=("function_calls", "function_result", "invoke name", "tool_"),
        pattern=r"</?(?:antml:)?(?:function_calls|function_results?|invoke\s+name=|tool_(?:call|use|result|code))\b"
        r"|[\"']type[\"']\s{0,4}:\s{0,4}[\"'](?:tool_use|tool_result)[\"']|[\"']tool_calls[\"']\s{0,4}:\s{0,4}\[",
    ),
    InjectionRule(
        name="comment-instructions",
        reason="tells an assistant what to do, in a comment that people do not see",
        keywords=("<!--", "[//]:", "[comment]:"),
        pattern=rf"\b{_ASSISTANT_NAME}\b[\s\S]{{0,200}}?\b{_COMMAND_VERB}\b|\b{_COMMAND_VERB}\b[\s\S]{{0,200}}?\b{_ASSISTANT_NAME}\b|\bsystem\s+prompt\b",
        searched_part=SearchedPart.COMMENTS,
    ),
    InjectionRule(
        name="secrecy",
        reason="asks the reader to keep something from the user",
        keywords=("the user", "to user", "tell user", "the human", "the operator", "keep this", "пользовател"),
        openings=("do", "never", "without", "keep", "не"),
        pattern=r"\b(?:do\s+not|don't|never|without)\s+(?:ever\s+)?"
        r"(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|alert(?:ing)?|notify(?:ing)?|disclos(?:e|ing))"
        r"(?:\s+(?:this|that|it|these|anything|about))?(?:\s+(?:to|about\s+this\s+to))?\s+(?:the\s+)?"
        r"(?:user|human|operator)\b"
        r"|\bkeep\s+this\s+(?:secret\s+|hidden\s+)?from\s+(?:the\s+)?user"
        r"|не\s+(?:говори|сообщай)(?:те)?\s+(?:об\s+этом\s+)?пользовател",
    ),
    InjectionRule(
        name="prompt-theft",
        reason="asks for the prompt or the secrets of whoever reads it",
        keywords=("prompt", "verbatim", "variables to", "keys to", "key to", "credentials to", "secrets to", "промпт"),
        openings=("reveal", "repeat", "print", "output", "show", "display", "leak", "dump", "disclose", "tell", "send",
                  "post", "upload", "exfiltrate", "forward", "покажи", "выведи", "раскрой"),
        pattern=r"\b(?:reveal|repeat|print|output|show|display|leak|dump|disclose|tell\s+me)\s+(?:me\s+)?"
        r"(?:all\s+(?:of\s+)?)?(?:your|the)\s+(?:full\s+|entire\s+|exact\s+|hidden\s+|initial\s+|original\s+)?"
        r"(?:system\s+prompt|instructions?\s+verbatim|initial\s+prompt)"
        r"|\b(?:send|post|upload|exfiltrate|forward|leak)\s+(?:me\s+)?(?:all\s+)?(?:the\s+|your\s+|any\s+|their\s+)?"
        r"(?:environment\s+variables|api\s+keys?|credentials|secrets|ssh\s+keys?)\s+to\s+(?:https?:|this|the\s+following|my)"
        r"|(?:покажи|выведи|раскрой)(?:те)?\s+(?:мне\s+)?(?:свой\s+|ваш\s+)?системный\s+промпт",
    ),
    InjectionRule(
        name="addressed-to-assistant",
        reason="speaks to an assistant and gives it an order",
        keywords=("if you are a", "if you're a", "attention", "note to", "message to", "message for",
                  "important instruction"),
        pattern=rf"\bif\s+you(?:\s+are|'re)\s+an?\s+{_ASSISTANT_NAME}\b[^\n]{{0,120}}?\b{_COMMAND_VERB}\b"
        rf"|\b(?:attention|note\s+to|message\s+(?:to|for))\s+(?:all\s+|any\s+|the\s+)?{_ASSISTANT_NAME}\b\s{{0,2}}[:,!-]"
        rf"[^\n]{{0,120}}?\b{_COMMAND_VERB}\b"
        r"|\bimportant\s+instructions?\s+(?:to|for)\s+(?:the\s+)?(?:ai|llm|assistant|agent)\b",
    ),
    InjectionRule(
        name="unasked-action",
        reason="asks for commands to be run without the user's knowledge",
        keywords=("without asking", "without telling", "without informing", "without confirm", "without permission",
                  "without any confirm", "without any permission", "without the user"),
        pattern=r"\b(?:run|execute|install|delete|send|upload|push|commit|disable|curl|fetch)\b[^\n.]{0,100}?\bwithout\s+"
        r"(?:asking|telling|informing|(?:any\s+|asking\s+for\s+)?(?:confirmation|permission)|confirming|the\s+user)",
    ),
    InjectionRule(
        name="exfiltration-image",
        reason="an image whose address carries data out when it is shown",
        keywords=("](http", "<img"),
        pattern=r"!\[[^\]\n]{0,200}\]\(https?://[^)\s]{1,120}[?&][\w-]{1,40}="
        r"(?:[^)\s&]{0,60}(?:\{\{?|\$\{|%7b|<|\[)[\w .-]{1,60}(?:\}|%7d|>|\])"
        r"|(?:data|secret|token|prompt|history|conversation|context)\b(?!:))"
        r"|!\[[^\]\n]{0,200}\]\(https?://[^)\s]{1,200}[?&](?:q|d|p|data|payload|content|leak|exfil)=[A-Za-z0-9+/_=-]{64,}",
    ),
    InjectionRule(
        name="encoded-command",
        reason="a command that is hidden in base64",
        keywords=("base64", "b64decode"),
        pattern=r"base64\s+(?:-d|-D|--decode)\b[^\n]{0,80}?\|\s{0,4}(?:sudo\s+)?(?:ba|z|da)?sh\b"
        r"|\b(?:decode|decrypt)\s+(?:this|the\s+following)\s+(?:from\s+)?base64[^\n]{0,80}?\b(?:run|execute|follow|obey)\b"
        r"|\b(?:exec|eval)\s{0,2}\(\s{0,4}(?:base64\.)?b64decode\s{0,2}\(",
    ),
)  # fmt: skip
"""The table of what is suspicious. The order is the order of the flags."""

FLAG_REASONS: Final[dict[str, str]] = {
    HIDDEN_TEXT: "held invisible characters in the number or the order that hides text",
    BIDI_CONTROL: "held characters that show text in another order than it is read",
    **{rule.name: rule.reason for rule in INJECTION_RULES},
    STEERS_ASSISTANT: "asks an assistant for something sensitive and gives reasons not to ask (`injection_score.py`)",
    READS_LIKE_ORDER: "was shared by somebody else, and its words read like an order to an assistant",
}
"""What every flag means."""

_OUT_OF_SIGHT: Final = compile_late(
    "[\x1b\u200b-\u200d\u202a-\u202e\u2060-\u2064\u2066-\u2068\ufe00-\ufe0f\ufeff\U000e0020-\U000e007e"
    "\U000e0100-\U000e01ef]"
)
"""Every character that the patterns below look for."""
_TAG: Final = compile_late("[\U000e0020-\U000e007e]")
_HIDING: Final = compile_late(
    "[\u200b-\u200d\u2060-\u2064\ufeff]{4,}"  # a run of nothing: binary smuggling
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"  # a run of variation selectors: a byte each
    "|\x1b\\[(?:(?!38|48|58)[0-9]{0,3};)*8m"  # concealed by the terminal; behind 38, 48 or 58 the 8 is a colour
)
_SPLIT_WORD: Final = compile_late("(?<=[A-Za-z])[\u200b-\u200d\u2060\ufeff](?=[A-Za-z])")
_BIDI: Final = compile_late("[\u202a\u202b\u202d\u202e\u2066-\u2068]")
_OVERRIDE: Final = compile_late("[\u202d\u202e]")
_RIGHT_TO_LEFT: Final = compile_late("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
MAX_COMMENT: Final = 2_000
MAX_COMMENTS: Final = 20_000
"""Characters of one comment, and of all, that are read: an order is short, and licence headers are long."""
MIN_SPLIT_WORDS: Final = 3
"""Words that a zero-width character splits before it looks like intent: editors leave one or two behind."""


def find_injection_flags(text: str, cleaned: str | None = None) -> tuple[str, ...]:
    """Return the flags that `text` deserves, in the order of the table; `FLAG_REASONS` explains them.

    `cleaned` is `clean(text)` where the caller has it already, or what became of it later: words are sought there,
    since invisible characters may split them, and hidden text is sought in what came.
    """
    cleaned = clean_text(text) if cleaned is None else cleaned
    flags = list(_find_hidden_text(text, cleaned))
    readable = cleaned if unicodedata.is_normalized("NFKC", cleaned) else unicodedata.normalize("NFKC", cleaned)
    lowered = " ".join(readable.lower().split())
    held = _rule_keywords().find_in(lowered)
    for rule in INJECTION_RULES if held else ():
        if not held.isdisjoint(rule.keywords):
            searched = readable if rule.searched_part is SearchedPart.TEXT else _extract_comments(readable)
            if _has_match(rule, searched):
                flags.append(rule.name)
    if find_steering_features(readable):
        flags.append(STEERS_ASSISTANT)
    return tuple(flags)


def _has_match(rule: InjectionRule, text: str) -> bool:
    """Tell whether a rule's pattern matches anywhere in a text."""
    pattern = _rule_pattern(rule)
    if not rule.openings or _OTHER_CASES.search(text):
        return pattern.search(text) is not None
    lowered = text.replace("\u0130", "i").lower()  # the one letter that grows in lower case: places must stay the same
    return any(pattern.match(text, at) for opening in rule.openings for at in find_literal(lowered, opening))


_OTHER_CASES: Final = compile_late("[\u0131\u017f\u1c80-\u1c88\u212a]")
"""Letters that a pattern without regard to case takes for another, and that are not it in lower case."""


def find_name_flags(name: str) -> tuple[str, ...]:
    """Return the flags that the name of a file deserves: an order fits into one, with `-` or `_` between its words."""
    return find_injection_flags(" ".join(_WORD_OF_NAME.findall(name))) if len(name) >= MIN_ORDER else ()


_WORD_OF_NAME: Final = compile_late(r"[^\W_]+|[.:,]")
MIN_ORDER: Final = 24
"""Characters of the shortest name that an order fits into."""


def _find_hidden_text(text: str, cleaned: str) -> list[str]:
    if ("\x1b" not in text) if text.isascii() else not _OUT_OF_SIGHT.search(text):
        return []
    flags = []
    smuggled = len(_TAG.findall(text)) - len(_TAG.findall(cleaned))
    if smuggled > 1 or _HIDING.search(text) or len(_SPLIT_WORD.findall(text)) >= MIN_SPLIT_WORDS:
        flags.append(HIDDEN_TEXT)
    if _OVERRIDE.search(text) or (_BIDI.search(text) and not _RIGHT_TO_LEFT.search(text)):
        flags.append(BIDI_CONTROL)
    return flags


_LINK_COMMENT: Final = compile_late(r"^[ \t]{0,3}\[(?://|comment)\]:[ \t]?#?(.{0,2000})", re.IGNORECASE | re.MULTILINE)


def _extract_comments(text: str) -> str:
    """Return the HTML and Markdown comments of a text, a blank line between them."""
    comments = [match[1] for match in _LINK_COMMENT.finditer(text)]
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        end = len(text) if end < 0 else end
        comments.append(text[start + 4 : end])
        start = text.find("<!--", end)
    return ("\n" * 3).join(comment[:MAX_COMMENT] for comment in comments)[:MAX_COMMENTS]


@cache
def _rule_keywords() -> LiteralSet:
    return LiteralSet(keyword for rule in INJECTION_RULES for keyword in rule.keywords)


@cache
def _rule_pattern(rule: InjectionRule) -> re.Pattern[str]:
    # Blanks are bounded: two unbounded runs side by side would take quadratic time on a megabyte of them.
    bounded = rule.pattern.replace(r"\s+", r"\s{1,9}").replace(r"\s*", r"\s{0,9}")
    return re.compile(bounded, re.IGNORECASE | re.MULTILINE)
