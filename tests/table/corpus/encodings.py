"""Encodings: marks, guesses, requests, and bytes that are none."""

from __future__ import annotations

from tests.table.corpus.cases import AB, PLAIN, Bad, Good, bad, good, text

CITIES = {"name": ["Zoë", "José"], "city": ["Köln", "Málaga"]}
CITIES_TEXT = "name,city\nZoë,Köln\nJosé,Málaga\n"
KANJI = {"名前": ["太郎", "花子"], "都市": ["東京", "大阪"]}
KANJI_TEXT = "名前,都市\n太郎,東京\n花子,大阪\n"

ENCODINGS = [
    good("utf8", CITIES_TEXT, CITIES, quiet=True),
    good("utf8 with byte-order mark", CITIES_TEXT.encode("utf-8-sig"), CITIES, quiet=True),
    good("utf16 le with mark", b"\xff\xfe" + CITIES_TEXT.encode("utf-16-le"), CITIES),
    good("utf16 be with mark", b"\xfe\xff" + CITIES_TEXT.encode("utf-16-be"), CITIES),
    good("utf16 le without mark", PLAIN.encode("utf-16-le"), AB, notes=["encoding utf-16-le"]),
    good("utf16 be without mark", PLAIN.encode("utf-16-be"), AB, notes=["encoding utf-16-be"]),
    good("utf32 le with mark", b"\xff\xfe\0\0" + CITIES_TEXT.encode("utf-32-le"), CITIES),
    good("latin-1", CITIES_TEXT.encode("latin-1"), CITIES, notes=["encoding cp1252, guessed"]),
    good(
        "cp1252 with typographic quotes",
        "a,b\n1,“so” – €\n2,“ja”\n".encode("cp1252"),
        {"a": [1, 2], "b": ["“so” – €", "“ja”"]},
        notes=["encoding cp1252"],
    ),
    good("shift-jis", KANJI_TEXT.encode("shift_jis"), KANJI, notes=["encoding cp932"]),
    text("euc-jp on request", KANJI_TEXT.encode("euc-jp"), Good(KANJI), encoding="euc-jp"),
    good(
        "cp1251",
        "имя,город\nИван,Москва\nОльга,Казань\n".encode("cp1251"),
        {"имя": ["Иван", "Ольга"], "город": ["Москва", "Казань"]},
        notes=["encoding cp1251"],
    ),
    text("latin-1 on request", CITIES_TEXT.encode("latin-1"), Good(CITIES), encoding="latin-1"),
    bad(
        "one invalid byte in utf8",
        (CITIES_TEXT + "ok,ok\n").encode() + b"caf\xe9,x\n",
        "t.csv, line 5: byte 0xe9 is not valid UTF-8",
        "give the encoding",
    ),
    text(
        "wrong encoding on request",
        CITIES_TEXT.encode("latin-1"),
        Bad(["t.csv, line 2: byte 0xeb is not valid utf-8 (as requested)", "right encoding"]),
        encoding="utf-8",
    ),
    bad(
        "utf16 cut in the middle",
        b"\xff\xfe" + PLAIN.encode("utf-16-le")[:-1],
        "not valid utf-16-le",
    ),
    bad(
        "unreadable encoding",
        b"a,b\n1,\x81\x8d\x81\xff\x9d\n" * 3,
        "line 2",
        "could not be guessed",
    ),
    good(
        "emoji and combining marks",
        "a,b\n1,👩‍🔬\n2,e\u0301\n",
        {"a": [1, 2], "b": ["👩‍🔬", "e\u0301"]},
    ),
]
