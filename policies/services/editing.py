"""What editing a policy and editing a workspace have in common: refusal, freshness, and who sees it next."""

from __future__ import annotations

from enum import StrEnum

from django.db import transaction

from omnia.core.errors import FieldProblem, PreconditionFailed, Unprocessable
from policies.domain.schema.crd import Checked
from policies.models import MemoryPolicy, Workspace
from policies.services import access, resolve
from policies.services.wire import etag


class Outcome(StrEnum):
    """What an edit came to. A document that changes nothing writes nothing."""

    CREATED = "created"
    CONFIGURED = "configured"
    UNCHANGED = "unchanged"


def require_admitted(checked: Checked, *, name: str | None = None) -> None:
    """Raises Unprocessable with every problem. `name`: what the document must be called."""
    problems = list(checked.problems)
    if name is not None and not problems and checked.name != name:
        problems.append(FieldProblem("/metadata/name", "not_allowed", f"must be {name}; an object keeps its name"))
    if problems:
        raise Unprocessable("The document breaks the rules listed in errors.", code="invalid_document", errors=problems)


def require_fresh(row: MemoryPolicy | Workspace, *, expected: str | None) -> None:
    """Raises PreconditionFailed `stale`, with the current ETag, unless `expected` is that tag or None."""
    current = etag(row)
    if expected is not None and expected != current:
        detail = "It has changed since it was read; read it again and repeat the edit."
        raise PreconditionFailed(detail, code="stale", headers={"ETag": current})


def make_visible() -> None:
    """Lets this process see an edit at once, inside its transaction and after the commit."""
    _clear()
    transaction.on_commit(_clear)


def _clear() -> None:
    resolve.clear_cache()
    access.clear_cache()
