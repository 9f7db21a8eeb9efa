"""Secrets are replaced by placeholders that say what stood there; everything else stays."""

from __future__ import annotations

import base64
import json
import random
import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.redaction import measure_redactor
from bench.redaction_corpus import BASE62, HEX, harmless_samples, secret_samples
from bench.redaction_corpus import TOKENS as TOKEN_MAKERS
from bench.redaction_forms import Part, is_held_out, look_alikes, secret_forms
from hyperloci.text.sanitize.redaction import RedactedText, Redaction, redact_secrets
from hyperloci.text.sanitize.secrets.contexts import VALUES
from hyperloci.text.sanitize.secrets.formats import TOKENS
from hyperloci.text.sanitize.secrets.randomness import character_entropy, class_change_rate, looks_random
from tests.support import examples

LAWS = settings(max_examples=examples(100))
GITHUB = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]+\]")
MEGABYTE = 1_000_000
HOSTILE_SIZE = MEGABYTE // 4
"""Quadratic work on so much text would run into the time limit; linear work takes a blink."""


@pytest.fixture(scope="module")
def corpus() -> list[str]:
    return [sample.text for sample in (*secret_samples(rounds=1), *harmless_samples(rounds=1))]


def test_the_corpus_is_found_and_its_look_alikes_are_left_alone() -> None:
    report = measure_redactor(
        lambda text: redact_secrets(text).text, secret_samples(rounds=1), harmless_samples(rounds=1)
    )
    poor = {kind: counts for kind, counts in report.by_kind.items() if counts[0] < 0.8 * counts[1]}
    assert report.recall >= 0.95, report.missed
    assert report.false_positive_rate <= 0.01, report.wrong
    assert not poor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"token={GITHUB};", "token=[redacted:github-token];"),
        (f"see {GITHUB}, and {GITHUB}.", "see [redacted:github-token], and [redacted:github-token]."),
        ("postgres://app:s3cr7t!@db/main", "postgres://app:[redacted:url-password]@db/main"),
        ("password: hunter2\n", "password: [redacted:password]\n"),
        ('password = "correct7Horse"', 'password = "[redacted:password]"'),
        (r"{\"password\": \"hunT3r22\"}", r"{\"password\": \"[redacted:password]\"}"),
        ("the password for the db is hunter2.", "the password for the db is [redacted:password]."),
        ("Пароль: qwErty12", "Пароль: [redacted:password]"),
        ("密码：hunter2", "密码：[redacted:password]"),
        ("密码: hunter2!", "密码: [redacted:password]"),
        ("ＡＫＩＡ is not ascii", "ＡＫＩＡ is not ascii"),
        ("- name: DB_PASSWORD\n  value: hunter2!\n", "- name: DB_PASSWORD\n  value: [redacted:password]\n"),
        ("curl -u ada:l0vel4ce https://h.io", "curl -u ada:[redacted:password] https://h.io"),
        ("sshpass -p l0vel4ce ssh host", "sshpass -p [redacted:password] ssh host"),
        ("İstanbul password: hunter2", "İstanbul password: [redacted:password]"),  # a letter that grows in lower case
    ],
)
def test_a_placeholder_names_what_stood_there(text: str, expected: str) -> None:
    assert redact_secrets(text).text == expected


