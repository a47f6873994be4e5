"""Rows on the wire: the columns a memory is served from, and the memory object they make (design: The memory object).

Plain dictionaries: ten rows cost microseconds to render. The vector never leaves the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memories.domain.preview import content_preview, is_long
from omnia.core.scope import Tier

COLUMNS = (
    "id", "tier", "user_id", "agent_id", "workspace_id", "type", "content", "title", "summary", "metadata", "confidence",
    "created_at", "updated_at", "observed_at", "accessed_at", "access_count", "expires_at", "session_id", "turn_range",
    "container", "evidence_class", "evidence_count", "source_type", "mutability", "consent_category", "purpose",
)  # fmt: skip
_DERIVED = (
    "octet_length(m.content) AS body_size_bytes",
    "CASE WHEN m.embedding IS NOT NULL OR m.second_embedding IS NOT NULL THEN 'ready'"
    " WHEN m.embed_after IS NOT NULL THEN 'pending' ELSE 'none' END AS embedding_status",
    "e.kind AS about_kind",
    "e.key AS about_key",
)
SELECT = ", ".join((*(f"m.{name}" for name in COLUMNS), *_DERIVED))
"""The select list of a memory object, over `memories_memory m LEFT JOIN memories_entity e`."""
RETURNING = ", ".join(
    (
        *(f"m.{name}" for name in COLUMNS),
        *_DERIVED[:2],
        *(
            f"(SELECT e.{part} FROM memories_entity e WHERE e.id = m.entity_id) AS about_{part}"
            for part in ("kind", "key")
        ),
    )
)
"""The same columns of the row a statement over `memories_memory m` wrote."""
FROM = "memories_memory m LEFT JOIN memories_entity e ON e.id = m.entity_id"

_ALWAYS = ("id", "type", "content", "metadata", "confidence", "created_at", "updated_at", "evidence_class",
           "evidence_count", "source_type", "mutability", "body_size_bytes", "embedding_status")  # fmt: skip
_WHEN_SET = ("observed_at", "accessed_at", "expires_at", "session_id", "turn_range", "title", "summary", "container",
             "consent_category", "purpose")  # fmt: skip


def memory_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """The memory object of a row selected with `SELECT`; a field that is not set is left out."""
    shown = {name: row[name] for name in _ALWAYS}
    shown["tier"] = Tier.from_code(row["tier"]).value
    shown["scope"] = scope_object(row)
    for name in _WHEN_SET:
        if row[name] is not None:
            shown[name] = row[name]
    if row["about_kind"] is not None:
        shown["about"] = {"kind": row["about_kind"], "key": row["about_key"]}
    return shown


def previewed(memory: dict[str, Any], *, threshold_bytes: int) -> dict[str, Any]:
    """The object with a long body replaced by its preview (spec: recall.inlineThresholdBytes)."""
    if is_long(memory["body_size_bytes"], threshold_bytes=threshold_bytes):
        memory |= {"content_preview": content_preview(memory["content"]), "has_full_body": True, "content": ""}
    return memory


def scope_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """Whose the row is; the parts that are not set are left out."""
    scope = {"workspace_id": row["workspace_id"]}
    if row["user_id"] is not None:
        scope["virtual_user_id"] = row["user_id"]
    if row["agent_id"] is not None:
        scope["agent_id"] = row["agent_id"]
    return scope


def memory_objects(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [memory_object(row) for row in rows]
