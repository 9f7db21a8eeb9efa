"""Keywords in other languages: words in capitals, without accents or in another inflected form, and signs."""

from __future__ import annotations

import pytest

from hyperloci.config import Settings
from hyperloci.jobs import MaintenanceContext
from hyperloci.maintenance.keyword_job import NEXT_KEY, index_old_texts
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity
from hyperloci.store.keywords.analysis import analyse_search, analyse_text, index_text
from tests.support import NOW, add

SAME_WORD = [
    ("İstanbul sunucusu yedekte", "istanbul"),
    ("istanbul veri merkezi", "İSTANBUL"),
    ("Işık modülü yeniden yazıldı", "IŞIK"),
    ("IŞIK ayarları config dosyasında", "ışık"),
    ("İyzico ile ödeme alıyoruz", "iyzico"),
    ("iyzico anahtarları kasada", "İYZİCO"),
    ("Şifreler hiç loglanmaz", "sifreler"),
    ("Κωδικοί μιας χρήσης μόνο με SMS", "ΚΩΔΙΚΟΙ"),
    ("τα συμβάντα πάνε στο Kafka", "συμβαντα"),
    ("τα συμβάντα πάνε στο Kafka", "ΣΥΜΒΑΝΤΑ"),
    ("ο λόγος είναι η καθυστέρηση", "ΛΟΓΟΣ"),
    ("Café listings come from the partner feed", "cafe"),
    ("the resume parser is frozen", "résumé"),
    ("Übersetzungen liegen in locales", "ubersetzungen"),
    ("el índice se reconstruye de noche", "indice"),
    ("configuração do cluster fica no helm", "configuracao"),
    ("hasło do sejfu zmienia Łukasz", "lukasz"),
    ("máy chủ sao lưu mỗi đêm", "may chu"),
    ("СЕРВЕР обновляется ночью", "сервер"),
    ("чтение идёт с реплики", "идет"),
    ("الفَوَاتِير تُرسل ليلاً", "الفواتير"),
    ("הַהַזְמָנוֹת נשמרות בפוסטגרס", "ההזמנות"),
]
"""A stored text, and one of its words as somebody else writes it."""

OTHER_FORM = [
    ("Ödemeler kuyruktan geçer", "ödeme"),
    ("Ödeme servisi Go ile yazıldı", "ödemeler"),
    ("kullanıcının oturumu 30 dakika sürer", "kullanıcı"),
    ("önbelleği Redis tutuyor, sunucular değil", "önbellek"),
    ("sunucular her gece yeniden başlatılır, değişiklik yok", "sunucu"),
    ("dağıtımlar cuma günü yapılmaz", "dağıtım"),
    ("günlükler 14 gün saklanır", "günlük"),
    ("οι πληρωμές γίνονται με Viva", "πληρωμή"),
    ("η πληρωμή λήγει σε 15 λεπτά", "πληρωμών"),
    ("οι χρήστες βλέπουν μόνο τα δικά τους", "χρήστης"),
    ("ο διακομιστής είναι στη Θεσσαλονίκη", "διακομιστές"),
    ("τα συμβάντα κρατιούνται 90 μέρες", "συμβάντων"),
    ("ההזמנות נשמרות בפוסטגרס", "הזמנות"),
    ("הזמנה נסגרת אחרי שעה", "הזמנות"),
    ("המשתמשים נכנסים דרך SSO", "משתמש"),
    ("השרת בפרנקפורט", "שרת"),
    ("גיבוי השרתים רץ בלילה", "שרת"),
    ("الفواتير تُرسل كل ليلة", "فواتير"),
    ("فواتير العملاء في S3", "الفواتير"),
    ("المستخدمين يدخلون عبر SSO", "المستخدم"),
    ("очереди разбирает отдельный воркер", "очередь"),
    ("базу чистим раз в месяц", "базы"),
]
"""A stored text, and one of its words in another inflected form."""

SIGNS = [
    ("Releases are announced in the 🚀 channel", "🚀"),
    ("🙂", "🙂"),
    ("🟢 means deployable, 🔴 means frozen", "🔴"),
    ("deploys to 🇩🇪 need a second review", "🇩🇪"),
    ("❌ in the table marks what is unsupported", "❌"),
    ("we vote with 👍🏽 in the thread", "👍"),
]
"""A stored text, and a sign in it."""

OTHERS = [
    "the orders service is slow on mondays",
    "we deploy on fridays",
    "şube ağı ayrı bir ekipte",
    "το τμήμα είναι αλλού",
    "הפריסה ידנית",
    "الخادم في برلين",
    "логи лежат в S3",
]


def _find(store: Store, query: str) -> list[int]:
    return list(
        store.keyword_search.rank_by_bm25(analyse_search(query), store.filters.select_allowed(SearchFilter()), 5)
    )


@pytest.mark.parametrize(("text", "query"), [*SAME_WORD, *OTHER_FORM, *SIGNS])
def test_a_word_or_sign_is_found_however_it_is_written(text: str, query: str, store: Store) -> None:
    others = [add(store, other).key for other in OTHERS]
    wanted = add(store, text).key
    found = _find(store, query)
    assert found[:1] == [wanted]
    assert not set(found[1:]) & set(others)


def test_english_has_no_further_terms() -> None:
    text = "The users' sessions_table is rebuilt nightly; see HTTPServer2 and don't touch x"
    assert index_text(text) == analyse_text(text)
    plain = [*analyse_text("the naïve"), "naiv", *analyse_text("runner’s plan quoted")]
    assert index_text("the naïve runner’s plan – “quoted”") == plain


def test_what_an_older_version_indexed_is_indexed_again_in_the_background(store: Store, settings: Settings) -> None:
    wanted, plain = add(store, "Ödemeler kuyruktan geçer 🚀", title="Ödeme"), add(store, "the queue")
    with store.transaction():
        for node, title in ((wanted, "ödeme"), (plain, "")):
            body = " ".join(analyse_text(node.content))
            store.connection.execute(
                "UPDATE keywords SET title = ?, body = ?, length = ? WHERE node_key = ?",
                (title, body, len(body.split()) + len(title.split()), node.key),
            )
        store.meta.set(NEXT_KEY, "1")
    assert _find(store, "odeme") == _find(store, "🚀") == []
    context = MaintenanceContext(store=store, settings=settings, clock=lambda: NOW)
    assert index_old_texts(context) == 1
    assert _find(store, "odeme") == _find(store, "🚀") == [wanted.key]
    assert _find(store, "queue") == [plain.key]
    assert integrity.check_integrity(store) == []
    assert integrity.count_violations(store) == {}
    assert store.meta.get(NEXT_KEY) is None
    assert index_old_texts(context) == 0
