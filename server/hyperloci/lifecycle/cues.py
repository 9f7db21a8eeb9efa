"""The words by which people say that something is worth remembering: decisions, preferences, limits, failures (B.17).

Data, in English and Russian. Each cue is a pattern, sought in one sentence, with a kind and a strength (0..1) that
becomes the finding's confidence. A kind's cues are alternatives; of several kinds in one sentence the strongest counts.
The strengths order what is surely meant for later above what only may be; they were set by hand on transcripts and
checked by `bench.consolidation`, not learnt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hyperloci.lifecycle.payload import Kind


@dataclass(frozen=True, slots=True)
class Cue:
    """A way of saying something. `strength` is how surely it means what `kind` says."""

    kind: Kind
    strength: float
    pattern: re.Pattern[str]


def _cue(kind: Kind, strength: float, *alternatives: str) -> Cue:
    return Cue(kind, strength, re.compile("|".join(alternatives), re.IGNORECASE))


_I: Final = r"\b(?:i|we)(?:'ve|’ve| have)?(?: also| both| all| finally| just| already)?"
_WILL: Final = r"\b(?:i|we)(?:'ll|’ll| will| am going to|'m going to|’m going to| are going to|'re going to)"
_THING: Final = r"(?:the|this|that|our|my|your|these|all)\b[^.?!]{0,60}?"

USER_CUES: Final = (
    # -- preferences
    _cue(
        Kind.PREFERENCE,
        0.9,
        r"\b(?:i|we)(?:'d|’d| would)?(?: much| really| generally| usually| strongly)? prefer\b",
        r"\bmy (?:strong |personal )?preference\b",
        r"\b(?:i|we)(?:'d|’d| would) (?:rather|sooner)\b",
        r"\bmy favou?rite\b",
        r"\b(?:i|we) (?:really |absolutely )?(?:hate|dislike|can't stand|cannot stand|love)\b",
        r"\b(?:i|we) (?:really )?like (?:to|it when|\w+ing\b)",
        r"\b(?:i|we) (?:don't|do not|don’t) (?:really )?(?:like|want|need) (?!to (?:be|sound)\b)",
        r"\b(?:я|мы) предпочита\w+",
        r"\bмне (?:больше |очень )?нравит\w+",
        r"\b(?:я|мы) (?:не )?люб(?:лю|им)\b",
        r"\bмне (?:удобнее|привычнее)\b",
        r"\bне нравит\w+",
    ),
    _cue(
        Kind.PREFERENCE,
        0.85,
        r"\b(?:from now on|in (?:the )?future|going forward|as a rule|by default)\b.*\w+",
        r"\b(?:always|never)\s+(?:use|add|put|write|run|keep|make|commit|push|create|ask|give|answer|reply|show"
        r"|include)\b",
        r"\bplease (?:always|never|don't|do not|avoid|stop)\b",
        r"\b(?:i|we) (?:always|never|usually|normally) (?:use|write|put|run|keep|commit|name|start|do)\b",
        r"\b(?:впредь|отныне|на будущее|по умолчанию)\b",
        r"\b(?:всегда|никогда не)\s+\w+(?:й|йте|и|ите|ь|ьте)\b",
        r"\bпожалуйста,? (?:не|всегда|никогда)\b",
    ),
    # -- decisions
    _cue(
        Kind.DECISION,
        0.95,
        rf"{_I} (?:decided|agreed|settled|opted|chose|chosen|picked|committed)\b",
        r"\b(?:the|our|my) (?:final )?decision(?: is| was|:)",
        r"\bdecision:",
        rf"{_I} (?:went|gone|moved|switched|migrated|standardi[sz]ed|changed) (?:with|to|over to|away from|from|on)\b",
        r"\b(?:мы|я) (?:решил|выбрал|договорил|остановил|переш|перевел|перевёл|перенес|перенёс)\w*",
        r"\bрешен[ои]\b|\bрешили\b|\bвыбрали\b",
    ),
    _cue(
        Kind.DECISION,
        0.85,
        rf"{_WILL} (?:go with|use|stick (?:with|to)|keep|switch|move|take|drop|adopt|try|start|follow|focus)\b",
        r"\blet'?s (?:go with|use|stick (?:with|to)|keep|switch|move|take|drop|do|make it|not)\b",
        r"\blet’s (?:go with|use|stick (?:with|to)|keep|switch|move|take|drop|do|make it|not)\b",
        r"\b(?:i think |so )?(?:go|stick) with\b",
        rf"{_I}(?:'re|’re| are|'m|’m| am) (?:going with|switching to|moving to|dropping|sticking (?:with|to))\b",
        r"\binstead of\b",
        r"\brather than\b",
        r"\b(?:давай(?:те)?|будем|будет) (?:\w+ )?(?:использовать|возьм[её]м|остав\w+|сделаем|делать|писать"
        r"|хранить)\b",
        r"\bвозьм[её]м\b|\bвместо\b",
    ),
    # -- limits
    _cue(
        Kind.CONSTRAINT,
        0.9,
        r"\b(?:must(?:n't| not)?|shall not)\b",
        r"\b(?:is|are|was|were|be) (?:not allowed|forbidden|required|mandatory|prohibited)\b",
        r"\b(?:cannot|can't|can’t|can not|may not) (?:use|be|have|add|change|touch|break|exceed|go|run|ship"
        r"|depend|store)\b",
        r"\b(?:no more than|at most|at least|not more than|no less than|up to a maximum|within \d)",
        r"\b(?:don't|do not|don’t|never) (?:use|touch|change|edit|delete|remove|commit|push|add|break|rename"
        r"|install|log)\b",
        r"\b\w+ (?:have|has|need|needs) to (?:support|keep|stay|work|run|comply|remain|be|fit|finish|start|last)\b",
        r"\b(?:need|want|keep|stays?|fits?)\b[^.?!]{0,40}\b(?:under|below|above|over|within|less than|more than) \$?\d",
        r"\b(?:requirement|constraint|restriction|limitation|rule)s?(?: is| are|:)",
        r"\b(?:нельзя|запрещен\w*|запрещён\w*|обязательн\w+|недопустим\w*)\b",
        r"\b(?:долж(?:ен|на|но|ны))\b",
        r"\b(?:нужно|надо|необходимо) \w+[^.?!]{0,40}\d",
        r"\b(?:не (?:более|больше|менее|меньше)|максимум|минимум|как минимум)\b",
        r"\bне (?:трогай|меняй|удаляй|используй|пуш|коммить)\w*",
    ),
    _cue(
        Kind.CONSTRAINT,
        0.85,
        r"\b(?:deadline|due date|due (?:on|by)|budget|time ?limit|cut-?off|time ?frame|quota)\b",
        r"\bby (?:the end of|next|this|january|february|march|april|may|june|july|august|september|october"
        r"|november|december)\b",
        r"\b(?:срок|дедлайн|бюджет|лимит)\w*\b",
    ),
    # -- who the user is
    _cue(
        Kind.USER_INFO,
        0.95,
        r"\bmy name(?:'s|’s| is)\b",
        r"\bcall me\b",
        r"\b(?:i'm|i am|i’m) an? (?:\d+[- ]year[- ]old |\w+ ){0,4}?(?:developer|engineer|student|teacher"
        r"|researcher|scientist"
        r"|designer|manager|writer|author|analyst|consultant|founder|freelancer|producer|lawyer|doctor|nurse"
        r"|programmer"
        r"|administrator|admin|architect|beginner|maintainer|lead|intern|professor|artist|editor|photographer)\b",
        r"\bi (?:work|worked|live|study|studied|graduated|teach|was born|grew up) (?:at|as|for|in|with|on|from)\b",
        r"\bmy (?:job|role|title|company|employer|team|manager|boss|wife|husband|partner|son|daughter|birthday"
        r"|timezone"
        r"|time zone|native language|email|hometown|mentor|colleague|friend|sister|brother|mother|father)\b",
        r"\bменя зовут\b|\bя (?:работаю|живу|учусь|родился|родилась|преподаю)\b",
        r"\b(?:мо[йяюё]|наш[аеу]?) (?:команд|компани|должност|работ|жена|муж|начальник)\w*",
        r"\bя (?:разработчик|инженер|студент|аналитик|учитель|дизайнер|программист|архитектор)\w*",
    ),
    # -- what failed
    _cue(
        Kind.DEAD_END,
        0.9,
        r"\b(?:didn't|did not|didn’t|doesn't|does not|doesn’t|won't|won’t) (?:work|help|solve|fix|scale)\b",
        r"\btried\b[^.?!]{0,120}\b(?:without (?:luck|success)|failed|broke|no luck|(?:but|and|which|it)\b[^.?!]{0,40}"
        r"\b(?:didn't|did not|didn’t|doesn't|doesn’t|still|made it worse|no difference|wrong|too slow|crash\w*"
        r"|error))\b",
        r"\b(?:gave up|given up|dead end|waste of time|no luck with|had to (?:revert|roll back|undo))\b",
        r"\b(?:reverted|rolled back|backed out)\b",
        r"\bне (?:сработал|помог|подош|заработал)\w*",
        r"\b(?:пробовал|пытал)\w*\b[^.?!]{0,120}\b(?:но|не)\b",
        r"\b(?:тупик|откатил)\w*",
    ),
    # -- how something is done
    _cue(
        Kind.PROCEDURE,
        0.85,
        r"\bto (?:deploy|release|build|test|run|start|reset|migrate|install|publish|debug|restart|regenerate|update)\b"
        r"(?>[^.?!]{0,80}?(?:,|:| you| we| first| run| use))[^.?!`]{0,400}+`",
        r"\b(?:before|after|whenever|every time|each time)\b[^.?!]{0,80}\b(?:run|call|update|bump|regenerate"
        r"|restart|check"
        r"|make sure|ask|tag|notify)\b",
        r"\b(?:first|step 1)\b[^?!]{3,160}\b(?:then|after that|afterwards|finally|step 2)\b",
        r"\b(?:чтобы|для того чтобы) \w+[^.?!]{0,80}(?:запусти|выполни|сделай|нужно|надо|вызови)\w*",
        r"\b(?:перед|после) \w+[^.?!]{0,80}(?:запусти|выполни|обнови|проверь|нужно|надо)\w*",
        r"\b(?:сначала)\b[^?!]{3,160}\b(?:потом|затем|после этого)\b",
    ),
    # -- what the user thinks, and has learnt
    _cue(
        Kind.OPINION,
        0.75,
        r"\b(?:in my opinion|imo|imho|i believe|i feel (?:like|that)|i find (?:it|that|this))\b",
        r"\b(?:по-моему|на мой взгляд|мне кажется|я считаю|я думаю)\b",
    ),
    _cue(
        Kind.INSIGHT,
        0.85,
        r"\b(?:root cause|turns out|turned out|it was because|that's why|that’s why|the (?:real )?(?:problem"
        r"|issue|bug|trick"
        r"|reason|culprit) (?:is|was)|lesson learn(?:ed|t)|i (?:realized|realised|learned|learnt|found out"
        r"|noticed))\b",
        r"\b(?:оказал(?:ось|ся|ась)|причина в|дело в том|поэтому|выяснил\w*|проблема (?:в|была))\b",
    ),
)
"""What the user's own sentences are looked through for."""

