"""/memories/batch: many memories saved in one request, or an owner's deleted a part at a time."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.commands import save_command
from memories.api.many_messages import DELETED_UNLESS_SAID, MOST_DELETED, BatchMessage, DeleteBatchMessage
from memories.api.messages import SaveMessage
from memories.api.scope import admit_person, admit_user, require_scope_alone
from memories.domain.save import SaveResult
from memories.services.forget import forget_oldest
from memories.services.remember_all import Save, remember_all
from omnia.api.message import read
from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.core.errors import BadInput, OmniaError


class BatchView(ApiView):
    """Saves each item by itself; deletes at most a number of memories, to be asked again until none is left."""

    @docs.save_batch
    def post(self, request: Request) -> HttpResponse:
        items = [self._read(item) for item in read(BatchMessage, self.body).items]
        saves = [item for item in items if isinstance(item, Save)]
        self.answers_for(*{save.command.scope for save in saves})
        saved = iter(remember_all(saves, now=self.now, actor=self.actor))
        outcomes = [next(saved) if isinstance(item, Save) else item for item in items]
        return json_response({"results": [_result(index, outcome) for index, outcome in enumerate(outcomes)]})

    @docs.delete_batch
    def delete(self, request: Request) -> HttpResponse:
        require_scope_alone(self, besides=frozenset({"limit"}))
        limit = read(DeleteBatchMessage, self.body).limit or self.query.integer(
            "limit", default=DELETED_UNLESS_SAID, low=1, high=MOST_DELETED
        )
        admitted = admit_person(self, at_least=Role.OWNER)
        return json_response({"deleted": forget_oldest(admitted.scope, limit=limit, actor=self.actor)})

    def _read(self, item: Any) -> Save | OmniaError:
        """The save an item asks for, in its own scope or else the batch's; or why it cannot be one."""
        try:
            if not isinstance(item, dict):
                raise BadInput("An item is the body of a save: an object.", code="invalid")
            if "scope" in self.body:
                item = {"scope": self.body["scope"], **item}
            message = read(SaveMessage, item)
            admitted = admit_user(self, item=item)
            return Save(save_command(message, scope=admitted.scope), admitted.policy)
        except OmniaError as refusal:
            return refusal


def _result(index: int, outcome: SaveResult | OmniaError) -> dict[str, Any]:
    if isinstance(outcome, SaveResult):
        return {"index": index, "status": 201, **outcome.as_json()}
    error: dict[str, Any] = {"code": outcome.code, "detail": outcome.detail}
    if outcome.errors:
        error["errors"] = [each.as_json() | {"pointer": f"/items/{index}{each.pointer}"} for each in outcome.errors]
    return {"index": index, "status": outcome.status, "error": error}
