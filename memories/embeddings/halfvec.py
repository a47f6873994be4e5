"""How a vector reaches PostgreSQL: as a halfvec parameter in binary, on every connection.

The parameter carries no type of its own, so the server takes the one its place asks for (`$1::halfvec`,
`embedding <=> $1`). That costs no catalogue query per connection and works before the extension exists.
"""

from __future__ import annotations

from typing import Any

from pgvector import HalfVector
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper

from memories.embeddings.base import Vector


def to_halfvec(vector: Vector) -> HalfVector:
    """The parameter for `vector`. A unit vector stays one to within a half's precision (2^-11)."""
    return HalfVector(vector)


def register_halfvec(*, connection: Any, **_signal: object) -> None:
    """Receiver of `connection_created`: psycopg takes the binary form, and text where it binds by itself."""
    if connection.vendor == "postgresql":
        adapters = connection.connection.adapters
        adapters.register_dumper(HalfVector, HalfVectorDumper)
        adapters.register_dumper(HalfVector, HalfVectorBinaryDumper)
