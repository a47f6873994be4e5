"""A POST sent twice is done once (design: Idempotency-Key; security case 289).

The unique constraint on (caller, key) decides who runs; the others are told to wait or get the first
answer again. A run that never finished frees its key after a minute, an answer is kept for a day.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from omnia.core.errors import BadInput, Conflict, Unprocessable
from omnia.core.ids import uuid7
from omnia.core.scope import Scope
from omnia.db import execute

log = logging.getLogger(__name__)

HEADER = "HTTP_IDEMPOTENCY_KEY"
SEVERAL = ""
"""The subject of an answer that is about more than one owner: no user has an empty name."""
_SWEEP_BATCH = 1000

_CLAIM = """
INSERT INTO omnia_idempotency (id, caller, key_hash, fingerprint, content_type, body, ids)
VALUES (%s, %s, %s, %s, '', '', '{}')
ON CONFLICT (caller, key_hash) DO UPDATE
SET id = EXCLUDED.id, fingerprint = EXCLUDED.fingerprint, created_at = now(), status = NULL,
    content_type = '', body = '', workspace_id = NULL, subject = NULL, ids = '{}'
WHERE omnia_idempotency.created_at < now() - interval '24 hours'
   OR (omnia_idempotency.status IS NULL AND omnia_idempotency.created_at < now() - interval '60 seconds')
RETURNING id
"""
_FIRST = "SELECT fingerprint, status, content_type, body FROM omnia_idempotency WHERE caller = %s AND key_hash = %s"
_KEEP = """
UPDATE omnia_idempotency SET status = %s, content_type = %s, body = %s, workspace_id = %s, subject = %s, ids = %s::uuid[]
WHERE id = %s AND NOT EXISTS (
    SELECT FROM omnia_idempotency d WHERE d.caller = 'dropped' AND d.key_hash = ANY(%s)
        AND d.created_at >= omnia_idempotency.created_at)
