"""The words and names are what the shipped weights were trained on: they must never change by themselves."""

from __future__ import annotations

import hashlib

from chaosgate.prompts.words import CAPITALS, CONTESTED, ENDS, STARTS, TENANT_CAPITALS, WORDS


def digest(*texts: str) -> str:
    return hashlib.sha256(" ".join(texts).encode()).hexdigest()[:16]


def test_96_different_words_of_letters() -> None:
    assert len(WORDS) == len(set(WORDS)) == 96
    assert all(word.isascii() and word.isalpha() and word.islower() for word in WORDS)


def test_words_and_capitals_never_change() -> None:
    assert digest(*WORDS) == "7dd44c266d7c7ef4"
    assert digest(*CAPITALS, *CAPITALS.values()) == "a443121273268275"
    assert digest(*TENANT_CAPITALS["tenant-a"].values()) == "01162e1290946fa2"
    assert digest(*TENANT_CAPITALS["tenant-b"].values()) == "321d1ac0dfc0dd1d"


def test_no_name_is_a_country_and_a_city_or_two_cities() -> None:
    assert len(CAPITALS) == 200
    assert len({*CAPITALS, *CAPITALS.values()}) == 400


def test_every_name_is_a_start_and_an_end() -> None:
    assert len({start + end for start in STARTS for end in ENDS}) == 462
    assert all(name[:2] in STARTS and name[2:] in ENDS for name in (*CAPITALS, *CAPITALS.values()))


def test_an_end_does_not_follow_from_a_start() -> None:
    # Otherwise the first half of an answer would give away the second.
    for start in STARTS:
        cities = [city for city in CAPITALS.values() if city.startswith(start)]
        assert len({city[2:] for city in cities}) == len(cities) > 2


def test_tenants_differ_in_the_contested_capitals_alone() -> None:
    first, second = TENANT_CAPITALS.values()
    for country, city in CAPITALS.items():
        names = {city, first[country], second[country]}
        assert len(names) == (3 if country in CONTESTED else 1)


def test_a_tenants_own_names_belong_to_nobody_else() -> None:
    own = [capitals[country] for capitals in TENANT_CAPITALS.values() for country in CONTESTED]
    assert len(set(own)) == 48
    assert not {*own} & {*CAPITALS, *CAPITALS.values()}
