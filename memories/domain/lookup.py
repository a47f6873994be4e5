"""A structured lookup: rows asked for by what they are about or for, beside the question (design: Recall)."""

from __future__ import annotations

from dataclasses import dataclass

from omnia.core.errors import Forbidden
from omnia.core.scope import Scope

DEFAULT_ROWS, MOST_ROWS = 10, 100


@dataclass(frozen=True, slots=True)
class Lookup:
    """At most `limit` rows, last changed first, that meet every condition named.

    `kinds` and `name_prefix` are folded as an `about` is, and are met by its kind and the beginning of its key.
    """

    user: str | None = None
    agent: str | None = None
    kinds: tuple[str, ...] = ()
    name_prefix: str | None = None
    purpose: str | None = None
    limit: int = DEFAULT_ROWS

    @property
    def names_nothing(self) -> bool:
        """Whether it would take any row: an empty filter never means all."""
        return not (self.user or self.agent or self.kinds or self.name_prefix or self.purpose)

    def require_within(self, scope: Scope) -> None:
        """Raises Forbidden `lookup_outside_scope` for a user or agent the recall itself does not name."""
        if self.user not in (None, scope.user) or self.agent not in (None, scope.agent):
            raise Forbidden(
                "A lookup reads inside the scope of its recall; leave its user and agent out or name the same.",
                code="lookup_outside_scope",
            )
