"""Query parameters are what they should be, or the caller learns which was not (security cases 225, 246, 247, 258)."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.http import QueryDict

from omnia.api.query import Query
from omnia.core.errors import BadInput

ID = UUID("01a22e4f-594c-7c82-ac0e-e4e65dff07c8")


def query(text):
    return Query(QueryDict(text))


def limit(asked):
    return asked.integer("n", default=20, low=1, high=100)


READ = [
    ("", lambda q: q.text("n"), None),
    ("n=", lambda q: q.text("n"), None),
    ("n=%20a", lambda q: q.text("n"), " a"),
    ("", limit, 20),
    ("n=", limit, 20),
    ("n=100", limit, 100),
    ("", lambda q: q.number("n", low=0, high=1), None),
    ("n=0.25", lambda q: q.number("n", low=0, high=1), 0.25),
    ("", lambda q: q.flag("n"), False),
    ("n=True", lambda q: q.flag("n"), True),
    ("n=0", lambda q: q.flag("n"), False),
    ("", lambda q: q.words("n"), ()),
    ("n=a,b&n=%20c,,a", lambda q: q.words("n"), ("a", "b", "c")),
    ("", lambda q: q.uuid("n"), None),
    (f"n={ID}", lambda q: q.uuid("n"), ID),
    (f"n={ID.hex.upper()}", lambda q: q.uuid("n"), ID),
    ("", lambda q: q.moment("n"), None),
    ("n=2026-01-31T09:30:00%2B01:00", lambda q: q.moment("n"), datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
]
REFUSED = [
    *[(text, lambda q: q.text("n")) for text in ("n=a&n=b", "n=a&n=a", "n=%00", "n=%20%09", "n=" + "x" * 254)],
    *[("n=" + text, limit) for text in ("abc", "-1", "0", "101", "1e9", "1.5", "٣", "+5", "%205", "9" * 400)],
    *[
        ("n=" + text, lambda q: q.number("n", low=0, high=1))
        for text in ("nan", "inf", "1.1", "-0.1", "1e-1", "0x1", "½")
    ],
    *[("n=" + text, lambda q: q.flag("n")) for text in ("yes", "2", "wahr")],
    *[
        ("n=" + text, lambda q: q.uuid("n"))
        for text in ("1", "{" + str(ID) + "}", "urn:uuid:" + str(ID), str(ID) + "0")
    ],
    *[("n=" + text, lambda q: q.moment("n")) for text in ("2026-01-31", "2026-01-31T09:30:00", "1764547200", "now")],
    ("n=a%00", lambda q: q.words("n")),
]


@pytest.mark.parametrize(("text", "read", "value"), READ)
def test_read(text, read, value):
    assert read(query(text)) == value


@pytest.mark.parametrize(("text", "read"), REFUSED)
def test_refused_with_the_parameter_named(text, read):
    with pytest.raises(BadInput) as refusal:
        read(query(text))
    assert refusal.value.code == "invalid_parameter"
    assert [problem.pointer for problem in refusal.value.errors] == ["/n"]
