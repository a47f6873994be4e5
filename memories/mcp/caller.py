"""Who calls a tool, and for whom: the token, and the headers that complete its scope (design: MCP scope).

A token of exactly one workspace that is bound to a user says everything itself. Another names the rest in
`X-Omnia-Workspace`, `X-Omnia-User-ID`, `X-Omnia-Agent-ID` and, like every route, `X-Omnia-Service-Group`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from memories.api.scope import Admitted, Asked, admit, scope_text
from omnia.api.actors import actor_of
from omnia.api.principal import Principal, Role
from omnia.core.actor import Actor
from omnia.core.errors import BadInput, FieldProblem

WORKSPACE, USER, AGENT = "X-Omnia-Workspace", "X-Omnia-User-ID", "X-Omnia-Agent-ID"
SERVICE_GROUP = "X-Omnia-Service-Group"


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of one request; names in any case."""

    pairs: tuple[tuple[bytes, bytes], ...]

    @staticmethod
    def of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
        return Headers(tuple((name.lower(), value) for name, value in pairs))

    def text(self, name: str) -> str:
        """The value, read as Latin-1; the first of several, and empty when there is none."""
        return next((value.decode("latin-1") for value in self._values(name)), "")

    def scope(self, name: str) -> str | None:
        """A part of the scope; None when not given. Raises BadInput `invalid_scope`, also for one given twice."""
        values = self._values(name)
        if len(values) > 1:
            raise _invalid(name, "invalid_scope", "given more than once")
        try:
            text = values[0].decode() if values else ""
        except UnicodeDecodeError:
            raise _invalid(name, "invalid_scope", "UTF-8 is expected") from None
        return scope_text(text, name=name) if text else None

    def _values(self, name: str) -> list[bytes]:
        wanted = name.lower().encode()
        return [value for key, value in self.pairs if key == wanted]


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated request.

    `now` is the one clock reading for all that is done in it. `fault` is what is wrong with its body where that
    is JSON but breaks another rule of bodies: the answer to a call says it, so that a model reads it.
    """

    user: Principal
    headers: Headers
    request_id: str
    ip: str
    now: datetime
    fault: BadInput | None = None

    def require_sound_body(self) -> None:
        """Raises the BadInput the body earned, if it did."""
        if self.fault:
            raise self.fault

    @property
    def actor(self) -> Actor:
        return actor_of(
            self.user,
            request_id=self.request_id,
            ip=self.ip,
            user_agent=self.headers.text("User-Agent"),
            grants=self.headers.text("X-Consent-Grants"),
        )

    def admit(self, *, at_least: Role) -> Admitted:
        """The person's scope. Raises BadInput `user_required` or `workspace_required`, and as `admit` does."""
        asked = Asked(
            workspace=self._workspace(),
            user=self.headers.scope(USER) or self.user.subject,
            agent=self.headers.scope(AGENT),
            service_group=self.headers.scope(SERVICE_GROUP) or settings.OMNIA.service_group,
        )
        admitted = admit(asked, principal=self.user, at_least=at_least)
        if admitted.user is None:
            raise _invalid(USER, "user_required", "name the user, or use a token that is bound to one")
        return admitted

    def _workspace(self) -> str:
        own = self.user.workspaces or ()
        named = self.headers.scope(WORKSPACE) or settings.OMNIA.workspace or (str(*own) if len(own) == 1 else "")
        if not named:
            raise _invalid(WORKSPACE, "workspace_required", "name the workspace, or use a token of exactly one")
        return named


def _invalid(header: str, code: str, detail: str) -> BadInput:
    return BadInput(f"header {header}: {detail}", code=code, errors=[FieldProblem(f"/{header}", code, detail)])
