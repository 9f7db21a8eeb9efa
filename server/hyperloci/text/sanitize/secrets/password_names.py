"""Password names: what passwords are called in further languages, with the endings that the words take there.

Some of these words mean "code", "word" or "slogan" as well; what stands behind them must look made, and where words
stand between, a verb must follow them: `κωδικός προϊόντος: AB-12` is a product's number. What begins like such a word
and speaks of encryption (`şifreleme`, `暗号化`) is none.
"""

from __future__ import annotations

from typing import Final

SPACED_NAMES: Final = {
    "şifre": r"şifre(?!l|siz)[a-zışğüöç]{0,6}",
    "كلمة": r"كلمة (?:المرور|مرور|السر|سر)(?:ك|ي|نا|ه|ها)?",
    "كلمات المرور": r"كلمات المرور",
    "الرمز السري": r"الرمز السري",
    "گذرواژه": r"گذرواژه",
    "رمز عبور": r"رمز عبور",
    "סיסמ": r"סיסמ(?:ה|א|ת)(?:נו)?",
    "पासवर्ड": r"पासवर्ड",
    "कूटशब्द": r"कूटशब्द",
    "পাসওয়ার্ড": r"পাসওয়ার্ড",
    "கடவுச்சொல்": r"கடவுச்சொல்",
    "lösenord": r"lösenord(?:et|en)?",
    "adgangskode": r"adgangskoden?",
    "kodeord": r"kodeord(?:et)?",
    "passord": r"passord(?:et)?",
    "lykilorð": r"lykilorð(?:ið)?",
    "salasana": r"salasana(?:mme|ni|si)?",
    "salasõna": r"salasõna",
    "parool": r"parool",
    "hesl": r"hesl(?:o|a|em|u)",
    "hasł": r"hasł(?:o|a|em|u)",
    "jelsz": r"jelsz(?:ó|av)[a-záéíóöőúüű]{0,4}",
    "lozink": r"lozink[aeu]m?",
    "лозинк": r"лозинк[аеу]м?",
    "парол": r"парол[а-яіїєґ]{0,4}",
    "slaptažod": r"slaptažod[a-zžįų]{1,4}",
    "contrasenya": r"contrasenya",
    "contrasinal": r"contrasinal",
    "pasahitza": r"pasahitza",
    "palavra-passe": r"palavra-passe",
    "senha": r"senha",
    "wachtwoord": r"wachtwoord",
    "fjalëkalimi": r"fjalëkalimi",
    "პაროლ": r"პაროლი?",
    "գաղտնաբառ": r"գաղտնաբառը?",
    "nenosiri": r"nenosiri",
    "mật khẩu": r"mật khẩu",
    "kata sandi": r"kata sandi(?:nya)?",
    "kata laluan": r"kata laluan(?:nya)?",
    "κωδικός πρόσβασης": r"κωδικός πρόσβασης",
    "συνθηματικό": r"συνθηματικό",
}
"""How a name begins, in small letters, and its pattern."""

AMBIGUOUS_NAMES: Final = {
    "parol": r"parol(?:a|ă|e)(?! chiave)(?:s[ıi]|m|n|m[ıi]z|n[ıi]z|y[ıi]|s[ıi]n[ıi])?",
    "κωδικ": r"κωδικ(?:[οό]ς|[οό]|ού|ου)(?! προϊόντ)",
    "geslo": r"geslo",
    "رمز": r"رمز",
}
"""The same, of words that mean other things as well."""

COMMON_UNSPACED_NAMES: Final = ("密码", "密碼", "口令", "パスワード", "비밀번호")
"""Names so common that a value may stand further behind them, as behind `password`."""

UNSPACED_NAMES: Final = {
    **{name: name for name in COMMON_UNSPACED_NAMES},
    "パスフレーズ": r"パスフレーズ",
    "暗証番号": r"暗証番号",
    "패스워드": r"패스워드",
    "รหัสผ่าน": r"รหัสผ่าน",
}
"""The same, where no blank need stand between the name, the verb and what follows."""

AMBIGUOUS_UNSPACED_NAMES: Final = {
    "암호": r"암호(?!화|학| ?알고| ?문)",
}

VERBS: Final = (
    r"är|er|je|је|on|e|è|é|és|ir|este|eshte|është|είναι|là|adalah|ialah|ay|to|jest|is|es|ist|artık|е|є|هي|هو"
    r"|היא|הוא|है|ni"
)
"""Words between blanks that may stand between a name and its value, in the languages of `SPACED_NAMES`."""

UNSPACED_VERBS: Final = r"は|が|是|为|為|은|는|이|가|คือ"
"""The same, in the languages of `UNSPACED_NAMES`, without blanks."""