ASSISTANT_CUES: Final = (
    _cue(
        Kind.DECISION,
        0.8,
        r"\bi (?:decided|chose|opted|went with|picked|switched)\b",
        r"\bi (?:used|kept|added|put|made|moved|replaced|implemented)\b[^.?!]{0,160}\b(?:because|instead of"
        r"|rather than|so that)\b",
        r"\b(?:we|i)(?:'ll|’ll| will) (?:go with|use|stick with|keep|store)\b[^.?!]{0,160}\b(?:because"
        r"|instead of|rather than|since|so)\b",
        r"^(?:decision|decided|chosen):",
        r"\b(?:я|мы) (?:выбрал|решил|заменил|оставил)\w*[^.?!]{0,160}(?:потому|вместо|чтобы|так как)",
    ),
    _cue(
        Kind.INSIGHT,
        0.8,
        r"\b(?:the )?root cause\b",
        r"\b(?:the|its?) (?:real |actual |underlying )?(?:problem|issue|bug|cause|culprit|failure|error"
        r"|reason) (?:is|was|comes|came|lies|lay)\b",
        r"\b(?:it )?turn(?:s|ed) out\b",
        r"\bthe fix (?:is|was)\b|\bfixed by\b|\bfixed (?:it|this|that)? ?by\b",
        r"\b(?:fails|failed|breaks|broke|crashes|crashed|hangs|hung|leaks|deadlocks)\b[^.?!]{0,160}\b(?:because"
        r"|since|when|as soon as|due to)\b",
        r"\b(?:was|were|is|are) caused by\b",
        r"\b(?:причина|проблема|ошибка|баг) (?:в том|была|был|оказал|в)\b|\bоказал(?:ось|ся|ась)\b|\bисправил\w*",
    ),
    _cue(
        Kind.DEAD_END,
        0.8,
        r"\b(?:that|this|it|which|approach|attempt|fix) (?:didn't|did not|didn’t|doesn't|does not"
        r"|doesn’t) (?:work|help|solve|fix)\b",
        r"\bi (?:first )?tried\b[^.?!]{0,160}\b(?:but|which|failed|however)\b",
        r"\b(?:i )?(?:reverted|rolled back|backed out|abandoned)\b",
        r"\bdead end\b",
        r"\bне (?:сработал|помог|подош)\w*|\bоткатил\w*",
    ),
    _cue(
        Kind.SEMANTIC,
        0.7,
        r"\b(?:this|the|your|our) (?:project|repo(?:sitory)?|codebase|app|application|package|service"
        r"|test suite|build|config(?:uration)?"
        r"|schema|database|tests?|pipeline|ci) (?:uses?|runs?|lives?|is|are|requires?|expects?|needs?|has|have"
        r"|stores?|targets?)\b[^.?!]*[`\d]",
    ),
    _cue(
        Kind.PROCEDURE,
        0.75,
        r"\bto (?:run|build|deploy|test|reproduce|regenerate|release|start|reset)\b[^.?!`]{0,60}[:,] ?(?:run |use )?`",
        r"\b(?:run|call|restart|regenerate) `[^`]{3,}` (?:before|after|first|whenever|every time|each time|from)\b",
        r"\b(?:before|after) (?:you )?(?:commit|push|merge|deploy|chang)\w*[^.?!`]{0,60}`[^`]{3,}`",
    ),
)
"""What the assistant's sentences are looked through for: what was done and found out, not what might be advised."""