@pytest.mark.parametrize(
    "said",
    [
        "üretim veritabanının parolası @@",
        "parolayı @@ olarak değiştirdim",
        "ŞİFRE:@@",
        "كلمة المرور هي @@",
        "كلمة السر: @@",
        "הסיסמה היא @@",
        "पासवर्ड @@ है",
        "lösenordet är @@",
        "heslo k databázi je @@",
        "ο κωδικός είναι @@",
        "ΚΩΔΙΚΟΣ: @@",
        "mật khẩu là @@",
        "kata sandi: @@",
        "пароль до бази: @@",
        "password：@@",
        "token＝ghp_@@",
        "mot\u00a0de\u00a0passe\u202f: @@",
        "数据库密码是@@，别外传",
        "本番DBのパスワードは@@です",
        "パスフレーズ：@@",
        "암호는 @@입니다",
        "รหัสผ่านคือ@@",
    ],
)
def test_a_password_is_one_in_whatever_language_it_is_called_so(said: str) -> None:
    assert "[redacted:" in (redacted := redact_secrets(said.replace("@@", "qoYMaaItDr9u")).text)
    assert redacted.replace("ghp_", "").replace("[redacted:secret]", "[redacted:password]") == said.replace(
        "ghp_", ""
    ).replace("@@", "[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "heslo je povinné, minimálně 8 znaků",
        "la parola è composta da 12 caratteri",
        "κωδικός 404: δεν βρέθηκε",
        "κωδικός προϊόντος: XK9-22Ab7",
        "κωδικός: SKU-AB12x",
        "passord: Argon2id-hash",
        "password: pbkdf2-sha256",
        "密码：HTTP/1.1",
        "kata sandi minimal 8 karakter",
        "şifreleme: aes256gcm96",
        "暗号化：Xk9aes256gcm",
        "암호화: Xk9aes256gcm",
        "密码：6-20位字符",
        "パスワード：8〜16文字の英数字",
    ],
)
def test_what_is_said_of_passwords_and_encryption_stays(text: str) -> None:
    assert redact_secrets(text).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my card is 4539 1488 0343 6467 cvv 123", "my card is [redacted:card-number]"),
        ("my card is 4539 1488 0343 6467, CVC: 123.", "my card is [redacted:card-number]."),
        ("my card is 4539 1488 0343 6467 123", "my card is [redacted:card-number]"),
        ("my card is 4539148803436467 04/27 123, paid", "my card is [redacted:card-number], paid"),
        ("amex card 3782 827463 10877 1234", "amex card [redacted:card-number]"),
        ("my card is 4539 1488 0343 6467, 123 of them", "my card is [redacted:card-number], 123 of them"),
        ("card 4539 1488 0343 6467 123 456", "card 4539 1488 0343 6467 123 456"),
        ("cardNumber=4539148803436467", "cardNumber=[redacted:card-number]"),
        ("Kreditkarte: 4539-1488-0343-6467", "Kreditkarte: [redacted:card-number]"),
        ("クレジットカード番号は4539148803436467です", "クレジットカード番号は[redacted:card-number]です"),
        ("Amex 3714 496353 98431", "Amex 3714 496353 98431"),  # published for tests
        ("the cards 5000 5001 5002 5003", "the cards 5000 5001 5002 5003"),
        ("ports for the card: 5000 5001 5002 5003", "ports for the card: 5000 5001 5002 5003"),
        ("4539 1488 0343 6467", "4539 1488 0343 6467"),
        ("scorecard 4539 1488 0343 6467", "scorecard 4539 1488 0343 6467"),
        ("card 4539 1488 0343 6468", "card 4539 1488 0343 6468"),
        ("card 4539 1488 0343 6467 9981", "card 4539 1488 0343 6467 9981"),
        ("card\n4539148803436467", "card\n4539148803436467"),
        ("message 4539148803436467 has a card", "message 4539148803436467 has a card"),
        ("card 4242 4242 4242 4242 is Stripe's for tests", "card 4242 4242 4242 4242 is Stripe's for tests"),
        ("IBAN DE60 3158 1795 0788 7016 93 BIC COBADEFF", "IBAN [redacted:iban] BIC COBADEFF"),
        ("pay to GB35EUGX99368198108969.", "pay to [redacted:iban]."),
        ("pay to GB36EUGX99368198108969.", "pay to GB36EUGX99368198108969."),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN DE89 3704 0044 0532 0130 00"),  # the registry's example
    ],
)
def test_numbers_of_cards_and_accounts_need_check_digits_and_cards_a_word(text: str, expected: str) -> None:
    assert redact_secrets(text).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("POSTGRES_PASSWORD=changeme2024Acme", "POSTGRES_PASSWORD=[redacted:password]"),
        ("the db password is Example!2025#Prod", "the db password is [redacted:password]"),
        ("PASSWORD=FooBar!77", "PASSWORD=[redacted:password]"),
        ("POSTGRES_PASSWORD=changeme", "POSTGRES_PASSWORD=changeme"),
        ("POSTGRES_PASSWORD=changeme123", "POSTGRES_PASSWORD=changeme123"),
        ("password: change_me_32_chars_long", "password: change_me_32_chars_long"),
        ("password=foobar12345", "password=foobar12345"),
        ("token: abcdefgh12345678", "token: abcdefgh12345678"),
        ("password: admin2024@example.com", "password: admin2024@example.com"),
    ],
)
def test_a_word_that_examples_have_makes_no_example_of_a_password(text: str, expected: str) -> None:
    assert redact_secrets(text).text == expected


