"""The sections of a Markdown text: what stands under each heading (reference: Ingestion).

Headings are read as CommonMark reads them, `#` and underlined, outside of code and front matter. What is
left of the text, all of it, belongs to the heading above; a text without headings is one section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_HEADING = 300
"""In characters. A longer line is no heading but a paragraph that begins like one."""
_DEEPEST = 6
_LINE = re.compile(r".*\n?")
_FENCE = re.compile(r"`{3,}(?=[^`]*\Z)|~{3,}")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_NO_PARAGRAPH = ("#", ">", "-", "*", "+", "|", "<", "`", "~")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:.*\n)*?---[ \t]*(?:\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a document. `path` holds the headings it stands under, outermost first; none before the first."""

    path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading and the place of its line or lines in the text."""

    level: int
    title: str
    start: int
    end: int


def sections(text: str) -> list[Section]:
    """One section for each heading, in reading order, and one more for what stands before the first, if anything."""
    found, above, start = list[Section](), list[_Heading](), 0
    for heading in _headings(text):
        found.append(_section(above, text[start : heading.start]))
        above = [each for each in above if each.level < heading.level] + [heading]
        start = heading.end
    found.append(_section(above, text[start:]))
    return [each for each in found if each.path or each.text.strip() or len(found) == 1]


def _section(above: list[_Heading], text: str) -> Section:
    return Section(tuple(each.title for each in above), text)


def _headings(text: str) -> Iterator[_Heading]:
    front = _FRONT_MATTER.match(text)
    fence, before, fresh = "", None, True  # inside which code; the line above, if it is a paragraph by itself
    for line in _LINE.finditer(text, front.end() if front else 0):
        words = line[0].strip()
        if fence:
            fence = "" if _closes(fence, words) else fence
            continue
        opening = _FENCE.match(words) if _shallow(line[0]) else None
        heading = None if opening else _heading(line, before)
        if heading:
            yield heading
        fence = opening[0] if opening else ""
        begins = fresh and _is_paragraph(line[0])
        fresh = bool(opening or heading or not words)
        before = line if begins and not fresh else None


def _heading(line: re.Match[str], before: re.Match[str] | None) -> _Heading | None:
    """The heading that ends with `line`: a `#` line, or the underline of the lone line before it."""
    if len(line[0]) > LONGEST_HEADING or not _shallow(line[0]):
        return None
    words = line[0].strip()
    if before and _UNDERLINE.fullmatch(words):
        return _Heading(1 if words[0] == "=" else 2, _one_line(before[0]), before.start(), line.end())
    level = len(words) - len(words.lstrip("#"))
    title = _one_line(_without_closing(words[level:]))
    if 1 <= level <= _DEEPEST and words[level : level + 1] in (" ", "\t") and title:
        return _Heading(level, title, line.start(), line.end())
    return None


def _without_closing(title: str) -> str:
    """`Title ##` is the title alone; `C#` keeps its sign."""
    opened = title.rstrip("#")
    return opened if opened[-1:] in (" ", "\t") else title


def _closes(fence: str, words: str) -> bool:
    return len(words) >= len(fence) and set(words) == {fence[0]}


def _shallow(line: str) -> bool:
    """Less than the four spaces that make a line code."""
    return not line.startswith(("    ", "\t", " \t", "  \t", "   \t"))


def _is_paragraph(line: str) -> bool:
    return len(line) <= LONGEST_HEADING and _shallow(line) and not line.lstrip().startswith(_NO_PARAGRAPH)


def _one_line(text: str) -> str:
    return " ".join(text.split())
