"""A database that cannot hold vectors is refused with the fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management.base import CommandError

from policies.management.commands.migrate import check_pgvector


class Database:
    """Answers the two questions the check asks."""

    def __init__(self, *rows: tuple[Any, ...] | None) -> None:
        self.rows = list(rows)

    @contextmanager
    def cursor(self) -> Iterator[Database]:
        yield self

    def execute(self, sql: str) -> None:
        pass

    def fetchone(self) -> tuple[Any, ...] | None:
        return self.rows.pop(0)


@pytest.mark.parametrize("rows", [[(1,)], [None, (True,)]])
def test_an_extension_that_is_there_or_can_be_added_passes(rows: list[Any]) -> None:
    check_pgvector(Database(*rows))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "fix"),
    [([None, None], "apt-get install postgresql-18-pgvector"), ([None, (False,)], "CREATE EXTENSION vector;")],
)
def test_one_that_cannot_be_added_names_the_fix(rows: list[Any], fix: str) -> None:
    with pytest.raises(CommandError, match=fix):
        check_pgvector(Database(*rows))  # type: ignore[arg-type]
