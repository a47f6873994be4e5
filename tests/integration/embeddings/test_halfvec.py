"""A vector as a parameter: in binary, without a type of its own, on every connection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.db import connection
from psycopg import ClientCursor
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format

from memories.embeddings.halfvec import to_halfvec
from memories.embeddings.hashing import HashingEmbedder

pytestmark = pytest.mark.django_db


def vector(text: str) -> Any:
    made = HashingEmbedder().embed_query(text)
    assert made is not None
    return made


def sent(text: str) -> Any:
    """As statements take it."""
    return to_halfvec(vector(text))


@pytest.mark.parametrize("cast", ["halfvec", "halfvec(384)"])
def test_it_arrives_as_it_was_sent(cast: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT (%s::{cast})::text, vector_dims(%s::{cast})", [sent("tea")] * 2)
        text, dimensions = cursor.fetchone()
    assert dimensions == 384
    assert np.allclose([float(number) for number in text.strip("[]").split(",")], vector("tea"), rtol=2**-10)


def test_it_is_sent_in_binary() -> None:
    connection.ensure_connection()
    dumper = Transformer(connection.connection).get_dumper(sent("tea"), PyFormat.AUTO)
    assert dumper.format == Format.BINARY


def test_it_needs_no_cast_beside_an_operator() -> None:
    near = vector("tea") @ vector("green tea")
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::halfvec <=> %s", [sent("tea"), sent("green tea")])
        assert cursor.fetchone()[0] == pytest.approx(1 - near, abs=1e-3)


def test_prepared_statements_take_it_too() -> None:
    with connection.cursor() as cursor:
        for text in ("tea", "milk", "salt", "rice", "corn"):
            cursor.execute("SELECT %s::halfvec(384) <=> %s::halfvec(384)", [sent(text)] * 2)
            assert cursor.fetchone()[0] == pytest.approx(0, abs=1e-3)


def test_a_cursor_that_binds_by_itself_writes_it_as_text() -> None:
    connection.ensure_connection()
    query = ClientCursor(connection.connection).mogrify("SELECT %s::halfvec", [sent("tea")])
    assert query.startswith("SELECT '[0")
