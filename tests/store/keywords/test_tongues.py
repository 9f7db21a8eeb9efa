"""Keywords in other languages: words in capitals, without accents or in another inflected form, and signs."""

from __future__ import annotations

import pytest

from hyperloci.config import Settings
from hyperloci.jobs import MaintenanceContext
from hyperloci.maintenance.keyword_job import NEXT_KEY, index_old_texts
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity
from hyperloci.store.keywords.analysis import analyse_query, analyse_search, analyse_text, index_text, stop_words
from hyperloci.store.keywords.word_forms import find_forms, find_root, fold_word
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
    assert index_text(text) == (analyse_text(text), [])
    assert analyse_search(text) == analyse_query(text)
    mixed = "the naïve runner’s plan – “quoted”"
    assert index_text(mixed) == (analyse_text(mixed), ["naiv"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("новый", "новая"),
        ("последний", "последняя"),
        ("أحمد", "احمد"),
        ("الفواتير", "فواتير"),
        ("والفواتير", "فواتير"),
        ("الإلغاء", "الغاء"),
        ("مسؤول", "مسوول"),
    ],
)
@pytest.mark.req("SPEC-02.34")
def test_letters_that_unicode_composes_hinder_no_stem(one: str, other: str) -> None:
    assert find_root(one) == find_root(other)


@pytest.mark.parametrize("text", ["한글 데이터베이스", "データベース がぎぐ", "сервер", "数据库"])
@pytest.mark.req("SPEC-02.34")
def test_a_word_that_is_its_own_root_is_indexed_once(text: str) -> None:
    assert index_text(text) == (analyse_text(text), [])


@pytest.mark.parametrize("term", ["é", "à", "ö", "ß", "thé", "iş", "ön"])
@pytest.mark.req("SPEC-02.34")
def test_a_word_does_not_become_a_letter_or_a_stop_word(term: str) -> None:
    assert all(len(form) > 1 and form not in stop_words() for form in find_forms(term))
    assert find_root(term) in {term, *find_forms(term)}


@pytest.mark.parametrize("word", ["ödeme", "oturum", "oda", "işlem", "ağı", "önü"])
@pytest.mark.req("SPEC-02.34")
def test_a_turkish_stem_has_three_letters(word: str) -> None:
    _, further = index_text(f"{word} şığ")
    assert further
    assert min(map(len, [*further, *find_forms(word)])) >= 3


@pytest.mark.parametrize("word", ["größe", "façade", "prüfung", "señor", "você"])
@pytest.mark.req("SPEC-02.34")
def test_words_of_other_languages_get_no_turkish_stem(word: str) -> None:
    assert find_forms(word) == tuple(analyse_text(fold_word(word)))


@pytest.mark.req("SPEC-02.34")
def test_a_question_has_each_word_once_and_what_is_found_by_it_stands_in_every_text_with_the_word() -> None:
    assert analyse_search("الفَوَاتِير") == analyse_search("الفواتير") == [find_root("الفواتير")]
    for text, query in [*SAME_WORD, *OTHER_FORM]:
        assert len(analyse_search(query)) == len(query.split())
        for word in text.split():
            terms, further = index_text(word)
            assert set(analyse_search(word)) <= {*terms, *further}


@pytest.mark.req("SPEC-02.34")
def test_a_word_that_is_not_ascii_weighs_no_more_than_another(store: Store) -> None:
    add(store, "Größe zählt")
    wanted = add(store, "Redis Instanz cache-1 hat maxmemory 2 GB")
    for other in OTHERS:
        add(store, other)
    assert _find(store, "Größe der Redis Instanz")[0] == wanted.key


@pytest.mark.req("SPEC-02.34")
def test_a_text_is_as_long_as_it_has_words(store: Store) -> None:
    text = "Ödemeler kuyruktan geçer, başlatıldı 🚀"
    key = add(store, text, title="Größe").key
    with store.transaction():
        store.keywords.add_extra(key, "değişiklikler açık")
        store.keywords.add_extra(key, "değişiklikler")
    length, extra = store.connection.execute("SELECT length, extra FROM keywords WHERE node_key = ?", (key,)).fetchone()
    assert length == 4 + 1 + 2
    assert extra.count("değişiklikler") == 1
    assert _find(store, "degisiklik") == _find(store, "acik") == [key]
    with store.transaction():
        store.keywords.put_text(key, title="Größe", body=text)
    row = store.connection.execute("SELECT length, extra FROM keywords WHERE node_key = ?", (key,)).fetchone()
    assert tuple(row) == (length, extra)
    assert integrity.count_violations(store) == {}


@pytest.mark.req("SPEC-02.34")
def test_what_compares_texts_reads_their_words_alone(store: Store) -> None:
    text = "Testler yazılırken önce şema güncellenir 👍"
    key = add(store, text, title="Größe").key
    words = " ".join(analyse_text(text))
    assert store.keywords.load_bodies([key]) == {key: words}
    assert store.topics.get_keywords([key]) == {key: f"grösse {words}"}


@pytest.mark.req("SPEC-02.34")
def test_what_is_quoted_word_for_word_is_a_perfect_answer_also_in_turkish(store: Store) -> None:
    wanted = add(store, "the plan of the team says that testler yazılırken önce şema güncellenir and no more").key
    found = store.keyword_search.prepare_query(
        analyse_search("testler yazılırken önce şema güncellenir"),
        store.filters.select_allowed(SearchFilter()),
        quoted=analyse_text("testler yazılırken önce şema güncellenir"),
    )
    assert found is not None
    assert found.score_bm25([wanted]) == {wanted: found.ceiling}


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
