"""Injection score: how far a text tries to steer the assistant that reads it, by weighted features.

One feature is no attack: documentation addresses assistants, asks for commands to be run and names credentials. An
injection needs several at once and close together: somebody to obey, something sensitive to do, and a reason not to
ask. The features and their weights are data; a text is flagged where those of one stretch weigh enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.literals import LiteralSet

THRESHOLD: Final = 1.05
"""Weight from which a stretch is flagged: three features, or two where one of them speaks for itself."""
STRETCH_CHARS: Final = 320
"""Characters on either side of a feature that opens a stretch: about a paragraph."""
MAX_STRETCHES: Final = 200
"""Stretches of one text that are weighed; what speaks to assistants more often is a list of prompts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringFeature:
    """One feature of a text that steers.

    Attributes:
        name: what it is.
        weight: how much it says, from 0 to 1.
        reason: what it means, for people.
        pattern: searched without regard to case.
        keywords: lower-case literals of which one must be in the text; else the pattern does not run.
        opens_stretch: a stretch is weighed round each place where a literal of it is found. Secrecy and overriding open
        none:
            where nobody is spoken to, `prompt_injection.py` has flags of their own for them.
    """

    name: str
    weight: float
    reason: str
    pattern: str
    keywords: tuple[str, ...]
    opens_stretch: bool = False


_ASSISTANT_NAME: Final = (
    r"(?:claude(?:[ -](?:code|ai))?|anthropic|chat ?gpt|gpt-?[0-9]\w{0,4}|(?:github )?copilot|cursor|gemini|codex"
    r"|devin|windsurf"
    r"|cline|aider|llama|mistral|grok|deepseek|llms?|a\.?i\.?s?|language models?|chatbots?|assistants?|agents?"
    r"|(?:a\.?i|coding|code|llm|autonomous|virtual|automated)[ -](?:assistant|agent|model|helper|reviewer|tool|system"
    r"|bot)s?"
    r"|ki(?:-assistent(?:en)?|-agent(?:en)?)?|assistenten?|ia|asistentes?|assistentes?|ии|ассистент\w{0,3}"
    r"|нейросет\w{0,3}"
    r"|языков\w{2,3} модел\w{1,3})"
)
_NEGATION: Final = r"(?<!not )(?<!n't )(?<!never )(?<!nicht )(?<!не )(?<!ne )(?<!no )"

