"""Erasure: everything held on a person goes, resumably, and a certificate shows it (security P 299 to 307)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memories.models import Erasure
from memories.services import erasure as service
from memories.services.erasure import carry_out, carry_out_all
from memories.services.suppression import Suppression
from memories.store.erasures import PLACES
from omnia.api.models import ApiToken
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from omnia.audit.pseudonym import pseudonym, suppression_hash
from tests.callers import caller, issue
from tests.contract.graphs import SCHEMA
from tests.support import Meanwhile, Store, contents, opened_store, run, select

pytestmark = pytest.mark.django_db

MARK = "quixotic-7f3a"
PERSON = f"person-{MARK}"


@pytest.fixture
def store() -> Iterator[Store]:
    policy = {"schema": SCHEMA, "dedup": {"embeddingSimilarity": {"enabled": False}}}
    with opened_store(policy=policy, role=Role.PLATFORM_ADMIN) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nobody_is_still_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "settles_after", timedelta)


def order(store: Store, person: str = PERSON, *, status: int = 202, everywhere: bool = False) -> dict[str, Any]:
    query = {} if everywhere else {"workspace": str(store.workspace)}
    return store.send("POST", f"subjects/{person}/erasure", None, status=status, query=query)


def shown(store: Store, erasure: object, *, status: int = 200) -> dict[str, Any]:
    return store.send("GET", f"subjects/erasures/{erasure}", None, status=status)


def furnish(store: Store, person: str = PERSON) -> None:
    """Rows of every kind, with the mark in every field that takes a text."""
    everything: dict[str, Any] = {
        "title": f"title {MARK}", "summary": f"summary {MARK}", "metadata": {f"k-{MARK}": f"v {MARK}"},
        "purpose": f"purpose {MARK}", "container": f"container {MARK}", "session_id": f"session {MARK}",
    }  # fmt: skip
    event = {"userId": person, "category": "memory:health"}
    store.send("POST", "memories/consent-events", event, status=200, query={"workspace": str(store.workspace)})
    first = store.save(f"Keeps bees {MARK}", user=person, **everything)["memory"]["id"]
    other = store.save(f"Bakes bread {MARK}", user=person, agent="a1", headers={"Idempotency-Key": MARK})["memory"][
        "id"
    ]
    key = {"kind": "user", "key": f"hobby {MARK}"}
    store.save(f"Plays chess {MARK}", user=person, about=key)
    store.save(f"Plays go, not chess {MARK}", user=person, about=key)
    store.patch(first, {"content": f"Keeps 3 bees {MARK}"}, user_id=person)
    store.forget(store.save(f"Sails {MARK}", user=person)["memory"]["id"], user_id=person)
    store.save(f"Was late {MARK}", user=person)
    run("UPDATE memories_memory SET expires_at = now() - interval '1 day' WHERE content LIKE 'Was late%%'")
    third = store.save(f"Grows roses {MARK}", user=person)["memory"]["id"]
    scope = {"workspace_id": str(store.workspace), "user_id": person}
    relation = {"source_id": first, "target_id": third, "relation_type": "related_to", "scope": scope,
                "metadata": {"note": MARK}}  # fmt: skip
    store.send("POST", "relations", relation, status=201)
    shared = store.keep("Everybody reads this", agent="a1").memory["id"]
    store.send("POST", "relations", relation | {"source_id": other, "target_id": str(shared),
               "scope": scope | {"agent_id": "a1"}}, status=201)  # fmt: skip
    store.send("POST", "memories/batch", {"scope": scope, "items": [{"type": "fact", "content": f"Runs {MARK}"}]},
               status=200, headers={"Idempotency-Key": f"batch-{MARK}"})  # fmt: skip
    issue(Role.EDITOR, subject=person)


def leaks(mark: str = MARK) -> dict[str, int]:
    """The tables with the mark anywhere in a row, the planner's statistics among them."""
    tables = select(
        "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables"
        " WHERE schemaname = 'public' UNION ALL SELECT 'pg_catalog.pg_statistic'"
    )
    counts = {
        table["name"]: select(
            f"SELECT count(*) FROM {table['name']} x WHERE x::text LIKE ANY(%s)",
            [f"%{mark}%", f"%{mark.encode().hex()}%"],
        )[0]["count"]
        for table in tables
    }
    return {name: count for name, count in counts.items() if count}


