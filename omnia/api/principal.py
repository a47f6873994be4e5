"""Who is asking: the one shape a token and a dashboard session both take (design: Auth).

Views, services and audit rows see a Principal, never a token row or a password user, so that a rule
about access is written once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


class Role(IntEnum):
    """What someone may do in a workspace; a greater role may do all a smaller one may."""

    VIEWER = 1
    EDITOR = 2
    OWNER = 3
    PLATFORM_ADMIN = 4

    @property
    def label(self) -> str:
        return self.name.lower().replace("_", "-")

    @staticmethod
    def of(label: str) -> Role:
        """The role named `label`. Raises KeyError for a word that is none."""
        return _BY_LABEL[label]


_BY_LABEL = {role.label: role for role in Role}


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller.

    `name` is what audit rows show (`token:NAME`, `user:USERNAME`); `caller` is an opaque id that
    never changes (`token:<uuid>`, `user:<pk>`). `role` is a token's; a session user's roles are per
    workspace, so theirs is None. `workspaces` None means all of them, the empty set means none.
    `subject` is the end user a token is bound to and may act as, alone.
    """

    name: str
    caller: str
    role: Role | None = None
    workspaces: frozenset[UUID] | None = frozenset()
    subject: str | None = None
    scopes: frozenset[str] = frozenset()
    user: AbstractBaseUser | None = None
    platform_admin: bool = False

    is_authenticated = True
    is_active = True
