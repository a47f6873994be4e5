"""What a refused request body is told: the field and the fix, in words that need no library's manual."""

from __future__ import annotations

from typing import Any

import pytest

from memories.api.messages import SaveMessage
from memories.api.recall_messages import RecallMessage
from omnia.api.message import Message, read
from omnia.core.errors import BadInput


@pytest.mark.parametrize(
    ("model", "body", "told"),
    [
        (SaveMessage, {"type": "fact"}, "/content: is required"),
        (RecallMessage, {"workspace": "w"}, "/workspace: is not a field here; the fields are: workspace_id, scope,"),
        (RecallMessage, {"graph_expansion": {"hop": 1}}, "/graph_expansion/hop: is not a field here"),
        (RecallMessage, {"graph_expansion": {"hops": 0}}, "/graph_expansion/hops: Input should be greater than"),
        (SaveMessage, {"type": "fact", "content": "x", "expires_at": "soon"}, "/expires_at: a time with its offset"),
    ],
)
def test_a_fault_is_told_with_its_place_and_its_fix(model: type[Message], body: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(model, body)
    assert refused.value.detail.startswith(told)