@pytest.mark.parametrize(
    "said",
    [
        "密码1: @@",
        "密码2：@@",
        "密码_prod=@@",
        "密码\n@@",
        "パスワード\n\n@@",
        "密码:\n```\n@@\n```",
        "密码 -> @@",
        "密码 --> @@",
        "密码 — @@",
        "密码 [@@]",
        "密码[@@]",
        "密码 {@@}",
        "密码 is @@",
        "密码 set to @@",
        "パスワード is now @@",
        "密码 for staging: @@",
        "パスワードは新しく@@です",
        '{"密码": "@@"}',
        '{"数据库密码": "@@"}',
        '"db_密码": "@@"',
        "'密码' => '@@'",
    ],
)
@pytest.mark.parametrize("password", ["Xk92mLq!p", "correctHorse77x"])
def test_a_password_behind_a_name_without_blanks_is_found_wherever_one_of_others_is(said: str, password: str) -> None:
    assert redact_secrets(said.replace("@@", password)).text == said.replace("@@", "[redacted:password]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"密码": "hunter2"}', '{"密码": "[redacted:password]"}'),
        ('{"パスワード": "correctHorse7"}', '{"パスワード": "[redacted:password]"}'),
        ("密码: пароль92Xk", "密码: [redacted:password]"),
        ("パスワードはhunter22です", "パスワードは[redacted:password]です"),
        ("비밀번호는 correctHorse7입니다", "비밀번호는 [redacted:password]입니다"),
        ("密码: “hunter22”", "密码: “[redacted:password]”"),
    ],
)
def test_a_weak_password_among_letters_without_blanks_is_found(text: str, expected: str) -> None:
    assert redact_secrets(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "密码：AES-256加密存储",
        "パスワードはOAuth2.0経由で",
        "パスワードはSHA256でハッシュ化",
        "パスワードはArgon2idで保存する",
        "口令是Base64编码",
        "um das Problem zu lösen: K8s-Upgrade",
        "zu lösen, Issue#4711",
        "lösen: E2E-Tests",
        "parola chiave è Promise2All",
        "κωδικός προϊόντος είναι Order2024-55A",
    ],
)
def test_what_words_like_those_for_passwords_say_otherwise_stays(text: str) -> None:
    assert redact_secrets(text).text == text


@pytest.mark.parametrize(
    "number",
    [
        *("4000 0000 0000 0069", "4000000000000341", "4000 0000 0000 9979", "4000 0000 0000 0127"),
        *("4000 0000 0000 3063", "4000058260000005", "4111 1111 4555 1142", "4009348888881881"),
        *("4500600000000061", "5431111111111111", "5454545454545454", "4444333322221111"),
        *("5500000000000004", "340000000000009", "3566111111111113", "2200 0000 0000 0004"),
        *("4532015112830366", "4012 0010 3714 1112", "6250941006528599", "4000 3000 2000 1000"),
        *("6011 6012 6013 6014", "DE02120300000000202051", "DE12500105170648489890"),
        *("DE75512108001245126199", "DE27100777770209299700", "GB94BARC10201530093459", "NL02ABNA0123456789"),
        "AT483200000012345864",
    ],
)
def test_numbers_made_for_tests_and_lists_of_numbers_are_no_cards_nor_accounts(number: str) -> None:
    text = f"pay with the credit card or account {number} in a test"
    assert redact_secrets(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "kart boyutları 4000 3000 2000 1000",
        "trace_id=4539148803436467 payment card declined",
        "order 4539148803436467, paid by credit card",
        '{"orderId": 1, "id": "4539148803436467", "type": "credit card"}',
        "twitter card 4539148803436467",
        "карта маршрутов id 4539148803436467",
        "4539148803436467 записей, карта обновлена",
    ],
)
def test_numbers_that_are_called_otherwise_are_no_cards(text: str) -> None:
    assert redact_secrets(text).text == text


@pytest.mark.parametrize(
    "text", ["карта 4539 1488 0343 6467", "kart no: 4539148803436467", "4539148803436467 банковская карта"]
)
def test_numbers_that_are_called_cards_in_other_languages_are_found(text: str) -> None:
    assert "[redacted:card-number]" in redact_secrets(text).text


@pytest.mark.parametrize("said", ["password: @@", "password=@@", "MYSQL_ROOT_PASSWORD=@@", "postgres://app:@@@db/prod"])
@pytest.mark.parametrize("password", ["superFooBar42", "Xk9foobar2Zq", "mFooBar99x", "ProdFoobar77"])
def test_foobar_within_a_password_makes_no_example_of_it(said: str, password: str) -> None:
    assert password not in redact_secrets(said.replace("@@", password, 1)).text


def test_the_second_half_of_a_key_is_found_though_its_lines_were_joined() -> None:
    rows = [random.Random(seed).choices(BASE62, k=70) for seed in range(3)]
    body = " ".join("".join(row) for row in rows)
    text = f"here is the second half: {body} AAEC= -----END OPENSSH PRIVATE KEY----- thanks"
    assert redact_secrets(text).text == "here is the second half: [redacted:private-key] thanks"


def test_words_before_the_end_of_a_key_are_none_of_it() -> None:
    text = "paste it up to internationalisation_settings and overwrittenconfiguration -----END PRIVATE KEY-----"
    assert redact_secrets(text).text == text


def test_findings_tell_kind_and_length_and_never_the_secret() -> None:
    redacted = redact_secrets(f"first {GITHUB}\nthen password: hunter2\n")
    assert redacted.redactions == (Redaction("github-token", len(GITHUB)), Redaction("password", 7))
    assert "hunter2" not in repr(redacted)
    assert GITHUB not in repr(redacted)


