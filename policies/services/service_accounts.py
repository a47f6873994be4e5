"""Callers that are the cluster's own: a ServiceAccount token, judged by the API server (design: Auth).

The API server must say that the token is good and made for an audience of ours, and the account must be listed by
its exact name or its namespace. When it cannot be asked, nobody new is let in. A good answer is kept for at most a
minute, under the token's hash and never beyond its expiry; how often the server is asked is bounded.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from cachetools import TLRUCache
from django.conf import settings

from omnia.api.principal import Principal, Role
from omnia.config import SERVICE_ACCOUNT, ServiceAccounts
from omnia.core.errors import Forbidden, Unauthenticated, Unavailable
from policies.kube.current import cluster
from policies.kube.errors import ClusterError

KEPT_SECONDS = 60.0
REVIEWS_PER_SECOND, REVIEWS_AT_ONCE = 20.0, 40.0
_MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    """The account a token was found to stand for, and until when that may be taken as known (seconds, wall clock)."""

    username: str
    until: float


class _Budget:
    """A bucket of reviews that refills with time."""

    def __init__(self) -> None:
        self._left, self._at, self._lock = REVIEWS_AT_ONCE, time.monotonic(), threading.Lock()

    def take(self) -> bool:
        with self._lock:
            now = time.monotonic()
            self._left = min(REVIEWS_AT_ONCE, self._left + (now - self._at) * REVIEWS_PER_SECOND)
            self._at = now
            granted = self._left >= 1
            self._left -= granted
            return granted


def principal_of_service_account(token: str) -> Principal:
    """The caller a ServiceAccount token stands for.

    Raises Unauthenticated for a token that is not good, Forbidden for an account that is not listed, and
    Unavailable when the API server cannot be asked now.
    """
    allowed: ServiceAccounts = settings.OMNIA.cluster.service_accounts
    key = hashlib.sha256(token.encode()).digest()
    with _lock:
        known: _Known | None = _known.get(key)
    if known is None:
        known = _reviewed(token, allowed)
        with _lock:
            _known[key] = known
    return _listed(known.username, allowed)


def forget_reviews() -> None:
    """The next use of every token is a review; for tests."""
    global _budget  # noqa: PLW0603 - the process has one
    with _lock:
        _known.clear()
        _budget = _Budget()


def _reviewed(token: str, allowed: ServiceAccounts) -> _Known:
    claims, now = _claims(token), time.time()
    ends = claims.get("exp")
    if not isinstance(ends, int) or ends <= now or _audiences(claims).isdisjoint(allowed.audiences):
        raise _no_good()  # the server would say the same; it need not be asked
    found = cluster()
    if found is None or not _budget.take():
        raise _unavailable()
    try:
        review = found.review_token(token, audiences=allowed.audiences)
    except ClusterError:
        raise _unavailable() from None
    if not review.authenticated or review.audiences.isdisjoint(allowed.audiences):
        raise _no_good()
    return _Known(review.username, min(float(ends), now + KEPT_SECONDS))


def _listed(username: str, allowed: ServiceAccounts) -> Principal:
    match = SERVICE_ACCOUNT.fullmatch(username)
    if match is None or (username not in allowed.subjects and match["namespace"] not in allowed.namespaces):
        raise Forbidden("This ServiceAccount may not call; the operator lists those that may.", code="not_allowed")
    return Principal(
        name=f"serviceaccount:{match['namespace']}/{match['name']}",
        caller=username,
        role=Role.of(allowed.role),
        workspaces=None,
    )


def _claims(token: str) -> dict[str, Any]:
    """What the token says of itself, unproven. Raises Unauthenticated when it says nothing legible."""
    payload = token.split(".")[1]
    try:
        claims = orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except ValueError:
        raise _no_good() from None
    return claims if isinstance(claims, dict) else {}


def _audiences(claims: dict[str, Any]) -> set[str]:
    """Whom the token is for (RFC 7519: one text or a list of texts)."""
    stated = claims.get("aud")
    return {each for each in (stated if isinstance(stated, list) else [stated]) if isinstance(each, str)}


def _no_good() -> Unauthenticated:
    return Unauthenticated("This is no valid access token.")


def _unavailable() -> Unavailable:
    detail = "The cluster cannot be asked about this token now; try again."
    return Unavailable(detail, code="cluster_unavailable", headers={"Retry-After": "1"})


def new_memory(clock: Callable[[], float] = time.time) -> TLRUCache[bytes, _Known]:
    """Where good answers are kept, each until its own end by this clock."""
    return TLRUCache(_MOST_KEPT, ttu=lambda _key, known, _now: known.until, timer=clock)


_lock = threading.Lock()
_known = new_memory()
_budget = _Budget()
