"""What a save refuses: 400 with a pointer, nothing stored, and nothing of the text in the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support import Store, opened_store, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


WRONG: list[tuple[str, list[Any]]] = [
    # field, values it refuses
    ("type", [None, 1, True, "", " ", ["fact"], "t" * 129, "fa\nct", {}]),
    ("content", [None, 1, ["x"], {"text": "x"}]),
    ("confidence", ["0.5", -0.01, 1.01, True, [], 1e308]),
    ("metadata", [[], "x", {"a": 1}, {"a": None}, {"a": {"b": "c"}}, {"": "x"}, {"a\u0007": "x"}, {"k" * 129: "x"},
                  {str(number): "" for number in range(65)}, {"a": "x" * 16_384}]),
    ("provenance", ["", "gate", "document", 1, ["user_requested"], "User_Requested"]),
    ("category", ["health", "memory:Health", "memory:unknown", "", 1, "m" * 65]),
    ("title", [1, ["x"], "t" * 1025]),
    ("summary", [1, "s" * 8193]),
    ("purpose", ["", " ", 1, "p" * 129, "a\tb"]),
    ("container", ["", " ", 1, "c" * 254, "a\u0085b"]),
    ("session_id", ["", "\u3000", 1, "s" * 254]),
    ("turn_range", [[], [1], [1, 2, 3], [2, 1], [-1, 2], [1.5, 2], ["1", "2"], "12", [0, 2**31], {"0": 1, "1": 2}]),
    ("observed_at", ["2026-01-31", "2026-01-31T10:00:00", "2026-02-30T10:00:00Z", "0001-01-01T00:00:00+14:00",
                     "9999-12-31T23:59:59-14:00", "2026-06-30T23:59:60Z", 1_790_000_000, "yesterday", ""]),
    ("expires_at", ["2999-01-31", "2999-01-31T10:00:00", "2001-01-01T00:00:00Z", 9_790_000_000, True]),
    ("share", ["yes", "user", 1, None, [], "true"]),
    ("about", [1, [], "user", {}]),
    ("scope", ["u1", [], 1]),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG for value in values], ids=repr)
def test_a_field_at_fault_is_pointed_at(store: Store, field: str, value: Any) -> None:
    body = {"scope": {"workspace_id": str(store.workspace), "user_id": "u1"}, "type": "fact", "content": "SECRETWORD"}
    refused = store.send("POST", "memories", body | {field: value}, status=400)
    assert refused["errors"][0]["pointer"].split("/")[1] == field
    assert refused["code"]
    assert "SECRETWORD" not in json.dumps(refused)
    assert not store.rows("id")


def test_every_field_at_fault_is_named_at_once(store: Store) -> None:
    refused = store.save(confidence=2, turn_range=[2, 1], metadata={"a/b~": 1}, status=400)
    pointers = {problem["pointer"] for problem in refused["errors"]}
    assert pointers == {"/confidence", "/turn_range", "/metadata/a~1b~0"}
    assert refused["status"] == 400
    assert refused["error"] == refused["detail"]


SILENT = ["", " ", "\n\t", "...", "-", "?!", "…", "\u200b", "\u200b\ufeff\u2060", "\u00ad", "\u3000", "\u3164", "\u2800",
          "\u0301", "\u202e\u202c", "\ufe0f", "¿", "「」", "\x01\x02"]  # fmt: skip
SPEAKING = ["🙂", "❤️", "👩‍👩‍👧", "a", "7", "日", "ท", "°", "+", "$", "...ok", "\u202eabc"]


@pytest.mark.parametrize("content", SILENT, ids=ascii)
def test_a_body_that_says_nothing_is_refused(store: Store, content: str) -> None:
    refused = store.save(content, status=400)
    assert refused["code"] == "content_empty"
    assert refused["errors"][0]["pointer"] == "/content"
    assert not store.rows("id")


@pytest.mark.parametrize("content", SPEAKING, ids=ascii)
def test_a_body_that_says_something_is_kept_as_it_is(store: Store, content: str) -> None:
    assert store.save(content)["memory"]["content"] == content


IDS = [" ", "\t", "\u3000", "u" * 254, "a\nb", "a\u0000b", 1, True, ["u1"], {"id": "u1"}]


@pytest.mark.parametrize("part", ["virtual_user_id", "user_id", "agent_id", "workspace_id"])
@pytest.mark.parametrize("value", IDS, ids=ascii)
def test_an_id_that_is_none_is_refused(store: Store, part: str, value: Any) -> None:
    scope = {"workspace_id": str(store.workspace), "user_id": "u1"} | {part: value}
    answer = store.client.post(
        "/api/v1/memories", {"scope": scope, "type": "fact", "content": "x"}, content_type="application/json"
    )
    assert answer.status_code == 400
    assert not store.rows("id")


@pytest.mark.parametrize("ident", ["main", "or", "a-b", "ann@example.org", "ünï", "018f0000-0000-7000-8000-000000000000",
                                   "a b", "%", "_", "'; --", "null", "*", "u" * 253])  # fmt: skip
def test_any_printable_id_is_an_id(store: Store, ident: str) -> None:
    store.save("Keeps bees", user=ident, container=ident)
    assert [memory["scope"]["virtual_user_id"] for memory in store.recall("bees", user=ident)["memories"]] == [ident]
    assert store.browse(user_id=ident)["total"] == 1
    assert store.recall("bees", user="someone else")["memories"] == []


RAW = [
    # the body's text, code
    ('{"content": "\\ud83d"}', "invalid_json"),
    ('{"content": "\\u0000"}', "nul_character"),
    ('{"ignored": "\\u0000"}', "nul_character"),
    ('{"type": "fact", "type": "general"}', "duplicate_key"),
    ('{"confidence": NaN}', "invalid_json"),
    ('{"confidence": 1e999}', "invalid_json"),
    ("[1]", "invalid_json"),
    ("{", "invalid_json"),
    ("[" * 1000 + "]" * 1000, None),
    ("", "invalid_json"),
]


@pytest.mark.parametrize(("text", "code"), RAW)
def test_a_body_that_is_no_sound_object_is_refused(store: Store, text: str, code: str | None) -> None:
    refused = store.send("POST", "memories", text, status=400)
    assert code in (None, refused["code"])
    assert not store.rows("id")


def test_a_scope_named_twice_must_agree(store: Store) -> None:
    body = {"scope": {"workspace_id": str(store.workspace), "virtual_user_id": "u1"}, "type": "fact", "content": "x"}
    assert store.send("POST", "memories", body | {"user_id": "u2"}, status=400)["code"] == "scope_mismatch"
    refused = store.send("POST", "memories", body, status=400, query={"user_id": "u2"})
    assert refused["code"] == "scope_mismatch"
    assert not store.rows("id")
    both = {"workspace_id": str(store.workspace), "virtual_user_id": "u1", "user_id": "legacy", "agent_id": ""}
    saved = store.send("POST", "memories", body | {"scope": both}, status=201)["memory"]
    assert saved["scope"] == {"workspace_id": str(store.workspace), "virtual_user_id": "u1"}


EXPIRY = [
    # seconds from now, whether it is taken
    (-1, False),
    (-(10**9), False),
    (60, True),
]


@pytest.mark.parametrize(("seconds", "taken"), EXPIRY)
def test_an_expiry_lies_in_the_future(store: Store, seconds: int, taken: bool) -> None:
    at = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
    answer = store.save(expires_at=at, status=201 if taken else 400)
    if not taken:
        assert answer["code"] == "expires_in_the_past"


def test_a_memory_is_gone_the_moment_it_expires(store: Store) -> None:
    memory = store.save("Keeps bees", expires_at="2999-01-01T00:00:00Z")["memory"]["id"]
    run("UPDATE memories_memory SET expires_at = now() WHERE id = %s", memory)
    assert store.recall("bees")["memories"] == store.browse()["memories"] == store.search("bees")["memories"] == []
    assert store.browse()["total"] == 0
    for missing in (store.open(memory, status=404), store.history(memory, status=404)):
        assert missing["code"] == "memory_not_found"
    store.patch(memory, {"content": "x"}, status=404)
    store.forget(memory, status=404)