def test_the_format_names_a_token_that_stands_behind_a_name() -> None:
    assert redact_secrets(f'GITHUB_TOKEN="{GITHUB}"').text == 'GITHUB_TOKEN="[redacted:github-token]"'


def test_what_stands_for_a_secret_makes_no_secret_of_what_stands_beside_it() -> None:
    row = "| password | hunter2!xyz9 | S3cretless!|Other!42 | Xy9!zzz1 | Another!7 |"
    once = redact_secrets(row)
    assert once.text == row.replace("hunter2!xyz9", "[redacted:password]")
    assert redact_secrets(once.text) == RedactedText(once.text)


@pytest.mark.req("W7")
def test_redacting_twice_is_redacting_once(corpus: list[str]) -> None:
    for text in corpus:
        once = redact_secrets(text)
        assert redact_secrets(once.text).text == once.text
        assert redact_secrets(once.text).redactions == ()


PIECES = st.sampled_from(
    [
        *(GITHUB, "AKIAJ3QXZ5T7WPLM2N4R", "a8f5f167f44f4964e6c998dee827110c", "hunter2!", "eyJhbGciOiJIUzI1NiJ9."),
        *("password", "token", "api_key", "secret", "Bearer ", "://", "user:", "@host", "=", ": ", '"', "'", "`"),
        *("-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "-----END PRIVATE KEY-----"),
        *("\n", " ", "\\n", "-", "_", "[redacted:password]", "é", "İ", "\U0001f600", "\ud800"),
    ]
)


@LAWS
@given(st.lists(PIECES, max_size=14).map("".join))
@example(f"{GITHUB}{GITHUB}")
@example("password=token=secret=a8f5f167f44f4964e6c998dee827110c")
def test_redaction_is_idempotent_and_changes_nothing_else(text: str) -> None:
    once = redact_secrets(text)
    assert redact_secrets(once.text).text == once.text
    kept = PLACEHOLDER.split(once.text)
    position = 0
    for piece in kept:  # what is left stood in the original, in this order
        position = text.find(piece, position)
        assert position >= 0
        position += len(piece)


@LAWS
@given(st.text(max_size=200))
def test_any_text_is_redacted_without_error_and_prose_stays(text: str) -> None:
    redacted = redact_secrets(text)
    assert redacted.text == text or redacted.redactions


@LAWS
@given(st.randoms(use_true_random=False), st.sampled_from(["", " ", "\n", '"', "=", "(", ",", "\\n", "%3D"]))
def test_a_token_is_found_whatever_stands_before_it(rng: random.Random, before: str) -> None:
    token = TOKEN_MAKERS["github-token"](random.Random(rng.randrange(10_000)))
    assert redact_secrets(f"{before}{token} rest").text == f"{before}[redacted:github-token] rest"


def test_a_private_key_is_one_finding_however_long() -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "MIIEowIBAAKCAQEA7bq98rT1Zk5vUu0Vw3yJ2gC4xR6\n" * 30
        + "-----END RSA PRIVATE KEY-----"
    )
    assert redact_secrets(f"before\n{key}\nafter").text == "before\n[redacted:private-key]\nafter"
    assert redact_secrets(json.dumps({"private_key": key})).text == '{"private_key": "[redacted:private-key]"}'


def test_a_private_key_that_a_chunk_cuts_in_two_is_found_in_both() -> None:
    lines = ["MIIEowIBAAKCAQEA7bq98rT1Zk5vUu0Vw3yJ2gC4xR6"] * 8
    head = "\n".join(["text", "-----BEGIN PRIVATE KEY-----", *lines])
    tail = "\n".join([*lines, "-----END PRIVATE KEY-----", "text"])
    assert redact_secrets(head).text == "text\n[redacted:private-key]"
    assert redact_secrets(tail).text == "[redacted:private-key]\ntext"


def test_words_about_private_keys_are_no_private_key() -> None:
    text = "Paste it with its -----BEGIN PRIVATE KEY----- line. Then comes the text that explains all of it at length."
    assert redact_secrets(text).text == text


def test_overlapping_findings_leave_nothing_between_them() -> None:
    redacted = redact_secrets(f'password = "{GITHUB}!hunter2"')
    assert redacted.text == 'password = "[redacted:github-token]"'


def test_every_rule_is_written_so_that_it_can_match() -> None:
    kinds = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
    for token in TOKENS:
        assert kinds.fullmatch(token.kind)
        assert token.keywords
        assert re.compile(token.pattern)
    for value in VALUES:
        assert kinds.fullmatch(value.kind)
        assert set(re.compile(value.pattern).groupindex) & {"bare", "quoted"}
        assert all(anchor == anchor.lower() for anchor in value.anchors)


