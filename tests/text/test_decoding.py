"""Bytes to text: in whatever encoding people saved it, and no text where there is none."""

from __future__ import annotations

import random

import pytest

from hyperloci.text.decoding import HEAD_BYTES, decode_head, decode_text, is_text

JAPANESE = "このファイルは設定を読み込みます。エラーが発生した場合は例外を投げます。\ndef main(): pass\n"
CHINESE = "这个函数是用来读取配置的，如果出现错误会抛出异常。我们在这里说明了所有的参数。\n"
TRADITIONAL = "這個函數是用來讀取設定的，如果出現錯誤會拋出異常。我們在這裡說明了所有的參數。\n"
KOREAN = "이 함수는 설정을 읽습니다. 오류가 발생하면 예외를 던집니다.\n"
RUSSIAN = "Эта функция читает настройки. Если возникает ошибка, то бросает исключение.\n"
FRENCH = "// Déjà vu : l'été où le naïve café à la crème – “coûte” … 100 €\nint main() {}\n"
GERMAN = "Größe und Übermaß, schön für Äpfel und Öl.\n"
ENGLISH = "Plain words.\nint main() { return 0; }\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((JAPANESE, encoding) for encoding in ("cp932", "euc_jp", "utf-8", "utf-16", "utf-32")),
        *((CHINESE, encoding) for encoding in ("gb18030", "gbk", "utf-8-sig")),
        (TRADITIONAL, "big5"),
        *((KOREAN, encoding) for encoding in ("euc_kr", "cp949")),
        *((RUSSIAN, encoding) for encoding in ("cp1251", "koi8_r", "utf-16")),
        *((FRENCH, encoding) for encoding in ("cp1252", "utf-16-le", "utf-16-be", "utf-32-be")),
        *((GERMAN, encoding) for encoding in ("latin-1", "cp1252", "utf-16-le")),
        *((ENGLISH, encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32")),
    ],
)
@pytest.mark.parametrize("times", [1, 400])
def test_a_text_is_read_in_the_encoding_it_was_saved_in(text: str, encoding: str, times: int) -> None:
    data = (text * times).encode(encoding)
    assert decode_text(data) == text * times
    assert is_text(data[:HEAD_BYTES])
    assert decode_head(data[:HEAD_BYTES])[:50] == (text * times)[:50]


def test_a_few_damaged_bytes_do_not_make_another_encoding_of_utf_8() -> None:
    data = (RUSSIAN * 20).encode()
    assert decode_text(data[:301] + b"\xff\xfe" + data[302:]) is not None
    text = decode_text(data + b"\xff")
    assert text is not None and text.startswith(RUSSIAN) and text.endswith("\ufffd")


def test_what_is_no_text_stays_none() -> None:
    chance = random.Random(7)
    for _ in range(300):
        data = b"\x89\0" + chance.randbytes(chance.randrange(40, 3_000))
        assert decode_text(data) is None
        assert not is_text(data[:HEAD_BYTES])
    assert decode_text(b"x = 1\0\0\ny = 2\n") is None
    assert decode_text(b"\0" * 1_000) is None
    assert decode_text(b"") == ""
