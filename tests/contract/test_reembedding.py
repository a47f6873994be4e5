"""The change to another embedding model: nothing lost, no gap in recall, resumable (design: //admin/embedding-model)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memories.embeddings import current
from memories.embeddings.base import EmbeddingFailed, Vector, usable
from memories.models import EmbeddingChange, NextVector
from memories.services import reembed
from memories.services.embed import embed_pending
from memories.services.reembed import carry_on
from memories.store import embedding_changes
from omnia.api.principal import Role
from omnia.config import EmbeddingConfig
from policies.services.resolve import clear_cache
from tests.callers import caller
from tests.support import Store, contents, new_workspace, run, select

pytestmark = pytest.mark.django_db

TEXTS = [f"fact number {number}" for number in range(5)]


@dataclass
class Model:
    """A model of the provider: equal texts have equal vectors, and of two models nothing is alike."""

    config: EmbeddingConfig
    down: bool = False

    @property
    def name(self) -> str:
        return f"{self.config.model}-{self.config.dimensions}"

    @property
    def dimensions(self) -> int:
        return self.config.dimensions

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector | None:
        if self.down or self.config.model == "away":
            raise EmbeddingFailed("the model is away")
        if "voiceless" in text:
            return None
        seed = int.from_bytes(hashlib.sha256(f"{self.name} {text}".encode()).digest()[:4], "big")
        return usable(np.random.default_rng(seed).normal(size=self.config.dimensions), self.config.dimensions)


class Unshared:
    """No query vectors from other tests."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def get(self, _: str) -> None: ...

    def put(self, *_: Any) -> None: ...


