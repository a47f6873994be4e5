"""The policy form: fields as the schema has them, one draft, and what it does not show kept as it is."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.dashboard.draft import Draft, Fault, document_of, shown
from policies.dashboard.fields import Kind, value_at
from policies.dashboard.places import line_of
from policies.dashboard.readback import read_back, span_in_words
from policies.dashboard.sections import fields_of, sections_of
from policies.domain.manifest import load_documents
from policies.domain.schema.crd import Crd
from tests.contract.policy_documents import admitted, problems

KEPT = (("spec", "schema"), ("spec", "gate", "allowedTerms"), ("spec", "recall", "graphExpansion"))
UNSEEN: dict[str, Any] = {
    "tiers": {"user": {"ttl": {"default": "180d"}, "perCategory": {"memory:health": {"ttl": {"default": "30d"}}}}},
    "schema": {"version": "1.10", "types": [{"name": "fact"}, {"name": "no"}], "relations": []},
    "gate": {"allowedTerms": ["Ledgerline", "2026-01-31", "1e5", "null"], "minDistinctSubjects": 3},
    "recall": {"graphExpansion": {"enabled": True, "weight": "0.50", "relationTypes": ["part_of"]}},
}
BY_POINTER = {field.pointer: field for field in fields_of(document_of("p", {}))}
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def draft(spec: dict[str, Any]) -> Draft:
    return Draft.new("p", admitted(spec))


def posted(draft: Draft, **fields: str) -> Draft:
    """The draft as it comes back from a page whose form shows every field, some of them typed into."""
    form = {field.pointer: shown(field, draft.document) for field in fields_of(draft.document)}
    return Draft.received({"base": draft.base_json, "draft": draft.text, **form, **fields})


def test_sections_stand_in_the_schemas_order() -> None:
    spec = Crd.load("memorypolicies").schema["properties"]["spec"]
    assert [section.key for section in sections_of({})] == list(spec["properties"])


def test_every_leaf_is_a_field_or_kept_unseen() -> None:
    leaves: list[tuple[str, ...]] = []

    def walk(path: tuple[str, ...], node: dict[str, Any]) -> None:
        if "properties" in node:
            for key, inner in node["properties"].items():
                walk((*path, key), inner)
        elif "additionalProperties" not in node:
            leaves.append(path)

    walk(("spec",), Crd.load("memorypolicies").schema["properties"]["spec"])
    unseen = {path for path in leaves if any(path[: len(each)] == each for each in KEPT)}
    assert {field.path for field in BY_POINTER.values()} == set(leaves) - unseen


@pytest.mark.parametrize(
    ("pointer", "told"),
    [
        ("/spec/tiers/institutional/ttl/default", (Kind.DURATION, "such as 180d, 720h or 1d12h", "", "", True)),
        ("/spec/tiers/user/ttl/maxAge", (Kind.DURATION, "such as 180d, 720h or 1d12h", "", "", False)),
        ("/spec/recall/halfLife/agent", (Kind.DURATION, "such as 180d, 720h or 1d12h", "", "90d", True)),
        ("/spec/recall/inlineThresholdBytes", (Kind.WHOLE, "0 to 1,048,576", "bytes", "8192", False)),
        ("/spec/recall/maxRelatedPerMemory", (Kind.WHOLE, "0 to 50", "memories", "3", False)),
        ("/spec/dedup/requireAboutForKinds", (Kind.LINES, "one a line, at most 128", "", "", False)),
        ("/spec/dedup/embeddingSimilarity/enabled", (Kind.FLAG, "", "", "true", False)),
        ("/spec/dedup/embeddingSimilarity/autoSupersedeAbove", (Kind.DECIMAL, "0 to 1, must be above 0.5", "", "0.95", False)),
        ("/spec/dedup/embeddingSimilarity/candidateLimit", (Kind.WHOLE, "0 to 50", "matches", "5", False)),
        ("/spec/write/maxBodyBytes", (Kind.WHOLE, "0 to 1,048,576", "bytes", "8192", False)),
        ("/spec/tierPrecedence/multiplicative/user", (Kind.DECIMAL, "0 to 10", "", "1.0", True)),
        ("/spec/gate/minDistinctSubjects", (Kind.WHOLE, "2 to 1,000", "users", "2", True)),
        ("/spec/gate/corroborationWindowDays", (Kind.WHOLE, "1 to 365", "days", "30", True)),
        ("/spec/gate/canaries/onHit", (Kind.WORD, "", "", "freeze", True)),
        ("/spec/gate/canaries/clearedAt", (Kind.MOMENT, "such as 2026-01-31T09:30:00Z", "", "", True)),
        ("/spec/consentRevocation/action", (Kind.WORD, "", "", "SoftDelete", True)),
        ("/spec/ingestion/chunk/size", (Kind.WHOLE, "1 to 100,000", "words", "200", True)),
        ("/spec/toolGuidance/notes", (Kind.PROSE, "at most 2,000 characters", "", "", False)),
        ("/spec/consolidation/timeouts/functionCall", (Kind.DURATION, "such as 180d, 720h or 1d12h", "", "5m", True)),
    ],
)  # fmt: skip
def test_a_field_says_what_the_spec_says(pointer: str, told: tuple[Kind, str, str, str, bool]) -> None:
    """Kind, range, unit, default, and whether it is Enterprise."""
    field = BY_POINTER[pointer]
    assert (field.kind, field.range, field.unit, field.default, field.enterprise) == told


def test_every_number_has_a_unit() -> None:
    assert [pointer for pointer, field in BY_POINTER.items() if field.kind is Kind.WHOLE and not field.unit] == []


def test_every_default_is_one_the_field_takes() -> None:
    for field in BY_POINTER.values():
        if field.default and field.key not in ("name",):
            form = posted(draft({}), **{field.pointer: field.default})
            assert problems(form.document["spec"]) == {}, field.pointer


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_what_the_form_does_not_show_is_saved_back_byte_for_byte(data: st.DataObject) -> None:
    before = draft(UNSEEN)
    names = sorted(field.pointer for field in fields_of(before.document))
    typed = data.draw(st.dictionaries(st.sampled_from(names), st.text(max_size=12), max_size=8))
    after = posted(before, **typed)
    for path in KEPT:
        assert _bytes(value_at(after.document, path)) == _bytes(value_at(before.document, path))


@given(
    terms=st.lists(st.text(min_size=2, max_size=8), max_size=4), size=st.integers(1, 900), notes=st.text(max_size=40)
)
@settings(max_examples=60, deadline=None)
def test_a_form_sent_back_untouched_changes_nothing(terms: list[str], size: int, notes: str) -> None:
    spec = UNSEEN | {"gate": {"allowedTerms": terms, "minDistinctSubjects": size}, "toolGuidance": {"notes": notes}}
    if problems(spec):
        return
    before = draft(spec)
    assert load_documents(before.text) == [before.document]
    assert _bytes(posted(before).document) == _bytes(before.document)


def _bytes(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def test_only_the_fields_typed_into_change() -> None:
    after = posted(draft(UNSEEN), **{"/spec/gate/minDistinctSubjects": "5", "/spec/write/maxBodyBytes": ""})
    expected = admitted(UNSEEN)
    expected["gate"] = expected["gate"] | {"minDistinctSubjects": 5}
    assert after.document["spec"] == expected


def test_what_was_typed_and_cleared_leaves_no_trace() -> None:
    before = draft({})
    typed = posted(before, **{"/spec/gate/canaries/onHit": "reject"})
    assert typed.document["spec"]["gate"] == {"canaries": {"onHit": "reject"}}
    assert posted(typed, **{"/spec/gate/canaries/onHit": ""}).document == before.document


def test_what_is_no_number_stays_as_typed_and_is_refused() -> None:
    typed = posted(draft({}), **{"/spec/write/maxBodyBytes": "many"})
    assert typed.document["spec"]["write"] == {"maxBodyBytes": "many"}
    assert problems(typed.document["spec"]) == {"/spec/write/maxBodyBytes": "wrong_type"}


def test_comments_stay_until_the_form_changes_a_value() -> None:
    text = "# why\n" + draft({}).text
    commented = Draft({"tiers": {}}, text)
    assert posted(commented).text == text
    assert "# why" not in posted(commented, **{"/spec/write/maxBodyBytes": "9"}).text


@pytest.mark.parametrize("text", ["a: [", "", "- 1", "a: 1\n---\nb: 2", "spec: text", "a: 1\na: 2"])
def test_a_text_that_is_no_document_is_kept_and_said_to_be_none(text: str) -> None:
    broken = Draft.received({"base": "{}", "draft": text, "/spec/write/maxBodyBytes": "9"})
    assert isinstance(broken.read, Fault)
    assert broken.text == text


def test_undo_and_adding_and_removing() -> None:
    before = draft(UNSEEN)
    assert before.put(("spec", "gate"), None).undone(("spec", "gate")).document == before.document
    assert before.added(("spec", "tierPrecedence")).document["spec"]["tierPrecedence"] == {"multiplicative": {}}
    assert "tiers" in before.put(("spec", "tiers", "user"), None).document["spec"]


def test_the_line_of_a_problem() -> None:
    text = "spec:\n  tiers: {}\n  dedup:\n    requireAboutForKinds:\n    - fact\n    - ''\n"
    assert line_of(text, "/spec/dedup/requireAboutForKinds/1") == 6
    assert line_of(text, "/spec/dedup/embeddingSimilarity") == 3
    assert line_of(text, "") == 1


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(days=180), "≈ 6 months"),
        (timedelta(days=365), "≈ 1 year"),
        (timedelta(days=90), "≈ 3 months"),
        (timedelta(hours=720), "≈ 1 month"),
        (timedelta(days=14), "2 weeks"),
        (timedelta(days=45), "45 days"),
        (timedelta(days=1, hours=12), "36 hours"),
        (timedelta(minutes=5), "5 minutes"),
        (timedelta(), "0 seconds"),
    ],
)
def test_durations_are_read_back(span: timedelta, words: str) -> None:
    assert span_in_words(span) == words


def test_what_cannot_be_read_is_not_read_back() -> None:
    ttl, cleared = BY_POINTER["/spec/tiers/user/ttl/default"], BY_POINTER["/spec/gate/canaries/clearedAt"]
    assert read_back(ttl, "soon", now=NOW) == ""
    assert read_back(cleared, "2026-05-31T00:00:00Z", now=NOW) == "1 day ago"
    assert read_back(cleared, "yesterday", now=NOW) == ""