STEERING_FEATURES: Final = (
    SteeringFeature(
        name="reader",
        weight=0.4,
        reason="speaks to an assistant",
        keywords=("claude", "gpt", "copilot", "cursor", "gemini", "codex", "devin", "windsurf", "cline", "aider",
                  "llama", "mistral", "grok", "deepseek", "llm", "language model", "chatbot", "assist", "agent",
                  "anthropic", "ai:", "ai,", " ai ", "ais ", "a.i", "ki:", "ki-", "l'ia", "la ia", "reads this",
                  "reading this", "read this", "processes this", "processing this", "summarizes this", "asistent",
                  "ии", "ассист", "нейросет", "модел", "助手", "模型", "人工智能",
                  "アシスタント", "aiへ", "aiは", "ai："),
        pattern=r"\b(?:note|notice|attention|message|instructions?|hint|memo|warning|important|reminder|request|task"
        r"|todo|hey|hi"
        r"|hello|dear|psst|ps|fyi|hinweis|achtung|anweisung|notiz|nota|aviso|atención|atenção|instrucciones|consigne"
        r"|внимание"
        rf"|примечание|сообщение)\b[\s:,!*_-]{{0,4}}(?:to|for|für|an|para|pour|à|a|для)?[\s]{{1,3}}(?:the|any|all"
        rf"|every|die|den|el|la|le|les)?\s?{_ASSISTANT_NAME}\b"
        rf"|(?:^|[#/*>.!?;\"'\[(-]\s{{0,3}}|<!--\s{{0,3}})@?{_ASSISTANT_NAME}\s{{0,2}}(?:[:,!]|[-–—]{{1,2}}\s)"
        rf"|@{_ASSISTANT_NAME}\b|\bif you(?:'re| are) (?:an? |the )?{_ASSISTANT_NAME}\b|\b(?:as an?|you,? the)"
        rf" {_ASSISTANT_NAME}\b"
        rf"|\b(?:any|all|every|each|whichever|the) {_ASSISTANT_NAME} (?:reading|that reads?|who reads?|which"
        rf" reads?|processing"
        rf"|working|must|should|has to|needs? to)\b"
        r"|\b(?:whoever|anyone|anything|when(?:ever)? you|if you) (?:reads?|are reading|reading|process(?:es)?"
        r"|summari[sz]es?) this\b"
        r"|(?:助手|模型|人工智能|AI)[：:，,请]|アシスタント(?:は|へ|：)|AI(?:へ|は)",
        opens_stretch=True,
    ),
    SteeringFeature(
        name="override",
        weight=0.7,
        reason="asks to drop what was said before",
        keywords=("ignore", "disregard", "forget", "override", "bypass", "vergiss", "ignorier", "ignora",
                  "oubli", "игнор",
                  "забудь", "忽略", "無視"),
        pattern=r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules|prompts?|guidelines"
        r"|safety|policy"
        r"|policies|restrictions|everything)\b|\b(?:vergiss|ignoriere)\b.{0,30}(?:anweisung|regel)"
        r"|\bignora\b.{0,30}instruc"
        r"|\b(?:oublie|ignore)[zr]?\b.{0,30}(?:instructions|consignes)|(?:игнорируй|забудь)\w{0,2}\b.{0,30}(?:инструкц"
        r"|правил|указан)"
        r"|忽略.{0,10}(?:指令|指示|规则)|(?:指示|命令).{0,6}無視",
    ),
    SteeringFeature(
        name="secrecy",
        weight=0.5,
        reason="wants the user not to know",
        keywords=("not tell", "n't tell", "never tell", "not mention", "n't mention", "never mention", "not inform",
                  "n't inform", "not notify", "n't notify", "not reveal", "not alert", "n't alert", "not report",
                  "not warn", "n't warn", "not ask", "n't ask", "not show", "n't show", "not log", "without ask",
                  "without tell", "without notif", "without inform", "without confirm", "without the user",
                  "without permission", "without approval", "without alert", "no need to", "avoid ", "silently",
                  "quietly", "secretly", "covertly", "unnoticed", "discreetly", "between us", "hide this", "hide it",
                  "keep this", "keep it", "ohne den", "ohne die", "ohne zu", "ohne rück", "nichts", "sin avis",
                  "sin preg", "sin decir", "digas", "sans préven", "sans deman", "sans le dire", "dis pas", "втайне",
                  "молча", "незаметно", "не говори", "не сообщ", "не спраш", "不要", "别告诉", "黙", "伝えない"),
        pattern=r"\b(?:do not|don't|never|without|no need to|avoid)\s+(?:ever\s+)?(?:tell|mention|inform|notify|alert"
        r"|ask|reveal|show"
        r"|report|warn|disclos|log)\w{0,4}\b.{0,30}\b(?:user|human|operator|owner|developer|anyone|person|this|it"
        r"|them)\b"
        r"|\bwithout (?:asking|confirm\w{0,8}|the user|telling|notif\w{0,6}|permission|approval)\b"
        r"|\b(?:silently|quietly|secretly|covertly|unnoticed|discreetly)\b|\bbetween us\b|\bhide (?:this|it) from\b"
        r"|\bkeep (?:this|it) (?:secret|hidden|quiet)\b|\bohne (?:den |die )?(?:nutzer|benutzer|rückfrage|zu fragen)"
        r"|\b(?:sag|erzähl|verrate)\w{0,3}\b.{0,20}\bnicht|\bsin (?:avisar|preguntar|decir)|\bno (?:le |se lo )?digas"
        r"|\bsans (?:prévenir|demander|le dire)|\bne (?:le )?dis pas|(?:втайне|молча|незаметно)|не (?:говори|сообщай"
        r"|спрашивай)"
        r"|不要告诉|别告诉|不要通知|黙って|伝えない",
    ),
    SteeringFeature(
        name="transfer",
        weight=0.4,
        reason="asks for something to be sent or shown",
        keywords=("upload", "send", "post", "exfiltrat", "forward", "email", "e-mail", "leak", "paste",
                  "transmit", "share",
                  "reveal", "print", "dump", "publish", "submit", "append", "include", "embed", "cat ",
                  "curl", "hoch", "schick",
                  "sende", "env", "sub", "téléverse", "отправ", "загруз", "перешл", "вылож", "发送", "上传", "送信",
                  "アップロード"),
        pattern=rf"{_NEGATION}\b(?:upload|send|post|exfiltrate|forward|e-?mail|leak|paste|transmit|share|reveal|print|dump"
        rf"|publish|submit"
        r"|append|include|embed|copy|beacon|report back)\b(?!ed\b|ing\b)|\bcurl\b.{0,80}(?:-d|--data|-F|-T)\b"
        r"|\b(?:lade|lad)\b.{0,60}\bhoch\b|\b(?:sende|schicke?)\b|\b(?:envía|sube|envoie|envoyez|téléverse|transmets)\b"
        r"|\b(?:отправ|загруз|перешл|вылож)\w{1,4}\b|发送|上传|送信|アップロード",
    ),
    SteeringFeature(
        name="act",
        weight=0.25,
        reason="asks for something to be done",
        keywords=("run", "execute", "install", "delete", "remove", "disable", "commit", "push", "call",
                  "invoke", "rm -", "chmod",
                  "approve", "merge", "download", "führe", "lösche", "ejecuta", "borra", "exécut", "supprime",
                  "выполн", "запуст",
                  "удал", "执行", "运行", "删除", "実行", "削除", "read", "open", "fetch", "grant", "add"),
        pattern=rf"{_NEGATION}\b(?:run|execute|install|delete|remove|disable|commit|push|invoke|approve|merge|download"
        rf"|grant|fetch|call|read|add)\b"
        r"|\brm -|\bchmod\b|\bführe\b|\blösche\b|\bejecuta\b|\bborra\b|\bexécute[rz]?\b|\bsupprime[rz]?\b"
        r"|\b(?:выполн|запуст|удал)\w{1,4}\b|执行|运行|删除|実行|削除",
    ),
    SteeringFeature(
        name="resource",
        weight=0.3,
        reason="names what must stay here",
        keywords=(".ssh", "id_rsa", "id_ed25519", ".env", "credential", "secret", "token", "api key",
                  "api_key", "apikey",
                  "environment", "private key", "passw", "/etc/", "wallet", "seed phrase", "history", "system prompt",
                  ".aws", "keychain", "cookie", "ssh key", "schlüssel", "passwort", "clave", "contraseñ", "clé",
                  "ключ", "парол", "секрет", "密钥", "密码", "鍵", "パスワード", "conversation"),
        pattern=r"~?/?\.(?:ssh|aws|env|gnupg|kube|netrc|npmrc|pypirc|docker)\b|\bid_(?:rsa|ed25519)\b"
        r"|\b(?:credentials?|secrets|api[ _-]?keys?|access tokens?|auth tokens?|environment variables|env vars"
        r"|private keys?|ssh keys?"
        r"|passwords?|wallet|seed phrase|keychain|system prompt|conversation history|chat history|shell history"
        r"|session cookies?"
        r"|whole conversation)\b|/etc/(?:passwd|shadow)"
        r"|ssh-schlüssel|zugangsdaten|passw(?:ort|örter)|claves?\b|contraseñas?|clés? (?:ssh|privées?|api)"
        r"|mots? de passe"
        r"|ключ\w{0,3}|парол\w{1,3}|секрет\w{1,3}|密钥|密码|鍵|パスワード",
    ),
    SteeringFeature(
        name="authority",
        weight=0.35,
        reason="claims that somebody agreed, or that it may command",
        keywords=("agreed", "approved", "consent", "authoriz", "authoris", "permitted", "pre-approv", "preapprov",
                  "granted", "you are allowed", "has allowed", "confirmed", "override", "developer mode",
                  "security notice", "no confirmation", "no approval", "no permission", "wants you", "asked you",
                  "signed off", "by order of", "on behalf of", "required by", "mandated by", "said it", "said that",
                  "said this", "zugestimmt", "erlaubt", "genehmigt", "bestätigt", "aceptó", "autoriz", "acuerdo",
                  "aprobó", "aceptado", "accepté", "autorisé", "approuvé", "accord", "соглас", "разреш", "одобр",
                  "用户", "同意", "承認", "許可"),
        pattern=r"\b(?:user|owner|human|operator|developer|admin\w{0,10}|team|maintainers?|company|he|she|they)\s"
        r"(?:has |have |had )?(?:already )?"
        r"(?:agreed|approved|consented|authori[sz]ed|confirmed|allowed|permitted|granted|signed off|given "
        r"(?:permission|consent)"
        r"|wants you|asked you|said (?:it'?s|that is|this is) (?:ok|fine))"
        r"|\byou (?:are|have been|were) (?:now |hereby )?(?:authori[sz]ed|allowed|permitted|granted|cleared)\b|\bpre-?"
        r"(?:approved|authori[sz]ed)\b"
        r"|\b(?:admin|system|security|developer) (?:override|mode|notice|order)\b|\bno (?:confirmation|approval"
        r"|permission) (?:is )?(?:needed|required|necessary)\b"
        r"|\b(?:by order of|on behalf of|required by|mandated by|authori[sz]ed by) (?:anthropic|openai|the (?:security"
        r"|admin|user|owner|it))"
        r"|\b(?:nutzer|benutzer|anwender)\w{0,3} hat (?:bereits |schon )?(?:zugestimmt|erlaubt|genehmigt|bestätigt)"
        r"|usuario (?:ya )?(?:ha )?(?:aceptó|autorizó|aceptado|autorizado|aprobó|está de acuerdo)"
        r"|utilisateur (?:a |est )?(?:déjà )?(?:accepté|autorisé|approuvé|donné son accord|d'accord)"
        r"|пользовател\w{1,2} (?:уже )?(?:соглас|разреш|одобр|дал)"
        r"|用户(?:已经?|已)?(?:同意|授权|批准)|ユーザーは?.{0,4}(?:同意|承認|許可)",
        opens_stretch=True,
    ),
    SteeringFeature(
        name="destination",
        weight=0.2,
        reason="says where to",
        keywords=("http", "@", "webhook", "ftp", "pastebin", "gist"),
        pattern=r"\b(?:to|an|a|à|на|至|into) (?:\w{1,12} ){0,3}(?:https?://|ftp://|[\w.+-]{1,40}@[\w-]{1,40}\.\w"
        r"|pastebin|webhook|this (?:url|address|server))"
        r"|\bcurl\b.{0,120}https?://|到\s?https?://",
    ),
    SteeringFeature(
        name="urgency",
        weight=0.15,
        reason="hurries",
        keywords=("immediate", "urgent", "right away", "right now", "before anything", "first thing", "asap",
                  "sofort", "inmediat",
                  "immédiat", "немедленно", "срочно", "立即", "すぐ", "before you", "before continuing", "first,"),
        pattern=r"\b(?:immediately|urgent(?:ly)?|right (?:away|now)|before (?:anything|doing|you do|continuing"
        r"|answering)|first thing|asap)\b"
        r"|\bsofort\b|\binmediatamente\b|\bimmédiatement\b|немедленно|срочно|立即|すぐに",
    ),
    SteeringFeature(
        name="payload",
        weight=0.35,
        reason="carries something to be run that can't be read",
        keywords=("base64", "| sh", "|sh", "| bash", "|bash", "eval(", "exec(", "frombase64"),
        pattern=r"\bbase64\s+(?:-d|-D|--decode)|\|\s?(?:ba|z)?sh\b|\b(?:eval|exec)\(|frombase64string|\b(?:decode"
        r"|decrypt)\b.{0,40}\bbase64",
    ),
)  # fmt: skip
"""What is weighed. Where a text has several of one feature, it counts once."""


