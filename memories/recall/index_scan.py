"""How the approximate index is searched, on every connection (architecture, rule 11).

By default it gathers its nearest rows first and filters them afterwards: where other workspaces' rows lie
nearer to a question, nothing of one's own is left. Iterative, it goes on until the filter has its rows.
"""

from __future__ import annotations

from typing import Any

_SETTINGS = (
    "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', false), set_config('hnsw.ef_search', '60', false)"
)


def search_on(*, connection: Any, **_signal: object) -> None:
    """Receiver of `connection_created`. Works before the extension exists: the settings wait for it."""
    if connection.vendor == "postgresql":
        connection.connection.execute(_SETTINGS)
