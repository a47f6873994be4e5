"""Where the programs of an installed wheel lie, found without importing the wheel."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


class EmbeddedError(Exception):
    """The embedded servers cannot be used here; the message says the fix."""


def wheel(package: str) -> Path:
    """The folder of an installed package. Raises EmbeddedError when it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(f"{package} is not installed; run: .venv/bin/pip install -r requirements-embedded.txt")
    return Path(spec.submodule_search_locations[0])