"""
_DROP = """
DELETE FROM omnia_idempotency
WHERE (workspace_id = %s OR %s::uuid IS NULL) AND subject IN (%s, %s) OR workspace_id IS NULL AND subject = %s
"""
_NOTE_DROP = """
INSERT INTO omnia_idempotency (id, caller, key_hash, fingerprint, content_type, body, ids)
VALUES (%s, %s, %s, '', '', '', '{}') ON CONFLICT (caller, key_hash) DO UPDATE SET created_at = clock_timestamp()
"""
_DROPPED = "dropped"
"""The caller of the notes that a user's answers were dropped: what began before them is not kept any more."""
_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FREE = "DELETE FROM omnia_idempotency WHERE id = %s"
_SWEEP = """
DELETE FROM omnia_idempotency WHERE id IN (
    SELECT id FROM omnia_idempotency WHERE created_at < now() - interval '24 hours' LIMIT %s FOR UPDATE SKIP LOCKED)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """The right to do the work and to say what the answer was."""

    id: UUID


def require_key(key: str) -> None:
    """Raises BadInput `invalid_idempotency_key` for a key that is none."""
    if not 1 <= len(key) <= 255:
        raise BadInput("Idempotency-Key takes 1 to 255 characters.", code="invalid_idempotency_key")


def begin(request: HttpRequest, *, key: str, caller: str, body: bytes) -> Run | HttpResponse:
    """The run that is ours to do, or the first answer again.

    Raises Conflict while the first run goes on, Unprocessable when
    the key stood for another request.
    """
    key_hash, fingerprint = _hash(key.encode()), _hash(request.get_full_path().encode(), body)
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [uuid7(), caller, key_hash, fingerprint])
        if claimed := cursor.fetchone():
            return Run(claimed[0])
        cursor.execute(_FIRST, [caller, key_hash])
        first = cursor.fetchone()
    return _replay(first, fingerprint)


def _replay(first: tuple[bytes, int | None, str, bytes] | None, fingerprint: bytes) -> HttpResponse:
    """The first answer; a run freed between our two statements counts as going on."""
    if first and first[0] != fingerprint:
        raise Unprocessable("This Idempotency-Key stood for another request.", code="idempotency_key_reused")
    if not first or first[1] is None:
        raise Conflict(
            "The first request with this Idempotency-Key is still running.",
            code="idempotency_in_progress",
            headers={"Retry-After": "1"},
        )
    _, status, content_type, body = first
    return HttpResponse(body, status=status, content_type=content_type, headers={"Idempotent-Replayed": "true"})


def finish(run: Run, response: HttpResponseBase, *, scopes: Collection[Scope]) -> None:
    """Keeps the answer for later callers, under the person it is about; a fault frees the key instead.

    The work is done by now, so a store that fails here costs the replay, not the answer.
    """
    try:
        with connection.cursor() as cursor:
            if not isinstance(response, HttpResponse) or response.status_code >= 500 or response.status_code == 429:
                cursor.execute(_FREE, [run.id])
                return
            kind = response.headers.get("Content-Type", "")
            ids = sorted({found.decode() for found in _ID.findall(response.content)})
            cursor.execute(
                _KEEP, [response.status_code, kind, response.content, *_whose(scopes), ids, run.id, _notes(scopes)]
            )
    except DatabaseError:
        log.warning("an answer could not be kept for its Idempotency-Key", exc_info=True)


def drop_answers(*, workspace: UUID | None, subject: str) -> int:
    """Deletes the kept answers about a user, those about several people among them; how many there were.

    In one workspace, or everywhere (None).
    """
    with connection.cursor() as cursor:
        cursor.execute(_NOTE_DROP, [uuid7(), _DROPPED, _whose_note(workspace, subject)])
    count = _drop(workspace, subject)
    # Once more when the note can be seen by all: what was kept between the two statements above and the commit.
    transaction.on_commit(partial(_drop, workspace, subject))
    return count


def _drop(workspace: UUID | None, subject: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_DROP, [workspace, workspace, subject, SEVERAL, SEVERAL])
        return int(cursor.rowcount)


def _notes(scopes: Collection[Scope]) -> list[bytes]:
    """The notes that would keep an answer about these people from being kept."""
    people = {(scope.workspace, scope.user) for scope in scopes if scope.user}
    return [_whose_note(place, user) for workspace, user in people for place in (workspace, None)]


def _whose_note(workspace: UUID | None, subject: str) -> bytes:
    """Keyed, so that the note names nobody."""
    return hmac.digest(settings.SECRET_KEY.encode(), f"{workspace}\0{subject}".encode(), "sha256")


def drop_answers_in(workspace: UUID) -> None:
    """Deletes every kept answer of a workspace, and those about several."""
    execute(
        "DELETE FROM omnia_idempotency WHERE workspace_id = %(workspace)s OR subject = ''", {"workspace": workspace}
    )


def drop_answers_with(ids: Sequence[UUID]) -> None:
    """Deletes the kept answers that show any of the rows of these ids."""
    execute("DELETE FROM omnia_idempotency WHERE ids && %(ids)s::uuid[]", {"ids": list(ids)})


def _whose(scopes: Collection[Scope]) -> tuple[UUID | None, str | None]:
    """The workspace and subject of an answer; one that is about several people goes with any of them."""
    owners = {(scope.workspace, scope.user) for scope in scopes}
    if len(owners) <= 1:
        return owners.pop() if owners else (None, None)
    workspaces = {workspace for workspace, _ in owners}
    return workspaces.pop() if len(workspaces) == 1 else None, SEVERAL


def sweep() -> int:
    """Deletes the records older than a day, a batch at a time; how many there were."""
    total = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_SWEEP, [_SWEEP_BATCH])
            gone = int(cursor.rowcount)
            total += gone
            if gone < _SWEEP_BATCH:
                return total


def _hash(*parts: bytes) -> bytes:
    return hashlib.sha256(b"\x00".join(parts)).digest()