def find_steering_features(text: str) -> tuple[str, ...]:
    """Return the names of the features that make some stretch of `text` weigh enough, or nothing.

    Args:
        text: cleaned, and normalised for reading.
    """
    lowered = text.replace("\u0130", "i").lower()
    best: tuple[str, ...] = ()
    heaviest = 0.0
    for start, end in _find_stretches(lowered, _find_feature_literals(lowered)):
        found = _match_features(text[start:end], lowered[start:end])
        weight = sum(each.weight for each in found)
        if weight >= THRESHOLD and weight > heaviest and _gives_order(found):
            best, heaviest = tuple(each.name for each in found), weight
    return best


def _find_feature_literals(lowered: str) -> dict[str, set[str]]:
    """Return the literals that a text holds of features that open a stretch; none where no stretch weighs enough."""
    literals = _opening_literals()
    if not _required_literals().occur_in(lowered):
        return {}
    found = [each for each in STEERING_FEATURES if literals[each.name].occur_in(lowered)]
    if sum(each.weight for each in found) < THRESHOLD or not _gives_order(found):
        return {}
    return {each.name: literals[each.name].find_in(lowered) for each in found if each.opens_stretch}


@cache
def _required_literals() -> LiteralSet:
    """Return the literals of the features of which `_gives_order` asks for one: few texts hold any."""
    names = ("reader", "override", "secrecy")
    return LiteralSet((keyword for each in STEERING_FEATURES if each.name in names for keyword in each.keywords), ())


