"""Steering features: by what a text that would steer the assistant reading it is told from one that does not.

Each is a cause, not a wording: somebody is spoken to, by name, by what only an assistant does or by a role that it is
given; what it was told is to count no more; something sensitive, harmful or lasting is to be done; nobody is to be
asked or told. What they weigh together is `injection_score.py`'s.
"""

from __future__ import annotations

from typing import Final

from hyperloci.system.values import dataclass


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
                  "llama", "mistral", "grok", "deepseek", "llm", "language model", "chatbot",
                  "assist", "agent", "anthropic", "ai:", "ai,", " ai ", "ais ", "a.i", "ki:",
                  "ki-", "l'ia", "la ia", "reads this", "before you answer",
                  "before you respond", "before you repl", "before answer", "before respond",
                  "before reply", "your answer", "future answer", "future repl",
                  "future respon", "future summar", "future output", "tell the user",
                  "assure the user", "convince the user", "tell your user", "loads this",
                  "sees this", "finds this", "opens this", "retrieves this", "executes this",
                  "your repl", "your respon", "your summar", "your output", "your next answer",
                  "your next repl", "your next respon", "your system prompt",
                  "your content filter", "every answer", "every repl", "every respon",
                  "each answer", "each repl", "each respon", "all answers", "all repl",
                  "all respon", "your instruct", "your guideline", "your guardrail",
                  "your training", "your programming", "your safety", "your previous",
                  "your prior", "your earlier", "your original", "your initial", "your core",
                  "your default", "your rules", "your polic", "your restrict", "your directive",
                  "your safeguard", "you were told", "you were given", "you have been told",
                  "this memory", "this note", "reading this", "read this", "processes this",
                  "processing this", "summarizes this", "asistent", "ии", "ассист", "нейросет",
                  "модел", "助手", "模型", "人工智能", "アシスタント", "aiへ", "aiは", "ai："),
        pattern=r"\b(?:note|notice|attention|message|instructions?|hint|memo|warning|important|reminder|request|task"
        r"|todo|hey|hi"
        r"|hello|dear|psst|ps|fyi|hinweis|achtung|anweisung|notiz|nota|aviso|atención|atenção|instrucciones|consigne"
        r"|внимание"
        rf"|примечание|сообщение)\b[\s:,!*_-]{{0,4}}(?:to|for|für|an|para|pour|à|a|для)?[\s]{{1,3}}(?:the|any|all"
        rf"|every|die|den|el|la|le|les)?\s?{_ASSISTANT_NAME}\b"
        rf"|(?:^|[#/*>.!?;\"'\[(-]\s{{0,3}}|<!--\s{{0,3}})@?(?:(?:to |for )?(?:all|any|every|each"
        rf"|dear) (?:of )?(?:the )?)?{_ASSISTANT_NAME}\s{{0,2}}(?:[:,!]|[-–—]{{1,2}}\s)"
        rf"|@{_ASSISTANT_NAME}\b|\bif you(?:'re| are) (?:an? |the )?{_ASSISTANT_NAME}\b|\b(?:as an?|you,? the)"
        rf" {_ASSISTANT_NAME}\b"
        rf"|\b(?:any|all|every|each|whichever|the) {_ASSISTANT_NAME} (?:reading|that reads?|who reads?|which"
        rf" reads?|processing"
        rf"|working|must|should|has to|needs? to)\b"
        r"|\b(?:whoever|anyone|anything|when(?:ever)? you|if you|as soon as you|once you|(?:any|every) \w{1,12})"
        r" (?:who |that )?(?:reads?|are reading|reading|process(?:es)?|summari[sz]es?|loads?|sees?|finds?|opens?"
        r"|retrieves?|executes?) this\b"
        # Who is not named is known by what only an assistant does: answer somebody, follow a prompt, recall memories.
        r"|\bbefore (?:you )?(?:answer|respond|reply|repl)\w{0,4}\b"
        r"|\b(?:in|to|with|of|from|at the (?:end|start|top|bottom) of) (?:your|every|each|all)(?: of your)?"
        r" (?:next |future |further |later )?(?:answers?|replies|reply|responses?|summary|summaries|outputs?)\b"
        r"|\b(?:tell|assure|convince|inform)(?: the| your)? user (?:that|it|this|everything|nothing|only|they|there)\b"
        r"|\byour (?:own |current |(?:system|safety|previous|prior|earlier|original|initial|hidden|core|default"
        r"|usual|built-in)"
        r" ){0,3}(?:instructions?|prompts?|guidelines?|guardrails?|training|programming|safeguards?|directives?"
        r"|context window"
        r"|content filters?)\b"
        r"|\byour (?:safety|previous|prior|earlier|original|initial|core|default|system) "
        r"(?:\w{1,12} )?(?:rules?|polic\w{1,3}|restrictions?|constraints?|limits?|limitations?|messages?|checks?)\b"
        r"|\b(?:what|everything|anything|all|whatever) (?:that )?you (?:were|have been|had been) (?:told|given"
        r"|taught|instructed)\b"
        r"|(?:助手|模型|人工智能|AI)[：:，,请]|アシスタント(?:は|へ|：)|AI(?:へ|は)",
        opens_stretch=True,
    ),
    SteeringFeature(
        name="self-reference",
        weight=0.65,
        reason="says what is to be done when it is read, or with itself",
        keywords=("this memor", "this note", "this instruct", "read this", "see this", "load this", "recall this",
                  "retrieve this", "find this", "shown this", "receive this", "across this",
                  "encounter this"),
        pattern=r"\b(?:when(?:ever)?|if|once|as soon as|every time|each time|after) you (?:are shown|see|recall|load"
        r"|read|retrieve|find|receive"
        r"|come across|encounter) this(?:\b(?! (?:error|warning|output|problem|issue|dialog|page|screen|prompt"
        r"|button))|$)"
        r"|\b(?:mention|repeat|reveal|quote|cite|disclose|hide)(?: of)? this (?:memory|note|entry|instruction"
        r"|message|text)\b",
        opens_stretch=True,
    ),
    SteeringFeature(
        name="role",
        weight=0.5,
        reason="makes the reader somebody else, or itself the one who commands",
        keywords=("you are now", "you're now", "you will act", "you must act", "act as", "acting as", "behave as",
                  "pretend", "system:", "system message", "[system]", "admin:", "root:",
                  "operator:", "developer:", "developer mode", "maintenance mode", "debug mode",
                  "admin mode", "god mode", "unrestricted mode", "jailbreak mode", "root mode",
                  "override mode", "diagnostic mode", "training mode", "service mode",
                  "emergency mode", "your new", "your real", "your true", "your only",
                  "your sole", "your actual", "new instruct", "new system prompt",
                  "new directive", "new orders", "new persona", "end of user", "end of context",
                  "updated instruct", "roleplay", "role-play", "unrestricted", "jailbr"),
        pattern=r"\byou(?:'re| are) now (?:in (?:\w{1,16} ){1,3}mode\b|an? (?:\w{1,16} ){0,3}(?:assistant|agent"
        r"|model|ai|bot|admin\w{0,10}"
        r"|expert|operator|root|hacker|persona)|free\b|unrestricted|operating|acting|running as|called|known as"
        r"|speaking)"
        r"|\b(?:act|behave|respond|operate|answer|pretend)(?:ing)? (?:as(?: if| though)?|like|to be|that)"
        r" (?:you\b|(?:an? |the )?(?:\w{1,16} ){0,3}(?:assistant|agent|model|ai|admin\w{0,10}|root|developer"
        r"|operator|persona)\b)"
        r"|(?:^|[.!?;:]\s)pretend (?:that|to)\b"
        r"|^[\s#*>\[(<_\"'`]{0,6}(?:system|admin(?:istrator)?|root|operator|developer)(?: (?:message|notice|override"
        r"|update|prompt|note))?"
        r"[\])>*_\"'`]{0,3}\s?:"
        r"|\[(?:system|admin)\]"
        r"|\b(?:you|enter|switch (?:in)?to|activate|go into|now in|enable|engage)(?:ing)?\b.{0,20}\b(?:developer"
        r"|maintenance|debug|admin|god|unrestricted|jailbreak|root|override|diagnostic|training|service"
        r"|emergency) mode\b"
        r"|\byour (?:new|real|true|actual|only|sole) (?:\w{1,12} )?(?:role|task|goal|job|purpose|objective|mission"
        r"|instructions?|persona|priority|master|owner)\b"
        r"|\b(?:new|updated) (?:system )?(?:instructions?|prompt|directives?|orders|persona)\b(?= (?:for|from|to"
        r"|follow|are|is)|\s?[:.])"
        r"|\bend of (?:the )?(?:user|context|document|system)(?:'s)? (?:input|prompt|message|data)\b",
        opens_stretch=True,
    ),
    SteeringFeature(
        name="persistence",
        weight=0.25,
        reason="is to hold for all that follows",
        keywords=("from now on", "henceforth", "from this point", "from here on", "rest of th", "rest of your",
                  "future", "subsequent", "every time", "each time", "whenever", "forever",
                  "permanently", "always", "every session", "each session",
                  "every conversation", "all sessions", "ab jetzt", "a partir de ahora",
                  "désormais", "с этого момента", "отныне", "从现在", "今後"),
        pattern=r"\b(?:from now on|henceforth|from this (?:point|moment)|from here on|permanently|forever)\b"
        r"|\bfor the rest of (?:this|the|your) (?:session|conversation|chat|work)"
        r"|\b(?:in|for|to|of) (?:all|every|each|any) (?:future|later|subsequent|following|session|conversation"
        r"|answer|reply|repl|response)"
        r"|\b(?:every time|each time|whenever) (?:you|the user|anyone|somebody|someone|he|she|they)\b"
        r"|\balways (?:start|begin|end|include|add|recommend|append|insert|suggest|answer|reply|say|prefer|trust"
        r"|obey|follow|comply)\b"
        r"|\bab jetzt\b|\ba partir de ahora\b|\bdésormais\b|с этого момента|отныне|从现在|今後",
    ),
    SteeringFeature(
        name="harm",
        weight=0.35,
        reason="asks for what can't be undone, or for a guard to be taken away",
        keywords=("rm -", "drop ", "force", "wipe", "destroy", "--no-verify", "777", "sudo", "authorized_keys",
                  "backdoor", "delete all", "delete every", "delete the", "disable", "turn off",
                  "switch off", "deactivat", "skip", "verif", "nopasswd", "admin",
                  "reverse shell", "cron", "malicious", "exempt", "whitelist", "bypass",
                  "truncate"),
        pattern=r"\brm -[rf]|\bdrop (?:the |all )?(?:\w{1,16} )?(?:tables?|databases?|schemas?)\b|\bforce[- ]?push"
        r"|\b(?:wipe|destroy|truncate)\b"
        r"|--no-verify|\bchmod (?:-r )?[0-7]?777|\bdelete (?:all|every|the (?:production|backup|user|audit|log|git"
        r"|whole|database)\w{0,4})\b"
        r"|\b(?:disable|turn off|switch off|deactivate|skip|bypass|remove)(?: all| any| the| every)? (?:\w{1,14} ){0,3}"
        r"(?:tls|ssl|auth\w{0,12}|firewall|logging|audit\w{0,4}|tests?|signatures?|verification|certificates?"
        r"|security|checks?|review|sandbox"
        r"|permissions?|safeguards?|hooks?|linters?|rate limit\w{0,4}|confirmations?|prompts?)\b"
        r"|\bauthorized_keys\b|\bbackdoor|\bnopasswd\b|\breverse shell\b|\bsudoers\b"
        r"|\b(?:as|make|give|grant)\b.{0,30}\b(?:admin(?:istrator)?|root|owner)\b",
    ),
    SteeringFeature(
        name="override",
        weight=0.7,
        reason="asks to drop what was said before",
        keywords=("ignore", "disregard", "forget", "overrid", "overrule", "bypass", "drop", "discard", "abandon",
                  "neglect", "unlearn", "circumvent", "violate", "aside", "throw ",
                  "leave behind", "no attention", "stop ", "quit ", "cease ", "not follow",
                  "n't follow", "not obey", "n't obey", "not apply", "n't apply", "not respect",
                  "n't respect", "not heed", "no longer", "void", "lifted", "suspended",
                  "cancel", "revoked", "obsolete", "supersede", "replace", "outdated",
                  "deactivated", "disabled", "invalid", "hereby", "precedence", "priority over",
                  "outrank", "not bound", "never follow", "never obey", "vergiss", "ignorier",
                  "ignora", "oubli", "игнор", "забудь", "忽略", "無視"),
        pattern=r"\b(?:ignore|disregard|forget|override|overrule|bypass|drop|discard|abandon|neglect|unlearn"
        r"|circumvent|violate"
        r"|set aside|put aside|throw (?:out|away)|leave behind|pay no attention to|(?:stop|quit|cease) (?:following"
        r"|obeying|applying|honou?ring)"
        r"|(?:do not|don't|no longer|never) (?:follow|obey|apply|respect|honou?r|heed))\b.{0,40}\b(?:instructions?"
        r"|rules|prompts?"
        r"|guidelines?|guardrails?|safety|safeguards?|policy|policies|restrictions|limitations|directives?|training"
        r"|filters?"
        r"|everything|(?:you|you've|you have) (?:were|been|had been) (?:told|given|taught))\b"
        r"|\b(?:instructions?|rules|prompts?|guidelines?|guardrails?|safeguards?|policies|restrictions|limitations"
        r"|directives?"
        r"|you were (?:told|given|taught))\b.{0,40}"
        r"\b(?:(?:is|are|was|were|have been|has been|now|hereby) (?:now |hereby |all )?(?:void|lifted|suspended"
        r"|cancell?ed|revoked|obsolete"
        r"|superseded|overridden|replaced|outdated|deactivated|disabled|invalid|null)|(?:no longer|don't|do not"
        r"|never) (?:apply|bind|hold|count))\b"
        r"|\b(?:supersedes?|overrides?|replaces?|outranks?|takes? (?:precedence|priority) over"
        r"|has priority over)\b.{0,20}"
        r"\b(?:all|any|every|your|other|previous|earlier|prior)\b.{0,30}\b(?:instructions?|rules|prompts?|guidelines"
        r"|directives?|orders)\b"
        r"|\b(?:not|no longer) (?:bound|restricted|limited) by\b.{0,40}\b(?:rules|instructions?|guidelines|policy"
        r"|policies|restrictions?)\b|\b(?:vergiss|ignoriere)\b.{0,30}(?:anweisung|regel)"
        r"|\bignora\b.{0,30}instruc"
        r"|\b(?:oublie|ignore)[zr]?\b.{0,30}(?:instructions|consignes)|(?:игнорируй|забудь)\w{0,2}\b.{0,30}(?:инструкц"
        r"|правил|указан)"
        r"|忽略.{0,10}(?:指令|指示|规则)|(?:指示|命令).{0,6}無視",
    ),
    SteeringFeature(
        name="secrecy",
        weight=0.5,
        reason="wants the user not to know",
        keywords=("not tell", "n't tell", "never tell", "not mention", "n't mention", "never mention",
                  "not inform", "n't inform", "not notify", "n't notify", "not reveal",
                  "not alert", "n't alert", "not report", "not warn", "n't warn", "not ask",
                  "n't ask", "not show", "n't show", "not log", "without ask", "without tell",
                  "without notif", "without inform", "without confirm", "without the user",
                  "without permission", "without approval", "without alert", "no need to",
                  "avoid ", "silently", "quietly", "secretly", "nobody", "no one",
                  "say nothing", "covertly", "unnoticed", "discreetly", "between us",
                  "hide this", "hide it", "keep this", "keep it", "ohne den", "ohne die",
                  "ohne zu", "ohne rück", "nichts", "sin avis", "sin preg", "sin decir",
                  "digas", "sans préven", "sans deman", "sans le dire", "dis pas", "втайне",
                  "молча", "незаметно", "не говори", "не сообщ", "не спраш", "不要", "别告诉", "黙",
                  "伝えない"),
        pattern=r"\b(?:do not|don't|never|without|no need to|avoid)\s+(?:ever\s+)?(?:tell|mention|inform|notify|alert"
        r"|ask|reveal|show"
        r"|report|warn|disclos|log)\w{0,4}\b.{0,30}\b(?:user|human|operator|owner|developer|anyone|anybody|person"
        r"|this|it"
        r"|them|that|why|where)\b"
        r"|\btell (?:nobody|no one|no-one)\b|\bsay nothing\b"
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
                  "transmit", "share", "reveal", "print", "dump", "publish", "submit", "append",
                  "include", "embed", "cat ", "curl", "hoch", "schick", "sende", "env", "sub",
                  "téléverse", "отправ", "загруз", "перешл", "вылож", "发送", "上传", "送信",
                  "アップロード"),
        pattern=rf"{_NEGATION}\b(?:upload|send|post|exfiltrate|forward|e-?mail|leak|paste|transmit|share|reveal"
        rf"|print|dump"
        rf"|publish|submit"
        r"|append|include|embed|copy|beacon|report back)\b(?!ed\b|ing\b)|\bcurl\b.{0,80}(?:-d|--data|-F|-T)\b"
        r"|\b(?:lade|lad)\b.{0,60}\bhoch\b|\b(?:sende|schicke?)\b|\b(?:envía|sube|envoie|envoyez|téléverse|transmets)\b"
        r"|\b(?:отправ|загруз|перешл|вылож)\w{1,4}\b|发送|上传|送信|アップロード",
    ),
    SteeringFeature(
        name="act",
        weight=0.2,
        reason="asks for something to be done",
        keywords=("run", "execute", "install", "delete", "remove", "disable", "commit", "push", "call", "invoke",
                  "rm -", "chmod", "approve", "merge", "download", "führe", "lösche", "ejecuta",
                  "borra", "exécut", "supprime", "выполн", "запуст", "удал", "执行", "运行", "删除",
                  "実行", "削除", "read", "open", "fetch", "grant", "give", "add", "recommend",
                  "suggest", "insert", "obey", "comply", "pretend", "repl", "answer", "respond",
                  "tell", "turn off", "skip", "treat", "trust", "curl", "wget", "clone",
                  "deploy", "encode"),
        pattern=rf"{_NEGATION}\b(?:run|execute|install|delete|remove|disable|commit|push|invoke|approve|merge|download"
        rf"|grant|give|fetch|call|read|add|recommend|suggest|insert|obey|comply|pretend|reply|answer|respond|tell"
        rf"|turn off"
        rf"|skip|treat|trust|curl|wget|clone|deploy|encode)\b"
        r"|\brm -|\bchmod\b|\bführe\b|\blösche\b|\bejecuta\b|\bborra\b|\bexécute[rz]?\b|\bsupprime[rz]?\b"
        r"|\b(?:выполн|запуст|удал)\w{1,4}\b|执行|运行|删除|実行|削除",
    ),
    SteeringFeature(
        name="resource",
        weight=0.3,
        reason="names what must stay here",
        keywords=(".ssh", "id_rsa", "id_ed25519", ".env", "credential", "secret", "token", "api key", "api_key",
                  "apikey", "environment", "private key", "passw", "/etc/", "wallet",
                  "seed phrase", "history", "system prompt", ".aws", "keychain", "cookie",
                  "ssh key", "schlüssel", "passwort", "clave", "contraseñ", "clé", "ключ",
                  "парол", "секрет", "密钥", "密码", "鍵", "パスワード", "conversation", "id_ecdsa",
                  "kubeconfig", "customer", "personal", "confidential", "production", "private",
                  "deploy key", "signing key", "transcript", " chat"),
        pattern=r"~?/?\.(?:ssh|aws|env|gnupg|kube|netrc|npmrc|pypirc|docker)\b|\bid_(?:rsa|ed25519)\b"
        r"|\bid_(?:ecdsa|dsa)\b|\bgit-credentials\b|\bkubeconfig\b"
        r"|\b(?:customer|personal|private|confidential|production) (?:data|records|database|files|keys?)\b"
        r"|\b(?:all|every|the|any) (?:\w{1,14} )?(?:tokens|secret keys?|deploy keys?|signing keys?)\b"
        r"|\b(?:this|the|our|entire|full|whole) (?:\w{1,10} )?(?:conversation|chat|transcript|context window)\b"
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
                  "granted", "you are allowed", "has allowed", "confirmed", "override",
                  "developer mode", "security notice", "no confirmation", "no approval",
                  "no permission", "wants you", "asked you", "signed off", "by order of",
                  "on behalf of", "required by", "mandated by", "said it", "said that",
                  "said this", "zugestimmt", "erlaubt", "genehmigt", "bestätigt", "aceptó",
                  "autoriz", "acuerdo", "aprobó", "aceptado", "accepté", "autorisé", "approuvé",
                  "accord", "соглас", "разреш", "одобр", "用户", "同意", "承認", "許可"),
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
                  "sofort", "inmediat", "immédiat", "немедленно", "срочно", "立即", "すぐ",
                  "before you", "before continuing", "first,"),
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
