"""Every case is shown by a test that exists, or is left out for a reason that is written down; never both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contract.cases_covered import COVERED, SECTIONS
from tests.contract.cases_left_out import LEFT_OUT

TESTS = Path(__file__).parent.parent
NAMED_AFTER = re.compile(r"^\s*def test_(field|security|behaviour)_(\d+)_", re.MULTILINE)
FUNCTION = re.compile(r"^\s*def (test_\w+)\(", re.MULTILINE)
KEYS = re.compile(r'^    "([a-z]+-\d+)":', re.MULTILINE)


def named_after_a_case() -> set[str]:
    texts = [each.read_text() for each in sorted(TESTS.rglob("test_*.py"))]
    return {f"{kind}-{number}" for text in texts for kind, number in NAMED_AFTER.findall(text)}


def test_every_case_is_tested_or_left_out_with_a_reason_and_never_both() -> None:
    known = {f"{kind}-{number}" for section in SECTIONS for kind, numbers in section.items() for number in numbers}
    tested = named_after_a_case() | set(COVERED)
    assert tested & set(LEFT_OUT) == set()
    assert tested | set(LEFT_OUT) == known
    assert all(LEFT_OUT.values())


@pytest.mark.parametrize("test", sorted(set(COVERED.values())))
def test_the_test_that_shows_a_case_is_there(test: str) -> None:
    file, function = test.split("::")
    assert function in FUNCTION.findall((TESTS / file).read_text())


@pytest.mark.parametrize("register", ["cases_covered.py", "cases_left_out.py"])
def test_a_case_is_listed_once(register: str) -> None:
    cases = KEYS.findall((TESTS / "contract" / register).read_text())
    assert len(cases) == len(set(cases)) > 0
