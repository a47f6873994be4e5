"""Which scope each open list shows. A URL never carries a user id; it carries a word that stands for one.

The scope form is sent as a body. Its reach is kept in the session under a random word, and the word
travels in the addresses as `?view=…`. Two tabs on two people therefore stay two: "Load more" in one
can never append rows of the other. A word that this session does not know, or that was given out in
another workspace, opens nothing.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase

from memories.domain.reach import Reach
from omnia.core.scope import Scope

_KEY = "memory_views"
_KEPT = 20
"""How many scopes one session keeps open; the oldest is closed first."""


@dataclass(frozen=True, slots=True)
class OpenView:
    """A reach, and the word that stands for it in addresses."""

    word: str
    reach: Reach


class OpenViews:
    """The views one session has open in one workspace."""

    def __init__(self, session: SessionBase, *, workspace: UUID) -> None:
        self._session, self._workspace = session, workspace

    def find(self, word: str) -> OpenView | None:
        """The view a word stands for."""
        return next((view for view in self._views() if view.word == word), None)

    def latest(self) -> OpenView:
        """The view opened last; at first the institutional one, which is about nobody."""
        views = self._views()
        return views[-1] if views else self.open(Reach(Scope(self._workspace)))

    def open(self, reach: Reach) -> OpenView:
        """Gives `reach` a word, the one it has if it has one, and makes it the latest."""
        views = self._views()
        known = next((view for view in views if view.reach == reach), None)
        opened = known or OpenView(secrets.token_urlsafe(9), reach)
        kept = [*(view for view in views if view != opened), opened][-_KEPT:]
        self._session[_KEY] = {"workspace": str(self._workspace), "views": [_as_json(view) for view in kept]}
        return opened

    def _views(self) -> list[OpenView]:
        stored = self._session.get(_KEY, {})
        if stored.get("workspace") != str(self._workspace):
            return []
        return [self._from_json(**view) for view in stored["views"]]

    def _from_json(self, *, word: str, user: str | None, agent: str | None, any_agent: bool, shared: bool) -> OpenView:
        scope = Scope(self._workspace, user=user, agent=agent)
        return OpenView(word, Reach(scope, any_agent=any_agent, include_shared=shared))


def _as_json(view: OpenView) -> dict[str, Any]:
    scope = view.reach.scope
    return {
        "word": view.word,
        "user": scope.user,
        "agent": scope.agent,
        "any_agent": view.reach.any_agent,
        "shared": view.reach.include_shared,
    }
