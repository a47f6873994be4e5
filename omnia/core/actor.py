"""Who does a thing, as audit rows and history name them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """The caller of a use case.

    `name` is `token:<name>`, `user:<username>` or `system:<job>`; `subject` is the end user the
    caller is bound to, when it is. `consents` are the categories the caller says that the person
    it acts for granted for this request (header X-Consent-Grants).
    """

    name: str
    subject: str | None = None
    request_id: str = ""
    ip: str | None = None
    user_agent: str = ""
    consents: frozenset[str] = frozenset()
