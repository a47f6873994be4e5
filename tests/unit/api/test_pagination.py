"""Security case 258: a cursor is opaque, and a changed one is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnia.api.pagination import decode_cursor, encode_cursor
from omnia.core.errors import BadInput

POSITION: list[str | int] = ["2026-01-31T09:30:00Z", "01a22e4f-594c-7c82-ac0e-e4e65dff07c8", 3]


def test_a_cursor_comes_back_as_it_went():
    assert decode_cursor(encode_cursor(POSITION, purpose="memories"), purpose="memories") == POSITION


def test_a_cursor_of_another_list_is_refused():
    with pytest.raises(BadInput) as refusal:
        decode_cursor(encode_cursor(POSITION, purpose="memories"), purpose="policies")
    assert refusal.value.code == "invalid_cursor"


@given(st.integers(0), st.characters(codec="ascii"))
def test_a_cursor_with_one_character_changed_is_refused(place, letter):
    cursor = encode_cursor(POSITION, purpose="memories")
    at = place % (len(cursor) - 1)  # the last character holds bits that base64 does not read
    changed = cursor[:at] + letter + cursor[at + 1 :]
    if changed != cursor:
        with pytest.raises(BadInput):
            decode_cursor(changed, purpose="memories")


@given(st.text())
def test_any_other_text_is_refused(text):
    with pytest.raises(BadInput):
        decode_cursor(text, purpose="memories")