def test_security_299_nothing_of_the_person_is_left(store: Store) -> None:
    furnish(store)
    run("ANALYZE memories_memory, memories_wording, memories_entity")
    assert {"public.memories_memory", "public.memories_wording", "public.memories_edge", "public.memories_entity",
            "public.memories_revocation", "public.omnia_idempotency", "public.omnia_api_token",
            "pg_catalog.pg_statistic"} <= set(leaks())  # fmt: skip
    made = order(store, everywhere=True)
    assert made["status"] == "running"
    assert carry_out_all() == 1
    assert leaks() == {}
    certificate = shown(store, made["id"])
    assert (certificate["status"], certificate["rows_left"], certificate["nothing_matched"]) == ("completed", 0, False)
    removed = certificate["removed"]
    assert removed["memories"] == 7
    assert min(removed[name] for name in ("vectors", "earlier_wordings", "relations", "keys", "revocations",
                                          "kept_answers", "tokens")) > 0  # fmt: skip
    assert removed["relations"] == 2


def test_everybody_else_keeps_everything(store: Store) -> None:
    furnish(store)
    store.save("Keeps bees", user="u2")
    store.save("Keeps bees", user=f"{PERSON} ")
    store.save("Keeps bees", user=PERSON.upper(), agent=PERSON)
    issue(Role.EDITOR, subject="u2")
    order(store)
    carry_out_all()
    assert {row["user_id"] for row in store.rows("user_id")} == {"u2", f"{PERSON} ", PERSON.upper(), None}
    assert ApiToken.objects.filter(subject="u2").exists()


def test_in_one_workspace_the_others_keep_theirs(store: Store) -> None:
    with opened_store(role=Role.OWNER) as other:
        other.save("Keeps bees", user=PERSON)
        store.save("Keeps bees", user=PERSON)
        issue(Role.EDITOR, subject=PERSON)
        order(store)
        carry_out_all()
        assert store.rows("id") == []
        assert len(other.rows("id")) == 1
        assert ApiToken.objects.filter(subject=PERSON).exists()
        order(store, everywhere=True)
        carry_out_all()
        assert other.rows("id") == []


def test_the_mark_in_the_audit_names_nobody(store: Store) -> None:
    furnish(store)
    made = order(store)
    carry_out_all()
    [row] = AuditRow.objects.filter(event="subject_erased")
    assert row.subject_hash == pseudonym(PERSON)
    assert row.metadata["erasure"] == made["id"]
    assert row.metadata["removed"]["memories"] == 7


@pytest.mark.usefixtures("store")
def test_security_305_nothing_matched_is_said(store: Store) -> None:
    made = order(store, pseudonym(PERSON))
    carry_out_all()
    assert shown(store, made["id"])["nothing_matched"] is True
    with pytest.raises(CommandError, match="Nothing matched"):
        call_command("erase_subject", "nobody-here", stdout=StringIO(), stderr=StringIO())


def test_an_order_that_runs_is_joined(store: Store) -> None:
    assert order(store)["id"] == order(store)["id"]
    assert order(store, everywhere=True)["id"] != order(store)["id"]
    carry_out_all()
    assert order(store)["id"] != Erasure.objects.earliest("requested_at").id