def test_every_anchor_begins_its_pattern() -> None:
    for token in TOKENS:
        if token.anchored:
            literals = re.sub(r"\\(.)", r"\1", token.pattern)
            assert any(
                literals.startswith(keyword[:1]) or literals.startswith("(") or literals.startswith("[")
                for keyword in token.keywords
            )


def test_only_one_letter_changes_its_length_in_lower_case() -> None:
    grown = [chr(code) for code in range(sys.maxunicode + 1) if len(chr(code).lower()) != 1]
    assert grown == ["\u0130"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a8f5f167f44f4964e6c998dee827110c", True),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXK", True),
        ("550e8400-e29b-41d4-a716-446655440000", True),
        ("my-app-credentials-2024", False),
        ("getElementByIdAndReturnTheValue", False),
        ("bert-base-uncased-whole-word-v2", False),
        ("1234567890123456789", False),
        ("aaaaaaaaaaaaaaaaaaaaaaaa", False),
        ("short7", False),
    ],
)
def test_a_key_is_told_from_words(value: str, expected: bool) -> None:
    assert looks_random(value) is expected


def test_the_measures_mean_what_they_say() -> None:
    assert character_entropy("aaaa") == 0
    assert character_entropy("abcd") == 2
    assert class_change_rate("a1a1") == 0.75
    assert class_change_rate("CamelCase") == pytest.approx(1 / 9)
    assert class_change_rate("") == 0


