"""What the ingestion routes accept and answer (design: `/institutional/ingest`)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from memories.api.messages import name_text
from memories.domain.document import SourceDocument
from omnia.api.message import Message

MOST_DOCUMENTS = 100
_LONGEST_URL = 2048


def _given(text: str) -> str | None:
    """The text as it stands; the empty string means "not given"."""
    return name_text(text) if text else None


def _indexable(text: str | None) -> str | None:
    if text and len(text.encode()) > _LONGEST_URL:
        raise ValueError(f"at most {_LONGEST_URL} bytes are expected")
    return text


def _one_line(text: str) -> str | None:
    return " ".join(text.split()) or None


Title = Annotated[str, Field(max_length=1024), AfterValidator(_one_line)]
Site = Annotated[str, Field(max_length=253), AfterValidator(_given)]
Key = Annotated[str, Field(max_length=512), AfterValidator(_given)]
Url = Annotated[str, Field(max_length=_LONGEST_URL), AfterValidator(_given), AfterValidator(_indexable)]


class DocumentMessage(Message):
    """One document of a batch. Without a `document_id` it is known by its exact URL, else by title and text."""

    kind: Literal["document"] = "document"
    document_id: Key | None = None
    title: Title | None = None
    url: Url | None = None
    site: Site | None = None
    text: str

    def source(self) -> SourceDocument:
        return SourceDocument(
            text=self.text, title=self.title, url=self.url, site=self.site, document_id=self.document_id
        )


class IngestMessage(DocumentMessage):
    """POST /institutional/ingest."""

    workspace_id: str | None = None
    service_group: str | None = None


class IngestBatchMessage(Message):
    """POST /institutional/ingest/batch."""

    workspace_id: str | None = None
    service_group: str | None = None
    documents: list[DocumentMessage] = Field(min_length=1, max_length=MOST_DOCUMENTS)


class IngestAnswer(BaseModel):
    document_id: str
    items: int = Field(description="How many items the document is found by.")


class IngestBatchAnswer(BaseModel):
    documents: list[IngestAnswer]


class DocumentAnswer(BaseModel):
    document_id: str
    title: str | None = None
    url: str | None = None
    site: str | None = None
    sections: int
    items: int
    created_at: datetime
    updated_at: datetime


class DocumentsAnswer(BaseModel):
    documents: list[DocumentAnswer]
    total: int
    next: str | None


class DocumentDeletedAnswer(BaseModel):
    status: Literal["deleted"]
    document_id: str
    deleted: int = Field(description="Its memories: the document's own, its sections' and its chunks'.")
