"""Every isolation case is a named test, or is left out for a reason that is written down."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.contract import cases_left_out
from tests.contract.cases_left_out import FIELD, LEFT_OUT, SECURITY

CASES = re.compile(r"^def test_(field|security)_(\d+)_", re.MULTILINE)


def cases_tested() -> set[str]:
    texts = [each.read_text() for each in sorted(Path(__file__).parent.glob("test_isolation*.py"))]
    return {f"{kind}-{number}" for text in texts for kind, number in CASES.findall(text)}


def test_every_case_is_tested_or_left_out_with_a_reason_and_never_both() -> None:
    known = {f"field-{number}" for number in FIELD} | {f"security-{number}" for number in SECURITY}
    assert cases_tested() & set(LEFT_OUT) == set()
    assert cases_tested() | set(LEFT_OUT) == known
    assert all(LEFT_OUT.values())


def test_every_case_is_left_out_once() -> None:
    source = Path(cases_left_out.__file__).read_text()
    assert set(Counter(re.findall(r'^    "([a-z]+-\d+)":', source, re.MULTILINE)).values()) == {1}
