"""A document as a graph: its node, its sections, its chunks, and what joins them (spec: ingestion, the built-in schema).

The nodes come in reading order and one at a time. What the strategy makes of the text goes into the
chunks; the document and its sections are named by title and heading, with their first sentences as
summary, so that no text is found twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from memories.domain.chunking import chunks, count_chunks
from memories.domain.content import says_something
from memories.domain.sections import Section, sections
from memories.domain.summary import extractive_summary
from omnia.core.errors import BadInput, FieldProblem
from policies.domain.effective import IngestionRules

DOCUMENT, SECTION, CHUNK = "document", "section", "chunk"
PART_OF, NEXT = "part_of", "next"
SOURCE_TYPE = "document"
MOST_NODES = 100_000
"""A document of more is refused: nobody means to store it, and one transaction should not try."""
_LONGEST_TITLE = 1024


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """What is handed in to be found again. `document_id` and `url` are exact; their case counts."""

    text: str
    title: str | None = None
    url: str | None = None
    site: str | None = None
    document_id: str | None = None

    @property
    def key(self) -> str:
        """What the document is known by in its workspace; handing in the same key replaces it."""
        return self.document_id or self.url or _digest(self.title or "", self.text)

    @property
    def label(self) -> str:
        return self.title or self.url or self.document_id or "Untitled document"

    @property
    def metadata(self) -> dict[str, str]:
        """What each of its memories says about where it is from."""
        known = {"document_id": self.key, "url": self.url, "site": self.site}
        return {name: value for name, value in known.items() if value}


@dataclass(frozen=True, slots=True)
class Node:
    """One memory of a document. `part_of` is the place, in reading order, of the node above; None for the document."""

    type: str
    title: str | None
    content: str
    summary: str | None = None
    part_of: int | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A node that has its memory."""

    id: UUID
    type: str
    part_of: int | None


Link = tuple[UUID, UUID, str]
"""An edge: source, target, relation."""


def require_document(source: SourceDocument, *, rules: IngestionRules, pointer: str = "") -> None:
    """Raises BadInput for a text that says nothing (`content_empty`) or has too many parts (`document_too_long`)."""
    if not says_something(source.text):
        raise _invalid(pointer, "content_empty", "text must hold at least one letter, digit or symbol")
    if _count_nodes(source, rules) > MOST_NODES:
        raise _invalid(
            pointer,
            "document_too_long",
            f"the text makes more than {MOST_NODES} sections and chunks; split it, or choose larger chunks",
        )


def document_nodes(source: SourceDocument, *, rules: IngestionRules) -> Iterator[Node]:
    """The nodes of a document under the policy's strategy: itself first, and each section before its chunks."""
    yield Node(DOCUMENT, source.title, source.label, extractive_summary(source.text))
    parts = _sections(source, rules)
    headed, place = any(part.path for part in parts), 1
    for part in parts:
        title, above = _title(source.title, part.path), 0
        if part.path or not headed:
            yield Node(SECTION, title, (part.path or (source.label,))[-1], extractive_summary(part.text) or None, 0)
            above, place = place, place + 1
        for content in _items(part.text, rules):
            yield Node(CHUNK, title, content, part_of=above)
            place += 1


def links(placed: Sequence[Placed]) -> Iterator[Link]:
    """`part_of` from each node to the one above, and `next` from section to section and from chunk to chunk."""
    last = dict[str, UUID]()
    for node in placed:
        if node.part_of is None:
            continue
        yield node.id, placed[node.part_of].id, PART_OF
        if node.type in last:
            yield last[node.type], node.id, NEXT
        last[node.type] = node.id


def _sections(source: SourceDocument, rules: IngestionRules) -> list[Section]:
    """The text by its headings; a summary is one piece."""
    if rules.strategy == "chunk":
        return sections(source.text)
    return [Section((), extractive_summary(source.text))]


def _items(text: str, rules: IngestionRules) -> Iterator[str]:
    """What a section is found by: its chunks, or the summary as it stands."""
    if rules.strategy == "summary":
        return iter((text,))
    return chunks(text, size=rules.chunk_size, overlap=rules.chunk_overlap)


def _count_nodes(source: SourceDocument, rules: IngestionRules) -> int:
    return 1 + sum(
        1 + count_chunks(part.text, size=rules.chunk_size, overlap=rules.chunk_overlap)
        for part in _sections(source, rules)
    )


def _title(title: str | None, path: tuple[str, ...]) -> str | None:
    """The title of the document and the headings below it; a first heading that repeats the title counts once."""
    names = [title, *path] if title and path[:1] != (title,) else list(path)
    return " / ".join(filter(None, names))[:_LONGEST_TITLE] or None


def _digest(title: str, text: str) -> str:
    return "sha256:" + hashlib.sha256(f"{title}\0{text}".encode()).hexdigest()


def _invalid(pointer: str, code: str, detail: str) -> BadInput:
    return BadInput(detail, code=code, errors=[FieldProblem(f"{pointer}/text", code, detail)])
