"""Reading a request's body: one pydantic model a message, every field at fault told with its place.

Pydantic, not DRF serializers: a save has twenty fields, and a serializer builds each of them anew for every
request, which alone costs more than the statement that stores the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from omnia.core.errors import BadInput, FieldProblem


class Message(BaseModel):
    """A request body. Fields the server owns are not named here, and so are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


MessageT = TypeVar("MessageT", bound=Message)


def read(model: type[MessageT], body: dict[str, Any]) -> MessageT:
    """The message in `body`. Raises BadInput `invalid` with a pointer for every field at fault, and never its value."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        problems = [
            FieldProblem(_pointer(each["loc"]), _CODES.get(each["type"], "invalid"), _sentence(each, model))
            for each in found
        ]
    first = problems[0]
    raise BadInput(f"{first.pointer or '/'}: {first.detail}", code="invalid", errors=problems)


_CODES = {"missing": "required", "extra_forbidden": "unknown_field"}


def _pointer(location: Sequence[int | str]) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')[:200]}" for part in location)


def _sentence(problem: ErrorDetails, model: type[Message]) -> str:
    """In our words where the library's name no fix."""
    match problem:
        case {"type": "missing"}:
            return "is required"
        case {"type": "extra_forbidden", "loc": (_,)}:
            return f"is not a field here; the fields are: {', '.join(model.model_fields)}"
        case {"type": "extra_forbidden"}:
            return "is not a field here"
    return problem["msg"].removeprefix("Value error, ")
