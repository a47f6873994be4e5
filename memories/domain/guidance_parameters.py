"""The parameters of each tool, as the JSON Schema a model fills in (spec: schema; reference: Tool descriptions).

What a call may hold is checked again when it comes; here stands what a model needs to get it right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.domain.about import LONGEST_KEY, LONGEST_KIND
from memories.domain.consent import CATEGORIES
from memories.domain.guidance_texts import either
from memories.domain.query_text import LONGEST_QUERY
from memories.domain.ranking import DEFAULT_LIMIT, LARGEST_LIMIT
from memories.domain.reach import DEFAULT_PAGE, LARGEST_PAGE
from omnia.core.edition import Edition
from omnia.core.scope import Tier
from policies.domain.document import SchemaType
from policies.domain.effective import EffectivePolicy

Schema = dict[str, Any]

USUAL_TYPE = "general"
"""The type of a memory saved without one, where the schema lets a user have it."""
_PERSONAL = {Tier.USER, Tier.USER_FOR_AGENT}


def usual_type(policy: EffectivePolicy) -> str | None:
    """The type a save may leave out; None where every save must name its own."""
    return next((each.name for each in _types(policy) if each.name == USUAL_TYPE and _is_personal(each)), None)


def remember(policy: EffectivePolicy) -> Schema:
    return _object(
        {
            "content": _text(f"The fact, as one full sentence. At most {policy.max_body_bytes} bytes."),
            "type": _type(policy),
            "confidence": _share_of_one("How sure you are, from 0 to 1. Leave it out when you cannot tell."),
            "category": _text(
                "What kind of personal matter it is, when it is one. Health, identity and location are kept only with "
                "the person's consent.",
                enum=sorted(CATEGORIES),
            ),
            "about_kind": _text("What sort of thing the fact is about. Goes with about_key.", maxLength=LONGEST_KIND),
            "about_key": _text(
                "Which thing, and what of it: always the same words for the same fact. Goes with about_kind.",
                maxLength=LONGEST_KEY,
            ),
            "title": _text("A few words to know a long memory by."),
            "summary": _text("A long memory in a sentence or two."),
            "purpose": _text("What the memory may be used for, where the workspace asks for it."),
            "metadata": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Names and texts to keep with the memory, such as where it comes from.",
            },
            "share": {"type": "boolean", "default": False, "description": _share(policy)},
        },
        required=["content"],
    )


def recall(policy: EffectivePolicy) -> Schema:
    return _object(
        {
            "query": _text("The question, in plain words.", maxLength=LONGEST_QUERY),
            "types": _narrowing(policy),
            "limit": _count("How many memories to return at most.", default=DEFAULT_LIMIT, high=LARGEST_LIMIT),
            "min_confidence": _share_of_one("Leave out memories less certain than this."),
            "preview": {
                "type": "boolean",
                "default": False,
                "description": (
                    f"Shorten memories of more than {policy.recall.inline_threshold_bytes} bytes to title, summary and "
                    "first words; memory__open returns them in full."
                ),
            },
        },
        required=["query"],
    )


def listing(policy: EffectivePolicy) -> Schema:
    return _object(
        {
            "types": _narrowing(policy),
            "limit": _count("How many memories to return at most.", default=DEFAULT_PAGE, high=LARGEST_PAGE),
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "How many to skip."},
        }
    )


def one_memory(policy: EffectivePolicy) -> Schema:
    return _object(
        {"memory_id": _text("The `id` of the memory, as a tool returned it.", format="uuid")}, required=["memory_id"]
    )


def _type(policy: EffectivePolicy) -> Schema:
    """Every type with what it means; only those a user may have can be chosen."""
    written = [each for each in _types(policy) if _is_personal(each)]
    read_only = [each for each in _types(policy) if not _is_personal(each)]
    usual = usual_type(policy)
    lines = ["What kind of memory it is." if usual else "What kind of memory it is; always say which."]
    lines += [_meaning(each) for each in written]
    if read_only:
        lines += ["Found by memory__recall, but not saved with this tool:", *map(_meaning, read_only)]
    chosen = {"enum": [each.name for each in written]} if written else {}
    return _text("\n".join(lines), **chosen, **({"default": usual} if usual else {}))


def _meaning(each: SchemaType) -> str:
    meaning = each.description or each.display_name
    return f"- `{each.name}`: {meaning}" if meaning else f"- `{each.name}`"


def _narrowing(policy: EffectivePolicy) -> Schema:
    names = [each.name for each in _types(policy)]
    known = f" One or more of {either(names)}." if names else ""
    return {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
        "description": f"Only memories of these types.{known} Leave it out for all.",
    }


def _share(policy: EffectivePolicy) -> str:
    if policy.edition is not Edition.ENTERPRISE or not policy.gate.accept.user_shares:
        return "Sharing is off in this workspace: the memory stays with this person."
    return (
        "Also offer it as shared knowledge. The person's own copy is kept; others see it, without anything that "
        "identifies a person, only once enough people have said the same. Never for personal facts."
    )


def _types(policy: EffectivePolicy) -> list[SchemaType]:
    return list(policy.vocabulary.types.values())


def _is_personal(each: SchemaType) -> bool:
    return not each.allowed_tiers or bool(_PERSONAL & set(each.allowed_tiers))


def _object(properties: Mapping[str, Schema], *, required: list[str] | None = None) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description} | more


def _share_of_one(description: str) -> Schema:
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}


def _count(description: str, *, default: int, high: int) -> Schema:
    return {"type": "integer", "minimum": 1, "maximum": high, "default": default, "description": description}
