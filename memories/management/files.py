"""Files as documents: which there are under the given paths, and what each says (`manage.py ingest`).

What is no text is told apart here, so that the command can name the file and go on.
"""

from __future__ import annotations

import codecs
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from markdownify import ATX, MarkdownConverter

from memories.domain.document import SourceDocument
from memories.domain.sections import sections

LARGEST_FILE = 16 * 1024 * 1024
"""In bytes, as a request's body."""
_MARKDOWN, _TEXT, _HTML = {".md", ".markdown"}, {".txt", ".text"}, {".html", ".htm", ".xhtml"}
KNOWN = _MARKDOWN | _TEXT | _HTML
_SILENT = ("script", "style", "template", "noscript", "head", "svg")
_LONGEST_TITLE = 1024


class Unreadable(Exception):
    """A file that is no document; the message says why and never what it holds."""


@dataclass(frozen=True, slots=True)
class File:
    """A file and the name it goes by: its path relative to the folder that was given."""

    path: Path
    name: str

    @property
    def size(self) -> int:
        """Bytes; 0 where nobody can tell."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def find(paths: Sequence[Path]) -> tuple[list[File], int]:
    """The files under `paths`, folder by folder in the order of their names, and how many of other kinds were left out.

    A path that is no folder is taken as it is, whatever its name. Hidden files and folders are not looked at,
    and links to folders not followed.
    """
    found, others = list[File](), 0
    for path in paths:
        if not path.is_dir():
            found.append(File(path, path.name))
            continue
        for each in _walk(path):
            if each.suffix.lower() in KNOWN:
                found.append(File(each, each.relative_to(path).as_posix()))
            else:
                others += 1
    return found, others


def read_document(file: File, *, site: str | None) -> SourceDocument:
    """The document a file holds. Raises Unreadable."""
    raw = _bytes(file.path)
    title, text = _from_html(raw) if file.path.suffix.lower() in _HTML else _from_text(raw)
    if "\0" in text:
        raise Unreadable("it is binary")
    named = " ".join((title or file.path.stem).split())
    return SourceDocument(text=text, title=named[:_LONGEST_TITLE] or None, site=site, document_id=file.name)


def _walk(folder: Path) -> Iterator[Path]:
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(above, name) for name in sorted(names) if not name.startswith("."))


def _bytes(path: Path) -> bytes:
    try:
        if not path.exists():
            raise Unreadable("there is no such file")
        if not path.is_file():
            raise Unreadable("it is no regular file")
        if path.stat().st_size > LARGEST_FILE:
            raise Unreadable(f"it is larger than {LARGEST_FILE // 1024**2} MiB")
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"it cannot be read ({error.strerror})") from None


def _from_text(raw: bytes) -> tuple[str | None, str]:
    """The first heading, and the text."""
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("it is not text in UTF-8") from None
    return next((part.path[0] for part in sections(text) if part.path), None), text


def _from_html(raw: bytes) -> tuple[str | None, str]:
    """The page's title, and its text with headings as Markdown; links and pictures leave their words."""
    if b"\0" in raw and not raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unreadable("it is binary")
    try:
        with warnings.catch_warnings(action="ignore", category=XMLParsedAsHTMLWarning):
            page = BeautifulSoup(raw, "html.parser")
        title = page.title.get_text() if page.title else None
        for tag in page(_SILENT):
            tag.decompose()
        return title, _AsMarkdown().convert_soup(page).strip()
    except RecursionError:
        raise Unreadable("its tags are nested too deeply") from None


class _AsMarkdown(MarkdownConverter):
    """Words as they stand: nothing is escaped, since what is read are headings, not emphasis."""

    class Options:
        heading_style = ATX
        strip = ("a", "img")
        escape_asterisks = False
        escape_underscores = False
