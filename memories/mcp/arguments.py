"""What each tool takes, read as strictly as a request body: an argument nobody reads is refused."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from memories.api.messages import Label, Metadata, Share, Unit, Words
from memories.api.recall_messages import StrictMessage
from memories.domain.about import About
from memories.domain.guidance_parameters import usual_type
from memories.domain.query_text import LONGEST_QUERY
from memories.domain.ranking import DEFAULT_LIMIT, LARGEST_LIMIT
from memories.domain.reach import DEEPEST_OFFSET, DEFAULT_PAGE, LARGEST_PAGE, Filters
from memories.domain.save import SaveCommand
from memories.recall.request import RecallRequest
from memories.services.open import not_found
from omnia.core.errors import BadInput, FieldProblem
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy


class RememberArguments(StrictMessage):
    content: str
    type: Label | None = None
    confidence: Unit | None = None
    category: str | None = Field(default=None, max_length=64)
    about_kind: str | None = None
    about_key: str | None = None
    title: str | None = Field(default=None, max_length=1024)
    summary: str | None = Field(default=None, max_length=8192)
    purpose: Label | None = None
    metadata: Metadata = Field(default_factory=dict)
    share: Share = False

    def command(self, *, scope: Scope, policy: EffectivePolicy) -> SaveCommand:
        """Raises BadInput `required` where the type must be named, `invalid_about` for half a key."""
        return SaveCommand(
            scope=scope,
            type=self._type(policy),
            content=self.content,
            confidence=self.confidence,
            metadata=self.metadata,
            category=self.category,
            about=self._about(),
            title=self.title,
            summary=self.summary,
            purpose=self.purpose,
            share=self.share,
        )

    def _type(self, policy: EffectivePolicy) -> str:
        named = self.type or usual_type(policy)
        if named is None:
            raise _invalid("type", "required", "name the type: this workspace has none that goes without saying")
        return named

    def _about(self) -> About | None:
        if self.about_kind is None and self.about_key is None:
            return None
        if self.about_kind is None or self.about_key is None:
            missing = "about_kind" if self.about_kind is None else "about_key"
            raise _invalid(missing, "invalid_about", "about_kind and about_key go together")
        return About.of(self.about_kind, self.about_key)


class RecallArguments(StrictMessage):
    query: str = Field(max_length=LONGEST_QUERY)
    types: Words | None = None
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT)
    min_confidence: Unit | None = None
    preview: bool = False

    def request(self, *, scope: Scope) -> RecallRequest:
        return RecallRequest(
            scope=scope,
            query=self.query.strip(),
            types=tuple(self.types or ()),
            min_confidence=self.min_confidence,
            limit=self.limit,
            preview=self.preview,
        )


class ListArguments(StrictMessage):
    types: Words | None = None
    limit: int = Field(default=DEFAULT_PAGE, ge=1, le=LARGEST_PAGE)
    offset: int = Field(default=0, ge=0, le=DEEPEST_OFFSET)

    @property
    def filters(self) -> Filters:
        return Filters(types=tuple(self.types or ()))


class MemoryArguments(StrictMessage):
    memory_id: str = Field(max_length=64)

    @property
    def memory(self) -> UUID:
        """The id. Raises NotFound for what is no id of ours: it names no memory."""
        try:
            return UUID(self.memory_id)
        except ValueError:
            raise not_found() from None


def _invalid(name: str, code: str, detail: str) -> BadInput:
    return BadInput(f"{name}: {detail}", code=code, errors=[FieldProblem(f"/{name}", code, detail)])