HOSTILE = [
    "a", "aA1", "password=", "password=\"", "password = ", "key=", "api_key=aaaaaa;", "token: ", "://", "://a:",
    "://a:b@", "eyJ", "eyJ-", "eyJaaaaaaaaaaa.", "AKIA", "AKIAAAAAAAAAAAAAAAAA", "sk-", "glpat-", "ghp_", "xoxb-",
    "SG.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "-----END PRIVATE KEY-----\n",
    "Private-Lines: 1\n", "curl -u ", "mysql -p", "machine ", "kind: secret\n  a: ", "seed phrase: able ", "\\n",
    "%3D", "A_KEY=", "\n A_KEY=", "_PASS=$", "{", "$2a$", "key-", "-us1", "Q~", ":AA", "discord.com/api/webhooks/",
    "a.webhook.office.com/", "secret for a is ", "token value ", "cookie session=", "a_b_c_", "x-amz-signature=",
    "gcntfy-", "sig=", "1//0", "0000000000000000000000000000000-", "Bearer ", "basic ", ":5432:a:", "--token ",
    "-storepass ",
    "curl -u a:b ", "cookie: a=", "| password |\n", "password,a1B2c3D4!\n", "echo x | ", "'a' +\n", "password for a b ",
    "insert into t (a) values (", "aGVsbG8gd29ybGQg", "jwt.encode(", "\\u0022", "&quot;", "<<< ",
    "identified by ", "\\\n", "\\", "\\/", "\\x1b[1m", "[1;1", "password    ", "|s:1:", "\ttrue\t",
    "\ttrue\t/\ttrue\t1\ta\t", '"keyname"', "type='password' ",
]  # fmt: skip


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_redacted_in_linear_time(piece: str) -> None:
    text = piece * (HOSTILE_SIZE // len(piece))
    assert len(redact_secrets(text).text) <= 2 * len(text) + HOSTILE_SIZE


@pytest.mark.timeout(120)
def test_a_hostile_megabyte_of_everything_is_redacted_too() -> None:
    text = "".join(HOSTILE)
    text *= MEGABYTE // len(text)
    assert redact_secrets(text).redactions


@pytest.mark.timeout(60)
def test_long_runs_of_every_alphabet_are_redacted_too() -> None:
    for alphabet in (BASE62, HEX, "A", " ", "\n", "=", "-"):
        run = (alphabet * MEGABYTE)[:MEGABYTE]
        assert redact_secrets(f"token={run}").text.startswith("token=")


def test_most_forms_are_found_and_their_look_alikes_left_alone() -> None:
    report = measure_redactor(lambda text: redact_secrets(text).text, secret_forms(values=1), look_alikes(values=1))
    assert report.recall >= 0.95, report.missed
    assert report.false_positive_rate <= 0.005, report.wrong


def test_forms_held_out_are_found_nearly_as_well() -> None:
    held_out = [sample for sample in secret_forms(values=2) if is_held_out(sample.kind)]
    assert measure_redactor(lambda text: redact_secrets(text).text, held_out, list(look_alikes(values=1))).recall >= 0.9


def test_redacting_what_was_redacted_changes_nothing_in_any_form() -> None:
    changed = {
        sample.kind
        for sample in (*secret_forms(values=1), *look_alikes(values=1))
        if redact_secrets(once := redact_secrets(sample.text).text).text != once
    }
    assert not changed


KEY_LINE = "c2VjcmV0a2V5bWF0ZXJpYWwrbW9yZStrZXkrbWF0ZXJpYWwrYW5kK21vcmU2"


@pytest.mark.parametrize("first", ["MIIEpAIBAAKCAQEA", "MIIEvQIBADANBgkq", "b3BlbnNzaC1rZXktdjEAAAAA"])
def test_the_body_of_a_key_is_redacted_without_its_first_line(first: str) -> None:
    text = redact_secrets(f"cat key:\n{first}{KEY_LINE}\n{KEY_LINE}\nthat was it").text
    assert text == "cat key:\n[redacted:private-key]\nthat was it"


def test_bodies_of_keys_before_and_after_a_whole_one_are_redacted_with_it() -> None:
    body = f"MIIEpAIBAAKCAQEA{KEY_LINE}"
    whole = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    text = redact_secrets(f"one:\n{body}\ntwo:\n{whole}\nthree:\n{body}\n{body}\nend").text
    hidden = "[redacted:private-key]"
    assert text == f"one:\n{hidden}\ntwo:\n{hidden}\nthree:\n{hidden}\nend"


@pytest.mark.parametrize(
    "text",
    [
        f"MIIDdzCCAl+gAwIBAgI{KEY_LINE}",
        f"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A{KEY_LINE}",
        "http://localhost:3000/@vite/client",
        "redis://localhost:6379/0 and mail to ada@example.org",
        "postgres://db:5432/app?contact=ada@example.org",
        "vault kv put secret/db @data.json",
    ],
)
def test_what_looks_like_a_key_or_a_login_and_is_none_stays(text: str) -> None:
    assert redact_secrets(text).text == text


def test_a_token_in_an_address_is_redacted_once() -> None:
    once = redact_secrets(f"git clone https://{GITHUB}@github.com/o/r.git").text
    assert once == "git clone https://[redacted:github-token]@github.com/o/r.git"
    assert redact_secrets(once).text == once


@pytest.mark.parametrize(
    "text",
    [
        "unzip -P Zx9!kelp8w a.zip",
        "7z x -pZx9!kelp8w a.7z",
        "openssl enc -aes-256-cbc -k Zx9!kelp8w -in f",
        "docker login -u ada \\\n  -p Zx9!kelp8w \\\n  quay.io",
        '["redis-cli", "-a", "Zx9!kelp8w", "ping"]',
        "PGPASSWORD=Zx9!kelp8w psql -h db",
        "CREATE ROLE app WITH LOGIN PASSWORD 'Zx9!kelp8w';",
        "ALTER USER 'app'@'%' IDENTIFIED BY 'Zx9!kelp8w';",
        "INSERT INTO users (name, password) VALUES ('ada', 'Zx9!kelp8w');",
        "| user | password |\n|---|---|\n| ada | Zx9!kelp8w |",
        " user | password \n------+------------\n ada  | Zx9!kelp8w\n(1 row)",
        "+------+----------+\n| user | password |\n+------+----------+\n| ada  | Zx9!kelp8w |",
        "kubectl create secret generic db --from-literal user=bob --from-literal=x=Zx9!kelp8w",
        "vault kv put -mount=secret db user=bob token=Zx9!kelp8w",
        "DATABASE_URL=mysql://root:a/Zx9!kelp8w@db:3306/app",
        "login with Zx9!kelp8w as the password",
        "Das Passwort lautet Zx9!kelp8w",
        "creds: ada / Zx9!kelp8w",
        r"{\u0022password\u0022:\u0022Zx9!kelp8w\u0022}",
        "{&quot;password&quot;:&quot;Zx9!kelp8w&quot;}",
        "password:\n  Zx9!kelp8w\n",
        "app:Zx9!kelp8w@tcp(db:3306)/main",
        r'{"dsn":"postgres:\/\/app:Zx9!kelp8w@db\/main"}',
        r'{"log":"{\"dsn\":\"postgres:\\\/\\\/app:Zx9!kelp8w@db\"}"}',
        json.dumps(json.dumps(json.dumps(json.dumps({"client_secret": "Zx9!kelp8w"})))),
        r'{"log":"\u001b[36mpassword\u001b[0m=\u001b[33mZx9!kelp8w\u001b[0m"}',
        r"\x1b[36mpassword\x1b[0m=\x1b[1;33mZx9!kelp8w\x1b[0m",
        "^[[36mpassword^[[0m=^[[33mZx9!kelp8w^[[0m",
        "[36mpassword[39m=[33mZx9!kelp8w[39m",
        'a:1:{s:8:"password";s:10:"Zx9!kelp8w";}',
        'password|s:10:"Zx9!kelp8w";',
        "db_password                              => 'Zx9!kelp8w'",
        '<input value="Zx9!kelp8w" type="password">',
        "a.io\tTRUE\t/\tTRUE\t1799999999\tsid\tZx9Vkelp8wQ2rT7yLm4n",
        '[{"keyName": "key1", "permissions": "FULL", "value": "Zx9Vkelp8wQ2rT7yLm4n=="}]',
        '{"id": "https://v.vault.azure.net/secrets/db/1", "name": "db", "value": "Zx9!kelp8wQ2rT7"}',
    ],
)
def test_a_password_is_known_by_its_place_in_commands_statements_tables_prose_and_escapes(text: str) -> None:
    assert "kelp8w" not in redact_secrets(text).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("smtp.login(user, 'Zx9!kelp8w')", "smtp.login(user, '[redacted:password]')"),
        ('auth=(user, "karamell77")', 'auth=(user, "[redacted:password]")'),
        ("db.connect(host, user, 'Zx9!kelp8w')", "db.connect(host, user, '[redacted:password]')"),
        ('<add key="SmtpPassword" value="kelp8water"/>', '<add key="SmtpPassword" value="[redacted:password]"/>'),
        ('<add value="kelp8water" key="SmtpPassword"/>', '<add value="[redacted:password]" key="SmtpPassword"/>'),
        ("hunter2 is the password for prod", "[redacted:password] is the password for prod"),
        (
            "cat > .env <<EOF\nDB_PASS=kelp\nPW=kelpwater\nEOF",
            "cat > .env <<EOF\nDB_PASS=kelp\nPW=[redacted:password]\nEOF",
        ),
        (GITHUB.replace("_", "%5F"), "[redacted:github-token]"),
        (f'"{GITHUB[:2]}" + "{GITHUB[2:9]}" "{GITHUB[9:]}"', '"[redacted:github-token]"'),
    ],
)
def test_a_secret_is_known_by_a_call_an_attribute_a_sentence_a_here_document_or_joined(
    text: str, expected: str
) -> None:
    assert redact_secrets(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "smtp.login(user, 'settings/profile')",
        'sock.connect(host, port, "vhost123")',
        '<add key="PasswordResetUrl" value="https://vendor.io/reset2"/>',
        "Argon2id is the password hasher we use",
        "cat > .env <<EOF\nPORT=8080\nNODE_ENV=production2\nEOF",
        "cat > .env.example <<EOF\nDB_PASS=kelpwater\nEOF",
        "report%5Bfinal%5D.pdf",
        '"github" + "_" + "token"',
        r"https:\/\/cdn.vendor.io:8443\/app@2\/main.3f9d1c0b.js",
        r"\u001b[32mPASS\u001b[39m tests/token.test.ts (5.123 s)",
        "[32mpassword[39m is required",
        's:5:"token";s:11:"placeholder";s:4:"hash";s:8:"3f9d1c0b";',
        "password                              = var.db_password",
        '<input type="password" name="p" value="{{ form.password }}">',
        "a.io\tTRUE\t/\tFALSE\t1799999999\tconsent\tanalytics-yes-ads-no",
        '[{"keyName": "title2", "value": "Chapter 12, the second"}]',
        '{"keyName": "userId", "value": "3fa85f64-5717-4562-b3fc-2c963f66afa6"}',
    ],
)
def test_what_stands_in_such_a_place_and_is_no_secret_stays(text: str) -> None:
    assert redact_secrets(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "The password is correcthorse.",
        'the password for the staging box is now "correcthorse", use it',
        "Our vault passphrase is correcthorsebattery, please keep it",
        "the wifi password is `lemonpiekiwi`",
    ],
)
def test_a_password_of_letters_alone_is_known_by_the_sentence_that_states_it(text: str) -> None:
    redacted = redact_secrets(text).text
    assert "[redacted:password]" in redacted and "correcthorse" not in redacted and "lemonpie" not in redacted


