"""What people have agreed to, asked of the privacy service (reference: Consent).

An answer that is for another user, incomplete, redirected or unreadable is no answer: whoever cannot be sure
of a consent does not have it. Answers are kept for half a minute, in this process alone.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import orjson
from django.conf import settings

from memories.domain.consent import Preferences
from omnia.api.moments import parse_moment
from omnia.exchange import Answer, Exchange, ExchangeFailed

DEADLINE_SECONDS = 2.0
KEPT_SECONDS = 30.0
RESTS_SECONDS = 2.0
"""After a failure nobody waits for the service again for so long."""
LARGEST_ANSWER = 1024 * 1024
KEPT_USERS = 10_000

NEVER_SAID = Preferences()


class PrivacyService:
    """Asks for a person's preferences."""

    def __init__(
        self, url: str, *, deadline_seconds: float = DEADLINE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = url
        self._clock = clock
        self._exchange = Exchange(
            "privacy-service",
            headers={"accept": "application/json"},
            deadline_seconds=deadline_seconds,
            largest_answer=LARGEST_ANSWER,
        )
        self._kept: OrderedDict[str, tuple[float, Preferences]] = OrderedDict()
        self._lock = threading.Lock()
        self._rests_until = 0.0

    def preferences(self, user: str) -> Preferences | None:
        """The user's; None when the service cannot say."""
        now = self._clock()
        with self._lock:
            kept = self._kept.get(user)
            if kept and now < kept[0]:
                return kept[1]
            if now < self._rests_until:
                return None
        found = self._asked(user)
        with self._lock:
            if found is None:
                self._rests_until = self._clock() + RESTS_SECONDS
                return None
            self._kept[user] = (self._clock() + KEPT_SECONDS, found)
            self._kept.move_to_end(user)
            if len(self._kept) > KEPT_USERS:
                self._kept.popitem(last=False)
        return found

    def _asked(self, user: str) -> Preferences | None:
        # Dots too: a user named ".." is not a step up in the path.
        name = quote(user, safe="").replace(".", "%2E")
        try:
            answer = self._exchange.ask("GET", f"{self._url}/api/v1/privacy/preferences/{name}")
            return _read(answer, user=user)
        except (ExchangeFailed, LookupError, TypeError, ValueError):
            return None


def _read(answer: Answer, *, user: str) -> Preferences:
    """Raises LookupError, TypeError or ValueError for an answer that cannot be relied on."""
    if answer.status == 404:
        return NEVER_SAID
    if answer.status != 200:
        raise ValueError("not an answer")
    document = orjson.loads(answer.body)
    if not isinstance(document, Mapping) or document["userId"] != user:
        raise ValueError("the answer is for another user")
    if not isinstance(document["optOutAll"], bool):
        raise TypeError("optOutAll is a yes or a no")
    return Preferences(
        opted_out=document["optOutAll"],
        opted_out_workspaces=_names(document["optOutWorkspaces"]),
        opted_out_agents=_names(document["optOutAgents"]),
        grants=_names(document["consentGrants"]),
        updated_at=_moment(document.get("updatedAt")),
    )


def _names(value: Any) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError("a list of names is expected")
    return frozenset(value)


def _moment(value: Any) -> datetime | None:
    return None if value is None else parse_moment(value)


@lru_cache(maxsize=1)
def _service(url: str) -> PrivacyService:
    return PrivacyService(url)


def privacy_service() -> PrivacyService | None:
    """The configured service, one a process; None without one: then everything is granted."""
    url = settings.OMNIA.privacy_api_url
    return _service(url) if url else None
