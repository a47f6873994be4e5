"""The cluster's settings: a start that would let in nobody, or could not tell who is who, is refused."""

from __future__ import annotations

import pytest

from omnia.config import ClusterConfig, ConfigError, OmniaConfig, ServiceAccounts

AUDIENCE = {"OMNIA_KUBERNETES": "in-cluster", "OMNIA_AUTH_AUDIENCES": "memory"}
NAMESPACES, SUBJECTS = "OMNIA_AUTH_ALLOWED_NAMESPACES", "OMNIA_AUTH_ALLOWED_SUBJECTS"
ACCOUNT = "system:serviceaccount:agents:facade"


def test_without_settings_there_is_no_cluster_and_no_service_account() -> None:
    assert OmniaConfig.from_env({}).cluster == ClusterConfig("off", ServiceAccounts())


def test_the_lists_are_read() -> None:
    env = {**AUDIENCE, NAMESPACES: "agents, tools", SUBJECTS: ACCOUNT, "OMNIA_AUTH_ROLE": "owner"}
    expected = ServiceAccounts(("memory",), frozenset([ACCOUNT]), frozenset(["agents", "tools"]), "owner")
    assert OmniaConfig.from_env(env).cluster == ClusterConfig("in-cluster", expected)


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"OMNIA_KUBERNETES": "on"}, "OMNIA_KUBERNETES"),
        (AUDIENCE, f"OMNIA_AUTH_AUDIENCES is set and nobody is allowed.*{SUBJECTS}.*{NAMESPACES}"),
        ({**AUDIENCE, NAMESPACES: " , "}, "nobody is allowed"),
        ({"OMNIA_KUBERNETES": "in-cluster", NAMESPACES: "agents"}, "OMNIA_AUTH_AUDIENCES must name"),
        ({"OMNIA_AUTH_AUDIENCES": "memory", NAMESPACES: "agents"}, "set OMNIA_KUBERNETES"),
        ({**AUDIENCE, NAMESPACES: "*"}, NAMESPACES),
        ({**AUDIENCE, NAMESPACES: "Agents"}, NAMESPACES),
        ({**AUDIENCE, SUBJECTS: "agents:facade"}, SUBJECTS),
        ({**AUDIENCE, SUBJECTS: f"{ACCOUNT}:more"}, SUBJECTS),
        ({**AUDIENCE, NAMESPACES: "agents", "OMNIA_AUTH_ROLE": "platform-admin"}, "OMNIA_AUTH_ROLE"),
    ],
)
def test_a_wrong_one_is_named(env: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        OmniaConfig.from_env(env)