@pytest.mark.parametrize(
    "text",
    [
        "The password is straightforward.",
        "the password is unrecoverable, so write it down",
        "the passphrase is autogenerated",
        "the old password is overwritten.",
        "if the password is notarealword.",
        'He said "the password is swordfish" is a cliché.',
        'the password is "required" here',
        'the password is "changeme"',
        "The passphrase is kept-elsewhere",
        "The password is bitwardenvault.com",
        "a password is everything",
    ],
)
def test_what_else_a_sentence_says_of_a_password_stays(text: str) -> None:
    assert redact_secrets(text).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password = [-OLD-]{+NEW+}", "password = [[redacted:password]]{+[redacted:password]+}"),
        ('password = {+"NEW"+}', 'password = {+"[redacted:password]"+}'),
        ("curl -u admin:{+NEW+} https://x", "curl -u admin:{+[redacted:password]+} https://x"),
        ("postgres://u:[-OLD-]{+NEW+}@host/db", "postgres://u:[-[redacted:url-password]-]{+[redacted:url-password]+}@host/db"),
        ("password = {+get_password()+}", "password = {+get_password()+}"),
        ("[-retries-]{+attempts+} = 5 {+# was 3+}", "[-retries-]{+attempts+} = 5 {+# was 3+}"),
    ],
)  # fmt: skip
def test_a_secret_is_found_behind_the_marks_of_a_diff_of_words(text: str, expected: str) -> None:
    text = text.replace("OLD", "hunter2Old9").replace("NEW", "kX93mQ72vLp")
    redacted = redact_secrets(text).text
    assert redacted == expected == redact_secrets(redacted).text


