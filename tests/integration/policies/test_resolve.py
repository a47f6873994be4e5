"""Which policy is in force: binding, freshness, outage and phase (spec: How Policies Are Bound)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from policies.domain.effective import EffectivePolicy
from policies.models import MemoryPolicy
from policies.services import resolve
from policies.services.edit import create_policy, delete_policy, replace_policy
from policies.services.fresh import Fresh
from policies.services.resolve import clear_cache, policy_for
from policies.services.workspaces import create_workspace, replace_workspace
from tests.contract.policy_documents import NOW, bound, policy, workspace
from tests.integration.policies.actors import OPERATOR

pytestmark = pytest.mark.django_db

SMALL = {"write": {"maxBodyBytes": 100}}


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    clear_cache()
    yield
    clear_cache()


def make_policy(spec: dict[str, Any] | None = None, name: str = "p") -> None:
    create_policy(policy(spec, name=name), actor=OPERATOR, now=NOW)


def make_workspace(spec: dict[str, Any] | None = None, name: str = "w") -> UUID:
    return create_workspace(workspace(spec, name=name), actor=OPERATOR, now=NOW).uid


def in_force(uid: UUID, group: str = "default") -> EffectivePolicy:
    return policy_for(uid, service_group=group)


def test_a_group_runs_on_the_policy_it_binds() -> None:
    make_policy(SMALL)
    found = in_force(make_workspace(bound("p")))
    assert (found.name, found.generation, found.max_body_bytes) == ("p", 1, 100)


def test_one_policy_serves_many_workspaces_and_each_group_has_its_own() -> None:
    make_policy(SMALL, name="small")
    make_policy(name="plain")
    services = bound("small")["services"] + bound("plain", group="batch")["services"]
    first, second = make_workspace({"services": services}, name="a"), make_workspace(bound("small"), name="b")
    assert [in_force(first).name, in_force(first, "batch").name, in_force(second).name] == ["small", "plain", "small"]


UNBOUND: list[dict[str, Any]] = [
    {},
    {"services": [{}]},
    {"services": [{"memory": {}}]},
    bound("missing"),
    bound("p", group="other"),
]


@pytest.mark.parametrize("spec", UNBOUND)
def test_without_a_policy_the_built_in_defaults_stand(spec: dict[str, Any]) -> None:
    make_policy(SMALL)
    found = in_force(make_workspace(spec))
    assert (found.name, found.generation, found.max_body_bytes) == (None, 0, 8192)
    assert found.vocabulary.version == "builtin.v1"


def test_a_workspace_nobody_knows_has_no_policy() -> None:
    assert in_force(uuid4()).name is None


def test_policies_and_the_lack_of_one_are_read_once() -> None:
    make_policy(SMALL)
    with_policy, without = make_workspace(bound("p"), name="a"), make_workspace(name="b")
    in_force(with_policy), in_force(without)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        in_force(with_policy), in_force(without)
    assert len(queries) == 0


def test_resolving_is_one_statement() -> None:
    make_policy(SMALL)
    uid = make_workspace(bound("p"))
    with CaptureQueriesContext(connection) as queries:
        in_force(uid)
    assert len(queries) == 1


def test_an_edit_in_this_process_applies_at_once() -> None:
    make_policy(SMALL)
    uid = make_workspace(bound("p"))
    assert in_force(uid).max_body_bytes == 100
    replace_policy("p", policy({"write": {"maxBodyBytes": 200}}), actor=OPERATOR, now=NOW)
    assert in_force(uid).max_body_bytes == 200
    replace_workspace("w", workspace(bound("missing")), actor=OPERATOR, now=NOW)
    assert in_force(uid).name is None
    replace_workspace("w", workspace(bound("p")), actor=OPERATOR, now=NOW)
    delete_policy("p", actor=OPERATOR)
    assert in_force(uid).name is None


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock for the cache of the module under test."""
    found = Clock()
    cache = Fresh(resolve.load, lifetime=lambda: 20.0, fallback=resolve._no_policy, clock=found)
    monkeypatch.setattr(resolve, "_policies", cache)
    return found


def test_an_edit_elsewhere_applies_when_the_cache_expires(clock: Clock) -> None:
    make_policy(SMALL)
    uid = make_workspace(bound("p"))
    assert in_force(uid).max_body_bytes == 100
    MemoryPolicy.objects.update(spec={"tiers": {}, "write": {"maxBodyBytes": 300}}, generation=2)
    clock.now += 19.9
    assert in_force(uid).max_body_bytes == 100
    clock.now += 0.1
    assert (in_force(uid).max_body_bytes, in_force(uid).generation) == (300, 2)


def test_a_policy_made_elsewhere_applies_when_the_cache_expires(clock: Clock) -> None:
    uid = make_workspace(bound("p"))
    assert in_force(uid).name is None
    MemoryPolicy.objects.create(name="p", spec={"tiers": {}, **SMALL}, phase="Active")
    clock.now += 20
    assert in_force(uid).max_body_bytes == 100


@pytest.mark.parametrize("setting", [0.0, 20.0, 30.0])
def test_the_cache_lives_as_long_as_the_setting_says_and_never_over_thirty_seconds(
    setting: float, settings: Any
) -> None:
    settings.OMNIA = replace(settings.OMNIA, policy_cache_seconds=setting)
    assert resolve._policies._lifetime() == setting <= 30


def outage(*_args: Any, **_kwargs: Any) -> Any:
    raise OperationalError("the connection is closed")


def test_a_database_error_leaves_the_last_good_policy(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    make_policy(SMALL)
    uid = make_workspace(bound("p"))
    in_force(uid)
    clock.now += 25
    with monkeypatch.context() as patched:
        patched.setattr(MemoryPolicy.objects, "filter", outage)
        assert in_force(uid).max_body_bytes == 100
    clock.now += 1
    MemoryPolicy.objects.update(spec={"tiers": {}, "write": {"maxBodyBytes": 300}})
    assert in_force(uid).max_body_bytes == 300


def test_a_database_error_before_the_first_reading_leaves_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    make_policy(SMALL)
    uid = make_workspace(bound("p"))
    monkeypatch.setattr(MemoryPolicy.objects, "filter", outage)
    assert in_force(uid).max_body_bytes == 8192


def test_a_policy_in_phase_error_leaves_its_last_valid_spec_in_force() -> None:
    make_policy(SMALL)
    uid = make_workspace(bound("p"))
    broken = {"tiers": {"user": {"ttl": {"default": "2d", "maxAge": "1d"}}}, "write": {"maxBodyBytes": 7}}
    row = replace_policy("p", policy(broken), actor=OPERATOR, now=NOW)
    assert row.phase == "Error"
    assert in_force(uid).max_body_bytes == 100


def test_a_policy_that_never_was_valid_leaves_the_defaults_in_force() -> None:
    make_policy({"tiers": {"user": {"ttl": {"default": "2d", "maxAge": "1d"}}}, "write": {"maxBodyBytes": 7}})
    assert in_force(make_workspace(bound("p"))).max_body_bytes == 8192


@pytest.mark.parametrize("spec", [[], "text", 7, {"tiers": 3, "write": {"maxBodyBytes": "x"}}])
def test_a_row_some_older_version_wrote_never_stops_a_request(spec: Any) -> None:
    MemoryPolicy.objects.create(name="p", spec=spec, phase="Active")
    assert in_force(make_workspace(bound("p"))).max_body_bytes == 8192