@pytest.fixture
def store(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store whose provider has the models `old` (8 numbers) and `new` (16)."""
    embedding = EmbeddingConfig(provider="openai", url="http://127.0.0.1:9", model="old", dimensions=8)
    settings.OMNIA = replace(settings.OMNIA, embedding=embedding)
    monkeypatch.setattr(current, "build", Model)
    monkeypatch.setattr(current._Process, "seat", None)
    monkeypatch.setattr(current._Process, "looks_again", 0.0)
    monkeypatch.setattr(current, "_LOOKS_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(current, "SharedVectors", Unshared)
    monkeypatch.setattr(embedding_changes, "ensure_index", lambda _: None)  # not beside what a test left uncommitted
    monkeypatch.setattr(reembed, "SETTLES_AFTER", timedelta())
    clear_cache()
    yield Store(new_workspace(), caller(Role.PLATFORM_ADMIN))
    current._Process.seat = None


def order(store: Store, *, status: int = 202, **fields: Any) -> dict[str, Any]:
    answer = store.client.post(
        "/admin/embedding-model", {"model": "new", "dimensions": 16, **fields}, content_type="application/json"
    )
    assert answer.status_code == status, answer.content
    return dict(answer.json())


def shown(store: Store) -> dict[str, Any]:
    return dict(store.client.get("/admin/embedding-model").json())


def models(store: Store) -> list[Any]:
    """The model of each row's vector, oldest row first."""
    return [
        row["name"]
        for row in select(
            "SELECT e.name FROM memories_memory m LEFT JOIN memories_embedding_model e ON e.id = m.embedding_model_id"
            " WHERE m.workspace_id = %s ORDER BY m.id",
            store.workspace,
        )
    ]


def nearest(store: Store, text: str) -> dict[str, Any]:
    """What recall finds by its vector alone."""
    found = store.recall(text, explain=True)["memories"]
    return min(found, key=lambda memory: memory["explain"]["vector_rank"] or 99)


class TestChange:
    def test_every_memory_has_its_new_vector_and_nothing_else_changed(self, store: Store) -> None:
        for text in TEXTS:
            store.save(text)
        before = store.rows("id, content, updated_at, created_at, evidence_count")
        made = order(store)
        assert (made["status"], made["memories"], made["embedded"]) == ("running", 5, 0)
        assert carry_on()
        assert models(store) == ["new-16"] * 5
        assert store.rows("id, content, updated_at, created_at, evidence_count") == before
        assert shown(store)["status"] == "completed"
        assert not NextVector.objects.exists()

    def test_recall_goes_by_vectors_before_during_and_after(self, store: Store) -> None:
        for text in TEXTS:
            store.save(text)
        for step in (lambda: None, lambda: order(store), lambda: reembed.carry_on(budget=timedelta()), carry_on):
            step()
            memory = nearest(store, TEXTS[3])
            assert memory["content"] == TEXTS[3]
            assert memory["explain"]["vector_value"] == pytest.approx(1, abs=1e-2)

    def test_merges_go_by_the_model_in_use(self, store: Store) -> None:
        store.save(TEXTS[0])
        for step in (lambda: order(store), carry_on):
            step()
            assert store.save(TEXTS[0])["action"] == "merged"
        assert len(store.rows("id")) == 1

    def test_what_is_saved_and_reworded_meanwhile_comes_along(self, store: Store) -> None:
        memory = store.save(TEXTS[0])["memory"]["id"]
        order(store)
        reembed.carry_on(budget=timedelta(seconds=30))
        change = EmbeddingChange.objects.get()
        assert change.status == "completed"
        EmbeddingChange.objects.update(status="running", ended_at=None)
        current._Process.seat = None
        store.patch(memory, {"content": "reworded"})
        store.save("saved meanwhile")
        assert carry_on()
        assert models(store) == ["new-16"] * 2
        assert nearest(store, "reworded")["content"] == "reworded"

    def test_a_text_the_new_model_gives_nothing_blocks_no_other(self, store: Store) -> None:
        store.save(TEXTS[0])
        run("UPDATE memories_memory SET content = 'voiceless'")
        store.save(TEXTS[1])
        order(store)
        assert carry_on()
        assert models(store) == [None, "new-16"]
        assert contents(store.recall("voiceless"))[0] == "voiceless"

    def test_what_lies_in_the_trash_or_has_expired_is_embedded_when_it_lives_again(self, store: Store) -> None:
        memory = store.save(TEXTS[0])["memory"]["id"]
        store.forget(memory)
        order(store)
        assert carry_on()
        assert models(store) == [None]
        run("UPDATE memories_memory SET retired_at = NULL, retired_as = NULL")
        embed_pending()
        assert models(store) == ["new-16"]

    def test_it_resumes_where_it_was_interrupted(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        for text in TEXTS:
            store.save(text)
        order(store)
        monkeypatch.setattr(reembed, "BATCH", 2)
        batches = iter([True, True, False])
        keep = embedding_changes.keep

        def interrupted(*arguments: Any) -> None:
            if not next(batches):
                raise KeyboardInterrupt
            keep(*arguments)

        monkeypatch.setattr(embedding_changes, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            carry_on()
        assert (shown(store)["embedded"], shown(store)["coverage"]) == (4, 0.8)
        assert models(store) == ["old-8"] * 5
        monkeypatch.setattr(embedding_changes, "keep", keep)
        assert carry_on()
        assert models(store) == ["new-16"] * 5

    def test_it_waits_until_every_process_knows(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reembed, "SETTLES_AFTER", timedelta(hours=1))
        store.save(TEXTS[0])
        order(store)
        assert not carry_on()
        assert models(store) == ["old-8"]

    def test_once_a_process_knows_it_looks_before_every_vector(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So that the switch, which comes later, is met by the next request wherever it runs."""
        store.save(TEXTS[0])
        order(store)
        assert current.seat().changing
        monkeypatch.setattr(current, "_LOOKS_EVERY_SECONDS", 3600.0)
        current.seat()
        assert carry_on()
        assert store.save(TEXTS[0])["action"] == "merged"

    def test_a_model_that_fails_is_waited_for(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        store.save(TEXTS[0])
        order(store)
        monkeypatch.setattr(current, "build", lambda config: Model(config, down=config.model == "new"))
        assert not carry_on()
        assert models(store) == ["old-8"]
        monkeypatch.setattr(current, "build", Model)
        assert carry_on()

    def test_a_row_a_late_writer_stored_with_the_old_model_follows(self, store: Store) -> None:
        store.save(TEXTS[0])
        order(store)
        [old] = select("SELECT embedding::text AS vector, embedding_model_id AS model FROM memories_memory")
        assert carry_on()
        store.save(TEXTS[1])
        run("UPDATE memories_memory SET embedding = %s::halfvec, embedding_model_id = %s WHERE content = %s",
            old["vector"], old["model"], TEXTS[1])  # fmt: skip
        carry_on()
        embed_pending()
        assert models(store) == ["new-16"] * 2

    def test_cancelled_everything_stays_as_it_was(self, store: Store) -> None:
        store.save(TEXTS[0])
        order(store)
        reembed._embed_missing(Model(EmbeddingConfig(model="new", dimensions=16)), stop=timezone.now() + timedelta(1),
                               clock=timezone.now)  # fmt: skip
        assert store.client.delete("/admin/embedding-model").status_code == 200
        assert not NextVector.objects.exists()
        assert not carry_on()
        assert models(store) == ["old-8"]
        assert store.client.delete("/admin/embedding-model").status_code == 404

    def test_the_environment_that_names_the_new_model_needs_no_change(self, store: Store, settings: Any) -> None:
        store.save(TEXTS[0])
        order(store)
        assert carry_on()
        embedding = replace(settings.OMNIA.embedding, model="new", dimensions=16)
        settings.OMNIA = replace(settings.OMNIA, embedding=embedding)
        current._Process.seat = None
        assert nearest(store, TEXTS[0])["content"] == TEXTS[0]
        assert store.save(TEXTS[0])["action"] == "merged"


class TestAsking:
    BAD = (
        ({"dimensions": 0}, 400), ({"dimensions": 2001}, 400), ({"dimensions": -1}, 400), ({"dimensions": "16"}, 400),
        ({"dimensions": 1.5}, 400), ({"model": ""}, 400), ({"model": "a\nb"}, 400), ({"model": None}, 400),
        ({"model": "m" * 201}, 400), ({"model": "away"}, 503),
    )  # fmt: skip

    @pytest.mark.parametrize(("fields", "status"), BAD, ids=str)
    def test_behaviour_182_a_model_that_is_none_is_refused(
        self, store: Store, fields: dict[str, Any], status: int
    ) -> None:
        order(store, status=status, **fields)
        assert not EmbeddingChange.objects.exists()

    def test_one_change_at_a_time(self, store: Store) -> None:
        order(store)
        assert order(store, status=409)["code"] == "change_running"

    @pytest.mark.parametrize("provider", ["none", "local"])
    def test_a_provider_with_one_model_has_none_to_change_to(self, store: Store, settings: Any, provider: Any) -> None:
        settings.OMNIA = replace(settings.OMNIA, embedding=EmbeddingConfig(provider=provider))
        assert order(store, status=503)["code"] == "no_embedder"

    @pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.OWNER])
    def test_platform_admins_only(self, store: Store, role: Role) -> None:
        asking = replace(store, client=caller(role))
        order(asking, status=403)
        assert asking.client.get("/admin/embedding-model").status_code == 403
        assert asking.client.delete("/admin/embedding-model").status_code == 403

    def test_before_any_change_there_is_none(self, store: Store) -> None:
        assert shown(store) == {"status": "none"}


class TestCommand:
    def run(self, *arguments: str) -> str:
        said = StringIO()
        call_command("reembed", *arguments, stdout=said)
        return said.getvalue()

    def test_a_change_is_followed_to_its_end(self, store: Store) -> None:
        store.save(TEXTS[0])
        assert "never changed" in self.run("--status")
        assert "new (16) is in use" in self.run("--model", "new", "--dimensions", "16")
        assert models(store) == ["new-16"]
        assert "is in use" in self.run("--status")

    def test_field_137_after_the_environment_named_another_all_are_embedded_anew(
        self, store: Store, settings: Any
    ) -> None:
        """Until then they are found by their words."""
        for text in TEXTS:
            store.save(text)
        settings.OMNIA = replace(
            settings.OMNIA, embedding=replace(settings.OMNIA.embedding, model="new", dimensions=16)
        )
        current._Process.seat = None
        assert TEXTS[0] in contents(store.recall(TEXTS[0]))
        assert "5 memories to embed" in self.run()
        assert models(store) == ["new-16"] * 5
        assert "0 memories to embed" in self.run()

    def test_what_was_given_up_is_tried_again(self, store: Store) -> None:
        store.save(TEXTS[0])
        run(
            "UPDATE memories_memory SET embedding = NULL, embedding_model_id = NULL, embed_after = NULL, embed_attempts = 5"
        )
        assert "1 memories to embed" in self.run()
        assert models(store) == ["old-8"]

    def test_half_a_wish_is_refused(self, store: Store) -> None:
        with pytest.raises(CommandError, match="go together"):
            self.run("--model", "new")
        with pytest.raises(CommandError, match="1 to 2000"):
            self.run("--model", "new", "--dimensions", "0")


@pytest.mark.django_db(transaction=True)
def test_the_index_of_another_length_is_made_beside_the_writers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    embedding_changes.ensure_index(16)
    embedding_changes.ensure_index(16)
    [index] = select("SELECT indexdef FROM pg_indexes WHERE indexname = 'memory_shared_vector_16'")
    assert "vector_dims(embedding) = 16" in index["indexdef"]
    run("DROP INDEX memory_shared_vector_16")
