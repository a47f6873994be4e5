"""Security cases M, bodies: one meaning or none."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnia.api.parsing import DEEPEST, parse_json
from omnia.core.errors import BadInput

REFUSED = [
    (b"", "invalid_json"),
    (b"{", "invalid_json"),
    (b'{"a":1}x', "invalid_json"),
    (b"NaN", "invalid_json"),
    (b"[Infinity]", "invalid_json"),
    (b"[1e999]", "invalid_json"),
    (b'["\\ud800"]', "invalid_json"),
    (b'["\xed\xa0\x80"]', "invalid_json"),
    (b'["\xff"]', "invalid_json"),
    (b"\xef\xbb\xbf{}", "invalid_json"),
    ('{"a":1}'.encode("utf-16"), "invalid_json"),
    (b'["\x00"]', "invalid_json"),
    (b"[" * 100_000, "invalid_json"),
    (b"5" * 5000, "invalid_json"),
    (b"[12345678901234567890]", "number_out_of_range"),
    (b"[-9223372036854775809]", "number_out_of_range"),
    (b"[9223372036854775808]", "number_out_of_range"),
    (b'{"a":["\\u0000"]}', "nul_character"),
    (b'{"\\u0000":1}', "nul_character"),
    (b'{"a":1,"a":1}', "duplicate_key"),
    (b'{"a":1,"\\u0061":2}', "duplicate_key"),
    (b'[{"x":[{"a" \n: 1 , "a"\t: 2}]}]', "duplicate_key"),
    (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "too_deep"),
    (b'{"a":' * 1000 + b"1" + b"}" * 1000, "too_deep"),
]


@pytest.mark.parametrize(("body", "code"), REFUSED, ids=[str(body[:24]) for body, _ in REFUSED])
def test_refused(body, code):
    with pytest.raises(BadInput) as refusal:
        parse_json(body)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"[9223372036854775807]", [2**63 - 1]),
        (b"[-9223372036854775808]", [-(2**63)]),
        (b'["12345678901234567890"]', ["12345678901234567890"]),
        (b"[0.12345678901234567890]", [0.12345678901234568]),
        (b'["\\\\u0000"]', ["\\u0000"]),
        (b'{"a":"x\\":","b":"a"}', {"a": 'x":', "b": "a"}),
        (b"[" * DEEPEST + b"]" * DEEPEST, None),
    ],
)
def test_accepted(body, value):
    parsed = parse_json(body)
    assert value is None or parsed == value


_TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=8,
)


@given(_VALUES, st.booleans())
def test_every_sound_value_is_read_as_it_was_written(value, ascii_only):
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only, indent=1).encode()) == value


@given(st.dictionaries(_TEXTS, _VALUES, min_size=1, max_size=4))
def test_a_repeated_key_is_found_wherever_it_stands(value):
    name = next(iter(value))
    body = json.dumps(value)[:-1] + f", {json.dumps(name)}: null}}"
    with pytest.raises(BadInput, match="twice"):
        parse_json(body.encode())


@given(st.binary())
def test_no_body_makes_it_fail_in_another_way(body):
    with suppress(BadInput):
        parse_json(body)
