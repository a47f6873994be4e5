"""The spec's `schema`: types, relations, how they are enforced, and the built-in schema."""

from __future__ import annotations

from typing import Any

import pytest

from omnia.core.errors import BadInput
from omnia.core.scope import Tier
from policies.domain.vocabulary import Vocabulary
from tests.contract.policy_documents import effective

EVERY_TIER = ["institutional", "agent", "user", "user_for_agent"]
PERSONAL_TIERS = {Tier.USER, Tier.USER_FOR_AGENT, Tier.AGENT}

EXAMPLE: dict[str, Any] = {
    "version": "policies.v2",
    "types": [
        {
            "name": "policy",
            "displayName": "Policy",
            "description": "A governing policy document.",
            "allowedTiers": ["institutional"],
        },
        {"name": "control", "displayName": "Control", "allowedTiers": ["institutional"]},
        {"name": "fact", "allowedTiers": EVERY_TIER},
    ],
    "relations": [
        {
            "name": "implements",
            "kind": "logical",
            "inverse": "implemented_by",
            "sourceTypes": ["control"],
            "targetTypes": ["policy"],
        },
        {
            "name": "related_to",
            "kind": "association",
            "directed": False,
            "sourceTypes": ["*"],
            "targetTypes": ["*"],
        },
    ],
}


def vocabulary(schema: dict[str, Any] | None) -> Vocabulary:
    return effective(None if schema is None else {"schema": schema}).vocabulary


def refusal(check: Any, *args: Any, **kwargs: Any) -> str | None:
    try:
        check(*args, **kwargs)
    except BadInput as error:
        return error.code
    return None


# --- How the schema is enforced: agent-scoped saves ---------------------------------------------

DECLARED = [
    ("fact", "user", None),
    ("fact", "user_for_agent", None),
    ("fact", "agent", None),
    ("fact", "institutional", None),
    ("policy", "institutional", None),
    ("policy", "user", "tier_not_allowed"),
    ("control", "agent", "tier_not_allowed"),
    ("preference", "user", "type_not_declared"),
    ("general", "user", "type_not_declared"),
    ("observation", "user", "type_not_declared"),
    ("Fact", "user", "type_not_declared"),
    ("", "user", "type_not_declared"),
]


@pytest.mark.parametrize(("type_name", "tier", "code"), DECLARED)
def test_with_a_policy_schema_a_type_must_be_declared_and_allowed_in_the_tier(
    type_name: str, tier: str, code: str | None
) -> None:
    assert refusal(vocabulary(EXAMPLE).check_type, type_name, tier=Tier(tier)) == code


@pytest.mark.parametrize(
    ("user", "agent", "tier"),
    [
        ("u", "a", "user_for_agent"),
        ("u", None, "user"),
        (None, "a", "agent"),
        (None, None, "institutional"),
    ],
)
def test_the_tier_a_scope_resolves_to(user: str | None, agent: str | None, tier: str) -> None:
    assert Tier.of(user, agent) == tier


@pytest.mark.parametrize("tiers", [[], None])
def test_no_allowed_tiers_means_every_tier(tiers: list[str] | None) -> None:
    declared = {"name": "note"} | ({} if tiers is None else {"allowedTiers": tiers})
    found = vocabulary({"types": [declared]})
    assert all(refusal(found.check_type, "note", tier=tier) is None for tier in Tier)


# --- Single institutional write, batch ingest ---------------------------------------------------

INSTITUTIONAL = [
    (EXAMPLE, "policy", None),
    (EXAMPLE, "anything", "type_not_declared"),
    (EXAMPLE, "document", "type_not_declared"),
    ({"types": [{"name": "note", "allowedTiers": ["user"]}]}, "note", "tier_not_allowed"),
    (None, "anything", None),
    (None, "preference", None),
    (None, "document", None),
]


@pytest.mark.parametrize(("schema", "type_name", "code"), INSTITUTIONAL)
def test_institutional_writes_are_validated_with_a_policy_schema_only(
    schema: dict[str, Any] | None, type_name: str, code: str | None
) -> None:
    assert refusal(vocabulary(schema).check_institutional_type, type_name) == code


def test_a_violation_names_the_rule_and_never_the_text_it_was_given() -> None:
    with pytest.raises(BadInput) as unknown:
        vocabulary(EXAMPLE).check_type("her diagnosis", tier=Tier.USER)
    assert "policy, control, fact" in unknown.value.detail
    assert "diagnosis" not in unknown.value.detail
    with pytest.raises(BadInput) as misplaced:
        vocabulary(EXAMPLE).check_type("policy", tier=Tier.USER)
    assert misplaced.value.detail.endswith("allowed in: institutional.")


def test_declaring_a_schema_replaces_the_built_in_one() -> None:
    found = vocabulary({"types": [{"name": "policy", "allowedTiers": ["institutional"]}]})
    for type_name in ("general", "fact", "preference", "observation"):
        assert refusal(found.check_type, type_name, tier=Tier.USER) == "type_not_declared"
    assert found.declared
    assert refusal(found.check_relation, "part_of", source_type="chunk", target_type="document") is not None