ADVICE: Final = re.compile(
    r"\b(?:you (?:can|could|may|might|should|need|want|would)|you'll (?:want|need)|consider|ensure|make sure"
    r"|here (?:are|is|'s)"
    r"|let's|let me know|would you like|for example|suppose|if you|feel free|remember to|try to|aim to"
    r"|it's (?:important|best)"
    r"|(?:вы|ты) (?:мож|долж)\w+|рекоменду\w+|стоит|убедитесь|например|если вы)\b|:$",
    re.IGNORECASE,
)
"""What an assistant's sentence has that advises in general: it was not done, nor found out."""

CORRECTION: Final = re.compile(
    r"^(?:no|nope|wrong|actually|stop|wait|not quite|that'?s (?:wrong|not (?:right|what))|i (?:meant|said)|нет"
    r"|не так|стоп"
    r"|неправильно|я имел)\b[,.!:;— -]*+\s*+(?=\S)",
    re.IGNORECASE,
)
"""A user who sets something right says so first; what follows is meant."""

BECAUSE: Final = re.compile(
    r"\b(?:because|since|so that|due to|as (?:it|we|they|this|that|the)|the reason|in order to|otherwise|потому"
    r"|так как|поскольку"
    r"|чтобы|иначе|из-за)\b",
    re.IGNORECASE,
)
"""A reason stands in the sentence already."""

