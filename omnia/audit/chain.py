"""The hash chain over the audit trail: what was sealed can be neither changed nor taken out unnoticed.

A sweep seals rows after they were written, in an order of its own: a chain on the write path would make every
writer wait for every other. Each seal is keyed, and covers one row and the seal before it, so that whoever can
write to the database but has not the key cannot make a chain that verifies.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, transaction

from omnia.db import execute, fetch_dicts, lock_key

BATCH = 1000
OVERLAP = timedelta(minutes=10)
"""A row may be committed so long after a later one was sealed, and is still found by the next sweep; one that came
later still, by a clock far behind, is found by `seal_all`."""
_START = b"\0" * 32
_FIRST = UUID(int=0)

_HEAD = "SELECT seq, digest, audit_id FROM omnia_audit_seal ORDER BY seq DESC LIMIT 1"
_UNSEALED = """
SELECT a.* FROM omnia_audit a
WHERE a.id >= %(after)s AND NOT EXISTS (SELECT FROM omnia_audit_seal s WHERE s.audit_id = a.id)
ORDER BY a.id LIMIT %(limit)s
"""
_SEAL = """
INSERT INTO omnia_audit_seal (seq, audit_id, digest, key_id)
SELECT seq, audit_id, digest, %(key)s FROM unnest(%(seqs)s::bigint[], %(ids)s::uuid[], %(digests)s::bytea[])
    AS sealed (seq, audit_id, digest)
"""
_SEALED = """
SELECT s.seq, s.digest, s.key_id, s.audit_id, a.* FROM omnia_audit_seal s LEFT JOIN omnia_audit a ON a.id = s.audit_id
WHERE s.seq > %(after)s ORDER BY s.seq LIMIT %(limit)s
"""
_FIELDS = ("id", "at", "event", "workspace_id", "actor", "subject_hash", "memory_id", "request_id", "ip", "user_agent",
           "reason", "metadata")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verification found. `head` is the last seal in hex: keep it elsewhere to notice a chain cut short."""

    sealed: int
    unsealed: int
    head: str
    faults: Sequence[str]


def seal_pending() -> int:
    """Seals the rows that are not yet, oldest first; how many. Safe beside itself: one seals, the other leaves."""
    head = fetch_dicts(_HEAD, {})
    return _seal(after=_before(head[0]["audit_id"]) if head else _FIRST)


def seal_all() -> int:
    """As `seal_pending`, looking through the whole trail."""
    return _seal(after=_FIRST)


def _seal(*, after: UUID) -> int:
    sealed = 0
    while batch := _seal_batch(after=after):
        sealed += batch
    return sealed


def verify(*, expected_head: str = "") -> Verdict:
    """Goes through the whole chain. A fault names the seal's number and what is wrong with it."""
    faults: list[str] = []
    digest, count, met = _START, 0, not expected_head
    for seal in _seals():
        count += 1
        faults += _faults(seal, before=digest, place=count)
        digest = bytes(seal["digest"])
        met = met or digest.hex() == expected_head
    if not met:
        faults.append("the expected head is not in the chain: its end was cut off, or another chain put in its place")
    [left] = fetch_dicts(
        "SELECT count(*) FROM omnia_audit a WHERE NOT EXISTS (SELECT FROM omnia_audit_seal s WHERE s.audit_id = a.id)",
        {},
    )
    return Verdict(count, left["count"], digest.hex(), faults)


def _faults(seal: Mapping[str, Any], *, before: bytes, place: int) -> Iterator[str]:
    name = f"seal {seal['seq']}"
    if seal["seq"] != place:
        yield f"{name}: {seal['seq'] - place} seals before it are missing"
    if seal["id"] is None:
        yield f"{name}: its row {seal['audit_id']} is gone"
    elif seal["key_id"] != _key_id():
        yield f"{name}: it was made with another key ({seal['key_id']})"
    elif not hmac.compare_digest(_digest(before, seal), bytes(seal["digest"])):
        yield f"{name}: its row {seal['audit_id']} or the seal before it was changed"


def _seals() -> Iterator[dict[str, Any]]:
    after = 0
    while rows := fetch_dicts(_SEALED, {"after": after, "limit": BATCH}):
        yield from rows
        after = rows[-1]["seq"]


def _before(row: UUID) -> UUID:
    """An id OVERLAP older than this one: an id begins with its moment, in milliseconds (RFC 9562, version 7)."""
    moment = (row.int >> 80) - OVERLAP // timedelta(milliseconds=1)
    return UUID(int=max(moment, 0) << 80)


def _seal_batch(*, after: UUID) -> int:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock_key("audit chain")])
            if not cursor.fetchone()[0]:
                return 0
        rows = fetch_dicts(_UNSEALED, {"after": after, "limit": BATCH})
        if not rows:
            return 0
        head = fetch_dicts(_HEAD, {})
        number, digest = (head[0]["seq"], bytes(head[0]["digest"])) if head else (0, _START)
        digests = []
        for row in rows:
            digest = _digest(digest, row)
            digests.append(digest)
        values = {"seqs": list(range(number + 1, number + len(rows) + 1)), "ids": [row["id"] for row in rows]}
        return execute(_SEAL, values | {"digests": digests, "key": _key_id()})


def _digest(before: bytes, row: Mapping[str, Any]) -> bytes:
    """Over the seal before and every field of the row, written in one way only."""
    fields = {name: _plain(row[name]) for name in _FIELDS}
    return hmac.digest(_key(), before + orjson.dumps(fields, option=orjson.OPT_SORT_KEYS | orjson.OPT_UTC_Z), "sha256")


def _plain(value: Any) -> Any:
    """JSON knows no network addresses."""
    return str(value) if type(value).__module__ == "ipaddress" else value


def _key() -> bytes:
    return hashlib.sha256(b"audit chain\0" + (settings.OMNIA.pseudonym_key or settings.SECRET_KEY).encode()).digest()


def _key_id() -> str:
    """Which key made a seal, without telling it."""
    return hashlib.sha256(_key()).hexdigest()[:8]
