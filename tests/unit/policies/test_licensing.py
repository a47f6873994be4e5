"""The edition in force, and what it opens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from omnia.core.edition import Edition
from omnia.core.errors import Forbidden
from omnia.licensing.edition import current_edition, require_enterprise


def test_enterprise_opens_what_core_refuses(settings: Any) -> None:
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.ENTERPRISE)
    assert current_edition() is Edition.ENTERPRISE
    require_enterprise()
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    assert current_edition() is Edition.CORE
    with pytest.raises(Forbidden) as refusal:
        require_enterprise()
    assert refusal.value.code == "enterprise_required"