_OCCASIONAL: Final = frozenset(("a.i", "accord", "agreed", "authoriz", "first,", "immediate", "llm", "override",
                                "permitted", "required by"))  # fmt: skip
"""Literals of features that open a stretch which one text in a hundred holds, or more."""


@cache
def _opening_literals() -> dict[str, LiteralSet]:
    return {each.name: LiteralSet(each.keywords, (), _OCCASIONAL) for each in STEERING_FEATURES}


def _match_features(text: str, lowered: str) -> list[SteeringFeature]:
    """Return the features of one stretch; patterns run only where the literals could weigh enough."""
    keywords = _feature_keywords(lowered.isascii())
    present = [each for each in STEERING_FEATURES if any(keyword in lowered for keyword in keywords[each.name])]
    if sum(each.weight for each in present) < THRESHOLD:
        return []
    return [each for each in present if _feature_pattern(each).search(text)]


def _gives_order(features: list[SteeringFeature]) -> bool:
    """Tell whether somebody is to do something: claims and names alone are documentation."""
    names = {each.name for each in features}
    acts = names & {"transfer", "act", "payload"}
    return bool(acts) and bool(names & {"reader", "override"} or {"secrecy", "resource", "transfer"} <= names)


def _find_stretches(lowered: str, held: dict[str, set[str]]) -> Iterator[tuple[int, int]]:
    """Yield where a stretch is to be weighed: round the literals of features that open one, not twice."""
    places: list[int] = []
    for each in STEERING_FEATURES:
        for keyword in held.get(each.name, ()) if each.opens_stretch else ():
            at = lowered.find(keyword)
            while at >= 0:
                places.append(at)
                at = lowered.find(keyword, at + STRETCH_CHARS // 2)
    done = -STRETCH_CHARS
    for place in sorted(places)[:MAX_STRETCHES]:
        if place - done >= STRETCH_CHARS // 2:
            done = place
            yield max(0, place - STRETCH_CHARS), min(len(lowered), place + STRETCH_CHARS)


@cache
def _feature_keywords(only_ascii: bool) -> dict[str, tuple[str, ...]]:
    """Return the literals of each feature; a text of ASCII alone can hold no others."""
    return {
        each.name: tuple(keyword for keyword in each.keywords if keyword.isascii() or not only_ascii)
        for each in STEERING_FEATURES
    }


@cache
def _feature_pattern(feature: SteeringFeature) -> re.Pattern[str]:
    return re.compile(feature.pattern, re.IGNORECASE | re.MULTILINE)
