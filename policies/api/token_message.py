"""What POST /tokens accepts."""

from __future__ import annotations

from datetime import timedelta

from pydantic import ConfigDict, Field

from omnia.api.message import Message
from omnia.api.principal import Role
from omnia.core.duration import parse_duration
from omnia.core.errors import BadInput, FieldProblem
from policies.services.tokens import Wish


class TokenMessage(Message):
    """POST /tokens. A misspelt field would make a token that may more than was meant, so it is refused."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=120)
    role: str = Field(description="platform-admin, owner, editor or viewer.")
    workspaces: list[str] = Field(default_factory=list, max_length=100, description="Uids or names, or `*`.")
    user: str | None = Field(default=None, max_length=253, description="Binds the token to this end user.")
    scopes: list[str] = Field(default_factory=list, max_length=10)
    expires: str | None = Field(default=None, max_length=40, description="A lifetime such as 90d; left out: for ever.")

    def wish(self) -> Wish:
        """Raises BadInput naming the field that means nothing."""
        return Wish(
            name=self.name,
            role=_role(self.role),
            workspaces=self.workspaces,
            subject=self.user,
            scopes=frozenset(self.scopes),
            lifetime=None if self.expires is None else _lifetime(self.expires),
        )


def _role(label: str) -> Role:
    try:
        return Role.of(label)
    except KeyError:
        known = ", ".join(role.label for role in reversed(Role))
        raise _invalid("role", f"one of {known} is expected") from None


def _lifetime(text: str) -> timedelta:
    try:
        lifetime = parse_duration(text)
    except ValueError as error:
        raise _invalid("expires", str(error)) from None
    if lifetime is None:
        raise _invalid("expires", "write a span such as 90d, or leave it out")
    return lifetime


def _invalid(field: str, detail: str) -> BadInput:
    return BadInput(
        f"{field}: {detail}", code=f"invalid_{field}", errors=[FieldProblem(f"/{field}", "invalid", detail)]
    )
