"""The files an operator names, read as documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.core.management.base import CommandError

from omnia.core.errors import BadInput
from policies.domain.manifest import load_documents
from policies.domain.plan import Entry, entries_of

STANDARD_INPUT = "-"


def read_entries(names: Sequence[str]) -> list[Entry]:
    """The documents of every file, in order. Raises CommandError naming the file that holds none."""
    return [entry for name in names for entry in _entries(name)]


def _entries(name: str) -> Iterator[Entry]:
    origin = "standard input" if name == STANDARD_INPUT else name
    try:
        documents = load_documents(_read(name).decode("utf-8-sig"))
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{origin} is not UTF-8 text.") from None
    except BadInput as error:
        raise CommandError(f"{origin}: {error.detail}") from None
    if not documents:
        raise CommandError(f"{origin} holds no document.")
    yield from entries_of(documents, origin=origin)


def _read(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