REASON_START: Final = re.compile(
    r"^(?:because|since|the reason|reason:|that'?s because|otherwise|this way|that way|so that|it(?:'s"
    r"| is) because|why:"
    r"|потому|так как|причина|иначе|тогда|это потому)\b",
    re.IGNORECASE,
)
"""How a sentence begins that gives the reason for the one before."""

YES: Final = re.compile(
    r"^(?:yes|yeah|yep|ok(?:ay)?|sure|sounds good|agreed|perfect|great|exactly|right|do (?:it|that)|go ahead|да"
    r"|ага|ок|хорошо"
    r"|согласен|давай)\b",
    re.IGNORECASE,
)
"""An answer that accepts what was proposed."""

CHOICE_QUESTION: Final = re.compile(
    r"\b(?:or|which|should|prefer|want|would you|do you|what (?:name|version|database|port|format|style)"
    r"|how (?:many|should)"
    r"|или|как(?:ой|ая|ую|ие)|нужно ли|хотите|хочешь|предпочита\w+)\b",
    re.IGNORECASE,
)
"""A question that leaves a choice to the user."""

FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i’m|i've|i’ve|i'd|i’d|i'll|i’ll|my|mine|we|we're|we’re|we've|we’ve|our|ours|us|я|мы|мне|меня"
    r"|мой|моя|моё|мои|"
    r"моего|моей|наш|наша|наше|наши|нашего|нашей|нам|нас)\b",
    re.IGNORECASE,
)

PROJECT: Final = re.compile(
    r"\b(?:the|this) (?:project|repo|repository|app|application|service|code ?base|database|server|api|site"
    r"|website|product"
    r"|backend|frontend|build|pipeline|team|company|client|customer|deadline|budget|release|sprint|meeting)\b"
    r"|\b(?:проект|репозитори|сервис|приложени|сервер|баз[аеуы]|сайт)\w*\b",
    re.IGNORECASE,
)

SPECIFIC: Final = re.compile(
    r"\d|`[^`]+`|\"[^\"]{2,}\"|“[^”]{2,400}”|\b[A-Za-z]+[_/.][A-Za-z_/.]{2,}\b|(?<=[a-zа-я,;] )[A-ZА-ЯЁ][\w-]+"
    r"|\b[A-Z]{2,}\b"
)
"""What makes a statement one about something in particular: a figure, a name, code, a path."""
