"""The rules of every game that ships, in Spanish as in English."""

from __future__ import annotations

import inspect
import re

import pytest

from tapete.core import variants
from tapete.core.names import playable
from tapete.web.catalogue import rules

FOR_PROGRAMS = (
    r"^## (?:Notation|Observation|Features|Sources|Size|Counts|What|Who|How moves|How it is written|A table of)"
)
HIDDEN = {"position"}  # for those who write code: the page doesn't offer it either


def cells(text: str) -> list[list[str]]:
    """The numbers in the last two columns of every row of a table, where there are some."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [
        found
        for row in rows
        if len(row) >= 3 and any(found := [cell.strip() for cell in row[-2:] if cell.strip().isdigit()])
    ]


@pytest.mark.parametrize("name", playable())
def test_the_rules_are_there_in_spanish_as_in_english(name: str) -> None:
    english, spanish = rules(name), rules(name, "es")
    shown = re.split(FOR_PROGRAMS, english, maxsplit=1, flags=re.MULTILINE)[0]
    assert spanish != english
    assert len(spanish) > 0.6 * min(len(shown), 5000)
    assert not re.search(r"\b(the|player|plays|whoever)\b", spanish)
    for parameter in inspect.signature(variants()[name].spec).parameters:
        assert parameter in HIDDEN or f"`{parameter}`" in spanish or name == "blotto"


def test_the_tables_of_truco_say_the_same_in_both_languages() -> None:
    english, spanish = (cells(rules("truco", language)) for language in ("en", "es"))
    assert len(spanish) > 15
    assert [row for row in english if len(row) == 2] == [row for row in spanish if len(row) == 2]


@pytest.mark.parametrize("language", ["", "en", "de", "../truco/x", "es/../../x"])
def test_in_any_other_language_they_are_english(language: str) -> None:
    assert rules("kuhn", language) == rules("kuhn")
