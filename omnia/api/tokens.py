"""Making and withdrawing access tokens (design: Tokens). The secret is shown once and never stored."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from omnia.api.authentication import PREFIX, hash_token
from omnia.api.models import ApiToken
from omnia.api.principal import Role
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import BadInput, NotFound

DREAMING = "dreaming"
SHORTEST, LONGEST = timedelta(seconds=5), timedelta(days=3650)
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class NewToken:
    """What a token may do. `workspaces` None means every one; `subject` binds it to one end user."""

    name: str
    role: Role
    workspaces: frozenset[UUID] | None
    subject: str | None = None
    scopes: frozenset[str] = frozenset()
    lifetime: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that exists now; `secret` is what its holder sends, known here and nowhere else."""

    token: ApiToken
    secret: str


def create_token(new: NewToken, *, actor: Actor, now: datetime) -> Issued:
    """Makes the token and its audit row. Raises BadInput naming the rule a wish breaks."""
    _check(new)
    secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
    token = ApiToken(
        name=new.name,
        token_hash=hash_token(secret),
        role=new.role.label,
        all_workspaces=new.workspaces is None,
        workspaces=sorted(new.workspaces or ()),
        subject=new.subject,
        scopes=sorted(new.scopes),
        expires_at=now + new.lifetime if new.lifetime else None,
    )
    with transaction.atomic():
        token.save(force_insert=True)
        record.token_created(actor=actor, token=token.id, metadata={"name": new.name, "role": new.role.label})
    return Issued(token, secret)


def revoke_token(token: UUID, *, actor: Actor, now: datetime) -> None:
    """Withdraws a token for good; its next use is refused. Raises NotFound for one that is not in use."""
    with transaction.atomic():
        if not ApiToken.objects.filter(id=token, revoked_at=None).update(revoked_at=now):
            raise NotFound("There is no such token in use.", code="token_not_found")
        record.token_revoked(actor=actor, token=token)


def delete_bound(subject: str, *, before: datetime | None = None) -> int:
    """Deletes every token bound to a person, made `before` if given; how many there were."""
    bound = ApiToken.objects.filter(subject=subject)
    return (bound.filter(created_at__lte=before) if before else bound).delete()[0]


def _check(new: NewToken) -> None:
    if not new.name.strip() or len(new.name) > 120 or not new.name.isprintable():
        raise _refused("name", "a token needs a name of 1 to 120 printable characters")
    if new.subject is not None and not (new.subject.strip() and len(new.subject) <= 253 and new.subject.isprintable()):
        raise _refused("user", "the end user's id is 1 to 253 printable characters; leave it out for a service token")
    if new.role is Role.PLATFORM_ADMIN and (new.workspaces is not None or new.subject):
        raise _refused("role", "a platform admin acts everywhere and as nobody's; leave out workspace and user")
    if new.workspaces is not None and not new.workspaces:
        raise _refused("workspace", "name at least one workspace, or * for all of them")
    if not new.scopes <= {DREAMING}:
        raise _refused("scope", f"the only scope is {DREAMING}")
    if new.lifetime is not None and not SHORTEST <= new.lifetime <= LONGEST:
        raise _refused("expires", "a token lives from 5s to 3650d")


def _refused(field: str, detail: str) -> BadInput:
    return BadInput(f"{field}: {detail}.", code=f"invalid_{field}")
