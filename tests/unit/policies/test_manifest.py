"""Policy files: YAML and JSON, each text with one meaning or none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnia.core.errors import BadInput
from policies.domain.manifest import DEEPEST, MOST_VALUES, dump_document, load_documents

READ: list[tuple[str, list[Any]]] = [
    ("a: 1", [{"a": 1}]),
    ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    ("---\na: 1\n---\n---\n# nothing\n", [{"a": 1}]),
    ("", []),
    ("# only a remark\n", []),
    ('{"a": [1, 2.5, true, null, "x"]}', [{"a": [1, 2.5, True, None, "x"]}]),
    ('{"a": "\\ud83d\\ude00"}', [{"a": "\U0001f600"}]),
    ("{a: 1}", [{"a": 1}]),
    ('{"a": 1}\n---\n{"b": 2}', [{"a": 1}, {"b": 2}]),
    # what is a text stays a text
    ("at: 2026-06-01T12:00:00Z", [{"at": "2026-06-01T12:00:00Z"}]),
    ("on: yes\nno: off", [{"on": "yes", "no": "off"}]),
    ("a: 12:30:45", [{"a": "12:30:45"}]),
    ("a: 1_000", [{"a": "1_000"}]),
    ("a: 0x10", [{"a": "0x10"}]),
    ("a: ३", [{"a": "३"}]),
    ("a: 180d", [{"a": "180d"}]),
    ("<<: {a: 1}", [{"<<": {"a": 1}}]),
    ("a: '0.95'", [{"a": "0.95"}]),
    ("7: x", [{"7": "x"}]),
    # what is a value is that value
    ("a: 0.95", [{"a": 0.95}]),
    ("a: -3", [{"a": -3}]),
    ("a: 010", [{"a": 10}]),
    ("a: 1e3", [{"a": 1000.0}]),
    ("a: True\nb: FALSE\nc: ~\nd:", [{"a": True, "b": False, "c": None, "d": None}]),
    ("a: &x [1]\nb: *x", [{"a": [1], "b": [1]}]),
]


@pytest.mark.parametrize(("text", "documents"), READ)
def test_a_file(text: str, documents: list[Any]) -> None:
    assert load_documents(text) == documents


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
REFUSED = [
    ("a: 1\na: 2", "a key stands twice"),
    ("x: {a: 1, a: 1}", "a key stands twice"),
    ('{"a": 1, "a": 1}', "a key stands twice"),
    ("7: x\n'7': y", "a key stands twice"),
    ("a: .nan", "not numbers"),
    ("a: .inf", "not numbers"),
    ("a: -.INF", "not numbers"),
    ('{"a": NaN}', "not numbers"),
    ('{"a": -Infinity}', "not numbers"),
    ("? [a]\n: b", "a key must be a text"),
    ("? {a: b}\n: c", "a key must be a text"),
    ("a: [1", "line 1"),
    ("a: 1\n b: 2", "line 2"),
    ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
    ("a: !!set {x}", "could not determine a constructor"),
    ("a: *nowhere", "undefined alias"),
    ("a: &a [*a]", "aliases written out"),
    (BOMB, "aliases written out"),
    ("[" * 100_000, "nests deeper"),
    ('{"a":' * 100_000, "nests deeper"),
    ("a: " + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "levels deep"),
    ("[" + "1," * MOST_VALUES + "1]", "values"),
    ("- 1\n" * MOST_VALUES, "values"),
    ("[" + "1," * MOST_VALUES + "1", "values"),
    ('a: "\\0"', "NUL"),
    ('"\\0": a', "NUL"),
    ('a: "\\ud800"', "surrogate"),
    ('{"a": "\\ud800"}', "surrogate"),
    ("a: \x07", "not valid YAML"),
    ("a: " + "9" * 20, "beyond 64 bits"),
    ("a: " + "9" * 10_000, "cannot be read"),
    ('{"a": ' + "9" * 10_000 + "}", "cannot be read"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[text[:24] for text, _ in REFUSED])
def test_a_file_that_is_refused_says_why(text: str, why: str) -> None:
    with pytest.raises(BadInput) as refusal:
        load_documents(text)
    assert refusal.value.code == "invalid_manifest"
    assert why in refusal.value.detail


@given(st.text() | st.text(alphabet="{}[]:,&*!?-#'\"\\ \n~0129aeNnft<>|%@`"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        load_documents(text)
    except BadInput as error:
        assert error.code == "invalid_manifest"  # noqa: PT017 - either outcome is right


TEXTS = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc"))) | st.sampled_from(
    ["1e3", "1", "0x10", "012", "1_000", "on", "no", "true", "null", "~", "", " ", "180d", "0.95", ".5", "2026-01-31", "=",
     "<<", "- a", "a: b", "#", "1:30", "2026-01-31T10:00:00Z", ".nan", "a\nb\n", "'", '"', "@", "`", "%", "&a", "*a", "!x"]
)  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**63, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1))
def test_what_is_written_is_read_back_as_it_was(document: dict[str, object]) -> None:
    assert load_documents(dump_document(document)) == [document]