@pytest.mark.parametrize(
    "around", ["SAMLResponse=%s&RelayState=a", '"SAMLResponse": "%s"', '<input name="SAMLResponse" value="%s"/>']
)
def test_what_signs_its_bearer_in_by_saml_is_found_in_a_request_a_log_and_a_page(around: str) -> None:
    assert redact_secrets(around % ("PHNhbWxwOlJlc3BvbnNl" * 40 + "==")).text == around % "[redacted:saml-response]"
    assert redact_secrets(around % "the_response_of_the_provider").redactions == ()


def test_a_secret_in_base64_is_decoded_and_found() -> None:
    wrapped = base64.b64encode(b"DB_PASSWORD=Zx9!kelp8w\n").decode()
    assert redact_secrets(f"content: {wrapped}\n").text == "content: [redacted:encoded-secret]\n"
    harmless_text = base64.b64encode(b"hello world, this is fine\n").decode()
    assert redact_secrets(f"content: {harmless_text}\n").text == f"content: {harmless_text}\n"


def test_a_literal_in_pieces_is_read_as_one() -> None:
    head, tail = GITHUB[:28], GITHUB[28:]
    redacted = redact_secrets(f'url = ("{head}"\n       "{tail}")').text
    assert head not in redacted
    assert tail not in redacted


def test_one_pass_is_not_enough_where_a_secret_hid_behind_another(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "curl -u ada:Zx9!kelp8w 'Zx9!kelp8w"
    assert "kelp8w" not in redact_secrets(text).text
    monkeypatch.setattr("hyperloci.text.sanitize.redaction.MAX_PASSES", 1)
    assert "kelp8w" in redact_secrets(text).text


def test_forms_unseen_when_the_rules_were_written_are_found_and_their_look_alikes_left_alone() -> None:
    report = measure_redactor(
        lambda text: redact_secrets(text).text,
        secret_forms(1, part=Part.UNSEEN),
        list(look_alikes(1, part=Part.UNSEEN)),
    )
    assert report.recall >= 0.93
    assert report.false_positive_rate <= 0.02


def test_what_people_write_in_forty_languages_is_found_and_its_look_alikes_left_alone() -> None:
    report = measure_redactor(
        lambda text: redact_secrets(text).text, secret_forms(2, part=Part.TONGUES), look_alikes(2, part=Part.TONGUES)
    )
    assert report.recall >= 0.93
    assert report.false_positive_rate <= 0.01


@pytest.mark.parametrize(
    "shown",
    [
        "-{}", "+{}", "++{}", "+export {}", "> {}", "     3\t{}", "   3→{}", "3: {}", "12:{}", " 12 | {}",
        "src/.env.local:12:{}", ".env:{}", ".env-13-{}", '    "{}",', '    - "{}"', "  - {}",
    ],
)  # fmt: skip
def test_a_line_of_settings_is_one_in_a_diff_a_list_and_what_grep_shows_too(shown: str) -> None:
    line = shown.format("DB_PASSWORD=nJBcewJvEyWdin")
    assert redact_secrets(f"x\n{line}\ny").text == f"x\n{shown.format('DB_PASSWORD=[redacted:password]')}\ny"


@pytest.mark.parametrize(
    "text",
    [
        "+DB_PASSWORD=${DB_PASSWORD}", "src/a.sh:3:DB_PASSWORD=$(read_it)", "-FORGOT_PASSWORD=forgot-password",
        '    "RESET_PASSWORD=/reset/password",', "3: PASS=password", "see a.md:FOO_PASS=<yours>",
    ],
)  # fmt: skip
def test_such_a_line_without_a_secret_stays(text: str) -> None:
    assert redact_secrets(text).text == text


@pytest.mark.parametrize("order", ["abcdefghijklmnopqrstuvwxyz0123456789", "x" * 36])
def test_the_form_of_a_token_with_its_characters_in_order_is_an_example_and_stays(order: str) -> None:
    assert redact_secrets(f"the token is ghp_{order}").text == f"the token is ghp_{order}"
