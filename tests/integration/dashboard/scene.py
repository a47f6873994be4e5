"""The people, workspaces and memories that the dashboard's tests look at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from memories.models import Memory
from omnia.core.scope import Scope
from policies import permissions
from policies.models import Workspace

PASSWORD = "a long enough phrase"
PERSON = "customer-7f31"
"""A user id as an agent platform gives it; it must never stand in an address."""
QUICK_HASHER = "django.contrib.auth.hashers.MD5PasswordHasher"
"""A test makes accounts by the dozen; what a strong hash is worth is not what these tests ask."""


def plain_static_files(storages: Mapping[str, Any]) -> dict[str, Any]:
    """The storages with static files under their plain names, so that nothing needs to be collected."""
    return {**storages, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}


def workspace(name: str, **roles: str) -> Workspace:
    """A workspace in which `roles` (username to role) are granted; the users are made when they are new."""
    grants = [{"user": username, "role": role} for username, role in roles.items()]
    made = Workspace.objects.create(name=name, spec={"directGrants": grants})
    for username in roles:
        person(username)
    permissions.sync_workspace(made)
    return made


def person(username: str) -> User:
    """The account of this name."""
    found = User.objects.filter(username=username).first()
    return found or User.objects.create_user(username, password=PASSWORD)


def browser_of(username: str, *, checks_csrf: bool = False) -> Client:
    """A signed-in client that asks for pages."""
    client = Client(enforce_csrf_checks=checks_csrf, headers={"Accept": "text/html"})
    client.force_login(person(username))
    return client


def remembered(
    place: Workspace, content: str, *, user: str | None = None, agent: str | None = None, **fields: Any
) -> Memory:
    """A stored memory; what a test does not name is what an agent's save leaves."""
    stored = {
        "type": "fact",
        "confidence": 0.7,
        "evidence_class": "inferred",
        "source_type": "conversation_extraction",
        "updated_at": datetime(2026, 5, 1, tzinfo=UTC),
        **fields,
    }
    tier = Scope(place.uid, user=user, agent=agent).tier
    return Memory.objects.create(
        workspace=place, tier=tier.code, user_id=user, agent_id=agent, content=content, **stored
    )


def shown(client: Client, *, tier: str, **fields: str) -> str:
    """Chooses a scope as the form does and answers the address of its list."""
    answer = client.post("/memories/scope/", {"tier": tier, **fields})
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])
