"""A text's category is told by its words, and only ever raised (reference: Consent; security case 298)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.domain.consent import CATEGORIES, upward
from memories.domain.sensitive import LONGEST_READ, classified

TOLD = [
    # what a text says, its category
    ("Was diagnosed with type 2 diabetes in March", "memory:health"),
    ("User is allergic to peanuts and carries an EpiPen", "memory:health"),
    ("takes sertraline every morning", "memory:health"),
    ("She is PREGNANT", "memory:health"),
    ("ｄｉａｂｅｔｅｓ runs in the family", "memory:health"),
    ("dia\u00adbetes, dia\u200bbetes", "memory:health"),
    ("Alzheimer\u2019s", "memory:health"),
    ("Passport number is X1234567", "memory:identity"),
    ("SSN 123-45-6789", "memory:identity"),
    ("Pays from DE89 3704 0044 0532 0130 00", "memory:identity"),
    ("The card is 4111 1111 1111 1111", "memory:identity"),
    ("Date of birth: 4 May 1980", "memory:identity"),
    ("Lives in Lyon", "memory:location"),
    ("The user lives at 5 High Street", "memory:location"),
    ("They are staying at the Ritz", "memory:location"),
    ("Parked at 45.76404, 4.83566", "memory:location"),
    ("Home address: 5 High Street; diabetic", "memory:health"),
]
UNTOLD = [
    "Prefers dark mode and short answers",
    "The bug lives in the parser",
    "The service moved to PostgreSQL 18",
    "Build 2026-11-30 failed at step 4",
    "Order 12345 arrives on Monday",
    "Likes hiking, and trains for a marathon",
    "Please address the review comments",
    "The doctor's appointment module needs a test",
    "Calls the API 1000 times a minute",
    "Version 1.234, 5.678 of the library",
    "Uses the phone number field of the form",
    "",
]


@pytest.mark.parametrize(("text", "category"), TOLD)
def test_a_sensitive_text_is_told(text: str, category: str) -> None:
    assert classified(None, [text]) == category


@pytest.mark.parametrize("text", UNTOLD)
def test_another_text_is_left_as_its_writer_stated(text: str) -> None:
    assert classified(None, [text]) is None
    assert classified("memory:context", [text]) == "memory:context"


@pytest.mark.parametrize("stated", [None, *sorted(CATEGORIES)])
def test_a_category_is_never_lowered(stated: str | None) -> None:
    for text, told in TOLD:
        assert classified(stated, [text]) == upward(stated, told)


@given(st.lists(st.text(max_size=50), max_size=3), st.sampled_from([None, *sorted(CATEGORIES)]))
def test_whatever_a_text_says(texts: list[str], stated: str | None) -> None:
    found = classified(stated, texts)
    assert upward(stated, found) == found


@pytest.mark.parametrize("piece", ["1234 ", "de89 ", "lives ", "1.234,", "a", "\u00ad", "side effect", "4111-", "i li"])
def test_a_hostile_text_is_read_to_its_end(piece: str) -> None:
    """No pattern backtracks: a text of any size takes its length, and what lies behind the limit is not read."""
    text = (piece * (LONGEST_READ // len(piece)))[:LONGEST_READ]
    classified(None, [text])
    assert classified(None, [" " * LONGEST_READ + "diabetes"]) is None