def test_it_ends_once_no_earlier_request_can_be_writing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save that began before the order and is written after the first pass goes as well."""
    monkeypatch.setattr(service, "settles_after", lambda: timedelta(hours=1))
    made = order(store)
    assert not carry_out(made["id"])
    store.save("Keeps bees", user=PERSON)
    monkeypatch.setattr(service, "settles_after", timedelta)
    assert carry_out(made["id"])
    assert store.rows("id") == []


@pytest.mark.parametrize(("provider", "seconds"), [("none", 5), ("local", 5), ("openai", 12), ("ollama", 12)])
def test_an_embedder_far_away_takes_its_time(
    provider: str, seconds: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    embedding = replace(settings.OMNIA.embedding, provider=provider, timeout_seconds=7)
    settings.OMNIA = replace(settings.OMNIA, embedding=embedding)
    assert service.settles_after() == timedelta(seconds=seconds)


def test_security_306_who_comes_back_starts_anew() -> None:
    with opened_store(role=Role.PLATFORM_ADMIN) as store:
        first = store.save("Keeps bees", user=PERSON)["memory"]["id"]
        order(store)
        carry_out_all()
        again = store.save("Keeps bees", user=PERSON)
        assert (again["action"], again["memory"]["evidence_count"]) == ("added", 1)
        assert again["memory"]["id"] != first
        assert carry_out_all() == 0
        assert contents(store.browse(user_id=PERSON)) == ["Keeps bees"]


def test_a_late_task_for_the_person_does_nothing() -> None:
    """An edit whose text is being embedded while the person is erased finds nothing, and brings nothing back."""
    table = Meanwhile({})
    with opened_store(role=Role.PLATFORM_ADMIN, embedder=table) as store:
        memory = store.save("Keeps bees", user=PERSON)["memory"]["id"]
        made = order(store)
        table.then = lambda: carry_out(made["id"])
        store.patch(memory, {"content": "Keeps wasps"}, user_id=PERSON, status=404)
        assert store.rows("id") == []


# Who may


ROLES = [
    # role, in a workspace, everywhere
    (Role.PLATFORM_ADMIN, 202, 202),
    (Role.OWNER, 202, 403),
    (Role.EDITOR, 403, 403),
    (Role.VIEWER, 403, 403),
]


@pytest.mark.parametrize(("role", "here", "everywhere"), ROLES)
def test_who_may_order_it(store: Store, role: Role, here: int, everywhere: int) -> None:
    asking = replace(store, client=caller(role))
    order(asking, status=here)
    order(asking, status=everywhere, everywhere=True)
    assert Erasure.objects.count() == [here, everywhere].count(202)


def test_a_bound_token_erases_its_user_only(store: Store) -> None:
    bound = replace(store, client=caller(Role.OWNER, subject="u1"))
    order(bound, "u1")
    assert order(bound, "u2", status=403)["code"] == "bound_to_a_user"


def test_a_certificate_is_shown_to_whoever_may_order_it(store: Store) -> None:
    made = order(store)["id"]
    everywhere = order(store, everywhere=True)["id"]
    with opened_store() as other:
        stranger = replace(store, client=caller(Role.OWNER, workspaces=frozenset({other.workspace})))
        shown(stranger, made, status=404)
        shown(stranger, everywhere, status=404)
    owner = replace(store, client=caller(Role.OWNER, workspaces=frozenset({store.workspace})))
    assert shown(owner, made)["workspace_id"] == str(store.workspace)
    shown(owner, everywhere, status=404)
    shown(replace(store, client=caller(Role.EDITOR)), made, status=403)
    assert shown(store, store.workspace, status=404)["code"] == "erasure_not_found"


@pytest.mark.parametrize("person", ["%20", "a%07b", "x" * 254])
def test_a_name_that_is_none_is_refused(store: Store, person: str) -> None:
    order(store, person, status=400)
    assert not Erasure.objects.exists()


@pytest.mark.parametrize("body", [[], {"agent_id": "a1"}, {"workspace": "w"}], ids=str)
def test_nothing_narrows_it(store: Store, body: Any) -> None:
    store.send("POST", f"subjects/{PERSON}/erasure", body, status=400, query={"workspace": str(store.workspace)})
    assert not Erasure.objects.exists()


def test_a_parameter_nobody_reads_is_refused(store: Store) -> None:
    """A misspelt `workspace` must not come to mean everywhere."""
    query = {"workspce": str(store.workspace)}
    refused = store.send("POST", f"subjects/{PERSON}/erasure", None, status=400, query=query)
    assert refused["code"] == "unknown_parameter"


# The suppression list


def restore_an_older_backup(store: Store) -> None:
    """What a restored database is like: the person is back, and nobody remembers an erasure."""
    Erasure.objects.all().delete()
    furnish(store)
    run("UPDATE memories_memory SET created_at = now() - interval '1 day'")
    run("UPDATE memories_entity SET created_at = now() - interval '1 day'")
    run("UPDATE memories_edge SET created_at = now() - interval '1 day'")
    run("UPDATE memories_revocation SET revoked_at = now() - interval '1 day'")
    run("UPDATE omnia_api_token SET created_at = now() - interval '1 day' WHERE subject IS NOT NULL")


@pytest.mark.parametrize("everywhere", [True, False])
def test_security_307_a_restored_backup_brings_nobody_back(store: Store, tmp_path: Path, everywhere: bool) -> None:
    store.save("Keeps bees", user=PERSON)
    order(store, everywhere=everywhere)
    carry_out_all()
    kept = tmp_path / "suppressions.jsonl"
    with kept.open("w") as file:
        call_command("export_suppressions", stdout=file)
    assert MARK not in kept.read_text()
    restore_an_older_backup(store)
    store.save("Keeps bees", user="u2")
    said = StringIO()
    call_command("replay_suppressions", str(kept), stdout=said)
    assert "1 persons erased again" in said.getvalue()
    assert set(leaks()) <= ({"public.omnia_api_token"} if not everywhere else set())
    assert {row["user_id"] for row in store.rows("user_id")} == {"u2", None}
    again = StringIO()
    call_command("replay_suppressions", str(kept), stdout=again)
    assert "0 persons erased again" in again.getvalue()
    listed = StringIO()
    call_command("export_suppressions", stdout=listed)
    assert suppression_hash(PERSON) in listed.getvalue()


def test_a_replay_spares_who_came_back_since(store: Store, tmp_path: Path) -> None:
    store.save("Keeps bees", user=PERSON, about={"kind": "user", "key": "hobby"})
    order(store)
    carry_out_all()
    kept = tmp_path / "suppressions.jsonl"
    with kept.open("w") as file:
        call_command("export_suppressions", stdout=file)
    run("UPDATE memories_erasure SET erased_at = erased_at - interval '1 hour'")
    line = kept.read_text()
    store.save("Keeps wasps", user=PERSON, about={"kind": "user", "key": "hobby"})
    store.save("Was here before", user=PERSON)
    run("UPDATE memories_memory SET created_at = now() - interval '1 day' WHERE content = 'Was here before'")
    run("UPDATE memories_memory SET created_at = now() + interval '1 second' WHERE content = 'Keeps wasps'")
    kept.write_text(line)
    call_command("replay_suppressions", str(kept), stdout=StringIO())
    assert contents(store.browse(user_id=PERSON)) == ["Keeps wasps"]


def test_each_erasure_is_added_to_the_file_that_is_set(store: Store, tmp_path: Path, settings: Any) -> None:
    file = tmp_path / "suppressions.jsonl"
    settings.OMNIA = replace(settings.OMNIA, suppression_file=str(file))
    for person in ("u1", "u2"):
        store.save("Keeps bees", user=person)
        order(store, person)
        carry_out_all()
    said = StringIO()
    call_command("export_suppressions", stdout=said)
    assert file.read_text() == said.getvalue()
    assert len(file.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "line", ["{}", "null", "[]", "x", '{"subject_hash": "a", "workspace_id": "b", "erased_at": "c"}']
)
def test_a_list_that_is_none_erases_nobody(store: Store, tmp_path: Path, line: str) -> None:
    store.save("Keeps bees", user=PERSON)
    good = Suppression(suppression_hash(PERSON), None, datetime.now(UTC)).as_line().decode()
    file = tmp_path / "list.jsonl"
    file.write_text(f"{good}{line}\n")
    with pytest.raises(CommandError, match="Line 2"):
        call_command("replay_suppressions", str(file))
    assert len(store.rows("id")) == 1


def test_every_column_that_names_persons_is_known() -> None:
    """A table added later must be erased from too."""
    found = select(
        "SELECT table_name || '.' || column_name AS place FROM information_schema.columns WHERE table_schema = 'public'"
        " AND (column_name LIKE '%%user_id' OR column_name LIKE '%%subject') AND data_type IN ('text', 'character varying')"
    )
    erased = {f"{place.table}.{place.column}" for place in PLACES}
    handled = {"omnia_idempotency.subject", "omnia_api_token.subject", "memories_erasure.subject"}
    assert {row["place"] for row in found} - {"guardian_userobjectpermission.user_id"} == erased | handled


def test_the_command_prints_the_certificate(store: Store) -> None:
    furnish(store)
    said, progress = StringIO(), StringIO()
    call_command("erase_subject", PERSON, "--workspace", str(store.workspace), stdout=said, stderr=progress)
    assert '"status": "completed"' in said.getvalue()
    assert MARK not in said.getvalue() + progress.getvalue()
    assert "7 memories removed" in progress.getvalue()
