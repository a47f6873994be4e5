"""Query vectors of late: the same question comes again within minutes, and a vector costs most of a recall."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from memories.embeddings.base import Vector


class VectorCache:
    """The latest `size` vectors by text. Keeps digests, so that no question stays readable in memory."""

    def __init__(self, *, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Vector | None:
        key = _key(text)
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def put(self, text: str, vector: Vector) -> None:
        with self._lock:
            self._vectors[_key(text)] = vector
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
