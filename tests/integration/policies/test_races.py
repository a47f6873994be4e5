"""Two edits at once: each waits for the other, and none is lost or stored twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from omnia.core.errors import Conflict, OmniaError, PreconditionFailed
from policies.models import MemoryPolicy, Workspace
from policies.services.edit import create_policy, put_policy, replace_policy
from policies.services.wire import etag
from policies.services.workspaces import create_workspace
from tests.contract.policy_documents import NOW, policy, workspace
from tests.integration.policies.actors import OPERATOR

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS = 4


def together(act: Callable[[int], Any]) -> list[Any]:
    """The results of `act` in as many threads, started as one; an error of ours is a result."""
    everyone = threading.Barrier(CALLERS)

    def run(number: int) -> Any:
        try:
            everyone.wait(10)
            return act(number)
        except OmniaError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLERS) as pool:
        return list(pool.map(run, range(CALLERS)))


def edited(number: int) -> dict[str, Any]:
    return policy({"write": {"maxBodyBytes": number + 1}})


def refusals(results: list[Any]) -> list[type[OmniaError]]:
    return [type(each) for each in results if isinstance(each, OmniaError)]


def test_a_policy_is_created_once() -> None:
    results = together(lambda number: create_policy(edited(number), actor=OPERATOR, now=NOW))
    assert refusals(results) == [Conflict] * (CALLERS - 1)
    assert MemoryPolicy.objects.get().generation == 1


def test_a_workspace_is_created_once() -> None:
    results = together(lambda _: create_workspace(workspace(), actor=OPERATOR, now=NOW))
    assert refusals(results) == [Conflict] * (CALLERS - 1)
    assert Workspace.objects.count() == 1


def test_one_of_several_edits_of_one_reading_wins() -> None:
    read = etag(create_policy(policy(), actor=OPERATOR, now=NOW))
    results = together(lambda number: replace_policy("p", edited(number), actor=OPERATOR, now=NOW, expected=read))
    assert refusals(results) == [PreconditionFailed] * (CALLERS - 1)
    assert MemoryPolicy.objects.get().generation == 2


def test_edits_that_expect_nothing_follow_one_another() -> None:
    create_policy(policy(), actor=OPERATOR, now=NOW)
    assert refusals(together(lambda number: put_policy(edited(number), actor=OPERATOR, now=NOW))) == []
    assert MemoryPolicy.objects.get().generation == 1 + CALLERS
