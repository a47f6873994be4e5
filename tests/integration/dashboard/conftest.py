"""What every page test needs: plain names for static files (nothing is collected for a test), cheap passwords."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from policies.services.access import clear_cache
from tests.integration.dashboard.scene import QUICK_HASHER, plain_static_files


@pytest.fixture(autouse=True)
def quick_pages(settings: Settings) -> None:
    settings.STORAGES = plain_static_files(settings.STORAGES)
    settings.PASSWORD_HASHERS = [QUICK_HASHER]
    clear_cache()
