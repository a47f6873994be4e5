"""The client: a bound on every call, no repeats of its own, and credentials that are replaced while it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from kubernetes.client.rest import RESTClientObject
from psycopg.conninfo import make_conninfo

from policies.kube.client import KubernetesCluster
from policies.kube.errors import Away, Denied, Gone, Missing, Refused
from policies.models import MemoryPolicy
from tests.cluster.api import Api, plain
from tests.cluster.fake_server import Fault, answer, hang, reset
from tests.cluster.installed import ROOT
from tests.cluster.waiting import eventually
from tests.contract.policy_documents import policy

NEW = policy(name="p")


def test_every_call_has_a_timeout_in_seconds(fake: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []
    request = RESTClientObject.request

    def noted(self: Any, *arguments: Any, **options: Any) -> Any:
        limits.append(options.get("_request_timeout"))
        return request(self, *arguments, **options)

    monkeypatch.setattr(RESTClientObject, "request", noted)
    cluster = fake.cluster
    made = cluster.create("memorypolicies", NEW)
    cluster.get("memorypolicies", "p")
    cluster.patch("memorypolicies", "p", {"spec": {"write": {}}})
    held = cluster.patch_status("memorypolicies", "p", {"phase": "Active"})
    version = cluster.list("memorypolicies").version
    next(iter(cluster.watch("memorypolicies", version=version)))
    cluster.review_token("t", audiences=["a"])
    cluster.delete("memorypolicies", "p", uid=made["metadata"]["uid"], version=held["metadata"]["resourceVersion"])
    assert len(limits) == 8
    assert all(isinstance(each, tuple) and all(0 < part <= 90 for part in each) for each in limits)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (answer(400), Refused),
        (answer(403), Denied),
        (answer(404), Missing),
        (answer(410), Gone),
        (answer(422), Refused),
        (answer(429), Away),
        (answer(500), Away),
        (answer(504), Away),
        (reset, Away),
    ],
)
def test_a_failure_is_told_by_its_kind_and_nothing_is_repeated(fault: Fault, kind: type[Exception], fake: Api) -> None:
    assert fake.fake
    fake.fake.fault(fault)
    with pytest.raises(kind):
        fake.cluster.create("memorypolicies", NEW)
    assert len(fake.fake.asked) == 1


def test_a_server_that_does_not_answer_is_away(fake: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policies.kube.client.REVIEW", (0.2, 0.2))
    assert fake.fake
    fake.fake.fault(hang(1))
    with pytest.raises(Away):
        fake.cluster.review_token("t", audiences=["a"])


def test_nobody_there_is_away() -> None:
    with pytest.raises(Away):
        KubernetesCluster(partial(plain, "http://127.0.0.1:1")).list("workspaces")


def test_a_401_is_met_once_with_credentials_read_again(fake: Api, tmp_path: Path) -> None:
    assert fake.fake
    token = tmp_path / "token"
    token.write_text("first")
    server, url = fake.fake, fake.fake.url
    cluster = KubernetesCluster(lambda: plain(url, bearer=token.read_text()))
    server.bearer = "first"
    cluster.list("workspaces")
    server.bearer = "second"
    token.write_text("second")
    assert cluster.list("workspaces").objects == []
    server.bearer = "third"
    asked = len(server.asked)
    with pytest.raises(Away):
        cluster.list("workspaces")
    assert len(server.asked) == asked + 2


@pytest.mark.django_db(transaction=True)
def test_the_command_follows_what_kubeconfig_names_and_ends_when_asked(fake: Api, tmp_path: Path) -> None:
    assert fake.fake
    fake.create(NEW)
    settings = tmp_path / "config"
    settings.write_text(
        f"""{{apiVersion: v1, kind: Config, current-context: c,
        clusters: [{{name: c, cluster: {{server: "{fake.fake.url}"}}}}],
        users: [{{name: c, user: {{token: t}}}}], contexts: [{{name: c, context: {{cluster: c, user: c}}}}]}}"""
    )
    database = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    env = {**os.environ, "DATABASE_URL": database, "OMNIA_KUBERNETES": "kubeconfig", "KUBECONFIG": str(settings)}
    command = [sys.executable, str(ROOT / "manage.py"), "sync_policies"]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    try:
        eventually(MemoryPolicy.objects.filter(name="p").exists)
    finally:
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=20)[1]
    assert process.returncode == 0, said


def test_without_a_cluster_the_command_says_what_to_set() -> None:
    from django.core.management import CommandError, call_command

    with pytest.raises(CommandError, match="OMNIA_KUBERNETES"):
        call_command("sync_policies")