# --- The built-in schema ------------------------------------------------------------------------

BUILT_IN = [
    ("document", {Tier.INSTITUTIONAL}),
    ("section", {Tier.INSTITUTIONAL}),
    ("chunk", {Tier.INSTITUTIONAL}),
    ("general", set(Tier)),
    ("fact", set(Tier)),
    ("preference", PERSONAL_TIERS),
    ("observation", PERSONAL_TIERS),
    ("temporal_summary", PERSONAL_TIERS),
]


@pytest.mark.parametrize(("type_name", "tiers"), BUILT_IN)
def test_the_built_in_types_and_their_tiers(type_name: str, tiers: set[Tier]) -> None:
    found = vocabulary(None)
    allowed = {tier for tier in Tier if refusal(found.check_type, type_name, tier=tier) is None}
    assert allowed == tiers


def test_the_built_in_schema_has_no_other_types() -> None:
    found = vocabulary(None)
    assert list(found.types) == [name for name, _ in BUILT_IN]
    assert (found.version, found.declared) == ("builtin.v1", False)


BUILT_IN_EDGES = [
    ("part_of", "section", "document", None),
    ("part_of", "chunk", "document", None),
    ("part_of", "chunk", "section", None),
    ("part_of", "section", "section", None),
    ("part_of", "document", "section", "relation_not_allowed"),
    ("part_of", "chunk", "chunk", "relation_not_allowed"),
    ("part_of", "fact", "document", "relation_not_allowed"),
    ("next", "chunk", "chunk", None),
    ("next", "section", "section", None),
    ("next", "document", "document", "relation_not_allowed"),
    ("related_to", "fact", "fact", "relation_not_declared"),
]


@pytest.mark.parametrize(("name", "source", "target", "code"), BUILT_IN_EDGES)
def test_the_built_in_relations(name: str, source: str, target: str, code: str | None) -> None:
    assert refusal(vocabulary(None).check_relation, name, source_type=source, target_type=target) == code


def test_the_built_in_relations_are_served_as_the_spec_lists_them() -> None:
    served = {each["name"]: (each["kind"], each["inverse"]) for each in vocabulary(None).as_json()["relations"]}
    assert served == {"part_of": ("containment", "contains"), "next": ("sequence", "previous")}


# --- schema.relations[] -------------------------------------------------------------------------

EDGES = [
    ("implements", "control", "policy", None),
    ("implements", "policy", "control", "relation_not_allowed"),
    ("implements", "fact", "policy", "relation_not_allowed"),
    ("related_to", "fact", "never declared", None),
    ("implemented_by", "policy", "control", "relation_not_declared"),
]


@pytest.mark.parametrize(("name", "source", "target", "code"), EDGES)
def test_a_relation_joins_the_types_it_declares(name: str, source: str, target: str, code: str | None) -> None:
    assert refusal(vocabulary(EXAMPLE).check_relation, name, source_type=source, target_type=target) == code


@pytest.mark.parametrize("types", [[], ["*"], ["note", "*"], None])
def test_a_star_an_empty_list_and_no_list_match_any_type(types: list[str] | None) -> None:
    ends = {} if types is None else {"sourceTypes": types, "targetTypes": types}
    found = vocabulary({"relations": [{"name": "about", "kind": "reference", **ends}]})
    assert refusal(found.check_relation, "about", source_type="a", target_type="b") is None


def test_a_relation_declared_twice_joins_either_pair() -> None:
    pairs = [("a", "b"), ("c", "d")]
    relations = [
        {"name": "cites", "kind": "reference", "sourceTypes": [source], "targetTypes": [target]}
        for source, target in pairs
    ]
    found = vocabulary({"relations": relations})
    assert refusal(found.check_relation, "cites", source_type="c", target_type="d") is None
    assert refusal(found.check_relation, "cites", source_type="a", target_type="d") == "relation_not_allowed"


# --- GET /memory/schema -------------------------------------------------------------------------


def test_a_declared_schema_is_served_with_its_defaults_filled_in() -> None:
    served = vocabulary(EXAMPLE).as_json()
    assert served["version"] == "policies.v2"
    assert served["types"] == EXAMPLE["types"]
    implements, related = served["relations"]
    assert implements == EXAMPLE["relations"][0] | {"directed": True}
    assert related == EXAMPLE["relations"][1]


def test_what_a_schema_leaves_out_is_served_as_the_default() -> None:
    served = vocabulary({"types": [{"name": "note"}], "relations": [{"name": "r", "kind": "logical"}]}).as_json()
    assert served["types"] == [{"name": "note", "allowedTiers": EVERY_TIER}]
    assert served["relations"] == [
        {"name": "r", "kind": "logical", "sourceTypes": ["*"], "targetTypes": ["*"], "directed": True}
    ]
