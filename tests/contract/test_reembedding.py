"""The change to another embedding model: nothing lost, no gap in recall, resumable (design: //admin/embedding-model)."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from memories.embeddings import current
from memories.embeddings import seat as seats
from memories.embeddings.base import EmbeddingFailed, Vector, usable
from memories.models import EmbeddingChange
from memories.services import reembed
from memories.services.embed import embed_pending
from memories.services.reembed import carry_on
from memories.store import embedding_models
from memories.store.unembedded import ATTEMPTS
from memories.store.vectors import Shape, Slot
from omnia.api.principal import Role
from omnia.config import EmbeddingConfig
from omnia.metrics import exposition
from policies.services.resolve import clear_cache
from tests.callers import caller
from tests.support import Store, contents, fill, new_workspace, run, select

pytestmark = pytest.mark.django_db

TEXTS = [f"fact number {number}" for number in range(5)]


@dataclass
class Model:
    """A model of the provider: equal texts have equal vectors, and of two models nothing is alike."""

    config: EmbeddingConfig
    down: bool = False
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.config.model or self.config.provider}-{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return self.config.dimensions or 8

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector | None:
        if self.down or self.config.model == "away":
            raise EmbeddingFailed("the model is away")
        self.asked.append(text)
        if "voiceless" in text:
            return None
        seed = int.from_bytes(hashlib.sha256(f"{self.name} {text}".encode()).digest()[:4], "big")
        return usable(np.random.default_rng(seed).normal(size=self.dimensions), self.dimensions)


class Unshared:
    """No query vectors from other tests."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def get(self, _: str) -> None: ...

    def put(self, *_: Any) -> None: ...


@pytest.fixture
def store(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store whose provider has the models `old` (8 numbers) and `new` (16), in a process that looks at every request."""
    embedding = EmbeddingConfig(provider="openai", url="http://127.0.0.1:9", model="old", dimensions=8)
    settings.OMNIA = replace(settings.OMNIA, embedding=embedding)
    monkeypatch.setattr(current, "build", Model)
    monkeypatch.setattr(current, "_process", current._Process())
    monkeypatch.setattr(current, "LOOKS_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(seats, "SharedVectors", Unshared)
    monkeypatch.setattr(embedding_models, "ensure_index", lambda _: None)  # not beside what a test left uncommitted
    monkeypatch.setattr(reembed, "SETTLES_AFTER", timedelta())
    clear_cache()
    return Store(new_workspace(), caller(Role.PLATFORM_ADMIN))


@pytest.fixture
def name_in_the_environment(settings: Any) -> Callable[..., None]:
    """Starts the process anew with other settings."""

    def name(**embedding: Any) -> None:
        settings.OMNIA = replace(settings.OMNIA, embedding=replace(settings.OMNIA.embedding, **embedding))
        current._process = current._Process()

    return name


@contextmanager
def unaware() -> Iterator[None]:
    """A process that does not look for changes meanwhile."""
    current.in_use()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(current._process, "looks_again", float("inf"))
        patch.setattr(current, "look_again", lambda: None)
        yield


def order(store: Store, *, status: int = 202, **fields: Any) -> dict[str, Any]:
    answer = store.client.post(
        "/admin/embedding-model", {"model": "new", "dimensions": 16, **fields}, content_type="application/json"
    )
    assert answer.status_code == status, answer.content
    return dict(answer.json())


def shown(store: Store) -> dict[str, Any]:
    return dict(store.client.get("/admin/embedding-model").json())


def models(store: Store) -> list[tuple[Any, Any]]:
    """The models of each row's two vectors, oldest row first."""
    return [
        (row["first"], row["second"])
        for row in select(
            "SELECT one.name AS first, two.name AS second FROM memories_memory m"
            " LEFT JOIN memories_embedding_model one ON one.id = m.embedding_model_id"
            " LEFT JOIN memories_embedding_model two ON two.id = m.second_embedding_model_id"
            " WHERE m.workspace_id = %s ORDER BY m.id",
            store.workspace,
        )
    ]


def used(store: Store) -> str:
    return str(shown(store)["in_use"]["model"])


def found_by_vector(store: Store, text: str) -> bool:
    """Whether recall finds a memory of this text because its vector is the question's."""
    for memory in store.recall(text, explain=True)["memories"]:
        if memory["content"] == text and memory["explain"]["vector_value"]:
            return bool(memory["explain"]["vector_value"] == pytest.approx(1, abs=1e-2))
    return False


def long_ago() -> None:
    """Every process has heard of the last change by now."""
    EmbeddingChange.objects.filter(status="completed").update(ended_at=timezone.now() - timedelta(hours=1))


class TestChange:
    def test_every_memory_has_its_new_vector_and_nothing_else_changed(self, store: Store) -> None:
        for text in TEXTS:
            store.save(text)
        before = store.rows("id, content, updated_at, created_at, evidence_count, embedding::text AS vector")
        made = order(store)
        assert (made["status"], made["memories"], made["embedded"], made["coverage"]) == ("running", 5, 0, 0.0)
        assert made["in_use"] == {"provider": "openai", "model": "old", "dimensions": 8}
        assert carry_on()
        assert models(store) == [("old-8", "new-16")] * 5
        assert store.rows("id, content, updated_at, created_at, evidence_count, embedding::text AS vector") == before
        assert (shown(store)["status"], used(store), shown(store)["coverage"]) == ("completed", "new", 1.0)

    def test_recall_and_search_go_by_vectors_before_during_and_after(self, store: Store) -> None:
        for text in TEXTS:
            store.save(text)
        for step in (lambda: None, lambda: order(store), lambda: carry_on(budget=timedelta()), carry_on):
            step()
            assert found_by_vector(store, TEXTS[3])
            assert contents(store.search(TEXTS[3]))[0] == TEXTS[3]
        assert used(store) == "new"

    def test_merges_go_by_the_model_in_use(self, store: Store) -> None:
        store.save(TEXTS[0])
        for step in (lambda: order(store), carry_on, long_ago):
            step()
            assert store.save(TEXTS[0])["action"] == "merged"
        assert len(store.rows("id")) == 1

    def test_what_is_written_meanwhile_gets_both(self, store: Store) -> None:
        memory = store.save(TEXTS[0])["memory"]["id"]
        order(store)
        store.save("saved meanwhile")
        assert models(store) == [("old-8", None), ("old-8", "new-16")]
        store.patch(memory, {"content": "reworded"})
        assert models(store) == [("old-8", "new-16")] * 2
        assert carry_on()
        assert found_by_vector(store, "saved meanwhile")
        assert found_by_vector(store, "reworded")

    def test_a_reworded_memory_keeps_no_vector_of_what_it_said(self, store: Store) -> None:
        memory = store.save(TEXTS[0])["memory"]["id"]
        order(store)
        carry_on()
        long_ago()
        store.patch(memory, {"content": "reworded"})
        assert models(store) == [(None, "new-16")]

    def test_the_new_model_that_fails_leaves_its_vector_to_the_sweep(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.save(TEXTS[0])
        order(store)
        monkeypatch.setattr(current, "build", lambda config: Model(config, down=config.model == "new"))
        current._process = current._Process()
        assert store.save(TEXTS[1])["memory"]["embedding_status"] == "ready"
        assert not carry_on()
        assert models(store) == [("old-8", None)] * 2
        monkeypatch.setattr(current, "build", Model)
        current._process = current._Process()
        assert embed_pending().embedded == 1
        assert models(store) == [("old-8", None), ("old-8", "new-16")]
        assert carry_on()

    def test_a_text_the_new_model_gives_nothing_is_given_up_and_blocks_no_other(self, store: Store) -> None:
        store.save(TEXTS[0])
        run("UPDATE memories_memory SET content = 'voiceless'")
        store.save(TEXTS[1])
        order(store)
        assert [carry_on() for _ in range(ATTEMPTS)] == [False] * (ATTEMPTS - 1) + [True]
        assert models(store) == [("old-8", None), ("old-8", "new-16")]
        assert (shown(store)["given_up"], shown(store)["embedded"]) == (1, 1)
        assert "voiceless" in contents(store.recall("voiceless"))

    def test_what_left_keeps_its_vector_for_when_it_comes_back(self, store: Store) -> None:
        """The trash, and what was believed earlier; what has expired does not come back."""
        memory = store.save(TEXTS[0])["memory"]["id"]
        store.forget(memory)
        run("UPDATE memories_memory SET expires_at = now() WHERE id = %s", store.save(TEXTS[1])["memory"]["id"])
        order(store)
        assert carry_on()
        assert models(store) == [("old-8", "new-16"), ("old-8", None)]
        store.save(TEXTS[0])
        answer = store.send("POST", f"memories/{memory}/restore", {}, status=409, query=store._scope({}))
        assert answer["code"] == "already_remembered"


class TestSwitch:
    def test_it_writes_no_memory(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """So that nobody waits for it, however many there are."""
        store.save(TEXTS[0])
        order(store)
        monkeypatch.setattr(reembed, "SETTLES_AFTER", timedelta(hours=1))
        assert not carry_on()
        before = store.rows("ctid::text, xmin::text")
        monkeypatch.setattr(reembed, "SETTLES_AFTER", timedelta())
        assert carry_on()
        assert store.rows("ctid::text, xmin::text") == before

    def test_it_waits_until_every_process_knows(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reembed, "SETTLES_AFTER", timedelta(hours=1))
        store.save(TEXTS[0])
        order(store)
        assert not carry_on()
        assert used(store) == "old"

    def test_a_process_that_has_not_heard_of_it_still_finds_everything(self, store: Store) -> None:
        store.save(TEXTS[0])
        order(store)
        with unaware():
            assert carry_on()
            assert found_by_vector(store, TEXTS[0])
            assert store.save(TEXTS[0])["action"] == "merged"
            store.save(TEXTS[1])
        assert models(store) == [("old-8", "new-16")] * 2
        assert found_by_vector(store, TEXTS[1])
        store.save(TEXTS[2])  # by one that knows, while others do not
        assert models(store)[2] == ("old-8", "new-16")

    def test_when_all_know_only_the_model_in_use_is_asked(self, store: Store) -> None:
        store.save(TEXTS[0])
        order(store)
        carry_on()
        long_ago()
        store.save(TEXTS[1])
        assert models(store)[1] == (None, "new-16")

    def test_one_goes_back_to_what_is_still_there(self, store: Store) -> None:
        for text in TEXTS:
            store.save(text)
        order(store)
        carry_on()
        long_ago()
        store.save("saved since")
        order(store, model="old", dimensions=8)
        beside = current.in_use().beside
        assert beside is not None
        assert isinstance(beside.embedder, Model)
        beside.embedder.asked.clear()
        assert carry_on()
        assert beside.embedder.asked == ["saved since"]
        assert used(store) == "old"
        assert found_by_vector(store, "saved since")
        assert found_by_vector(store, TEXTS[0])

    def test_a_third_model_takes_the_place_of_the_first(self, store: Store) -> None:
        store.save(TEXTS[0])
        order(store)
        carry_on()
        assert order(store, status=409, model="third", dimensions=24)["code"] == "change_settling"
        long_ago()
        order(store, model="third", dimensions=24)
        assert carry_on()
        assert models(store) == [("third-24", "new-16")]
        assert found_by_vector(store, TEXTS[0])


class TestInterrupted:
    def test_it_resumes_where_it_was(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        for text in TEXTS:
            store.save(text)
        order(store)
        monkeypatch.setattr(reembed, "BATCH", 2)
        batches = iter([True, True, False])
        walked = reembed._walked

        def interrupted(*arguments: Any, **more: Any) -> bool:
            if not next(batches):
                raise KeyboardInterrupt
            return walked(*arguments, **more)

        monkeypatch.setattr(reembed, "_walked", interrupted)
        with pytest.raises(KeyboardInterrupt):
            carry_on()
        assert (shown(store)["embedded"], shown(store)["coverage"]) == (4, 0.8)
        assert EmbeddingChange.objects.get(status="running").walked_to == store.rows("id")[3]["id"]
        monkeypatch.setattr(reembed, "_walked", walked)
        assert carry_on()
        assert models(store) == [("old-8", "new-16")] * 5

    def test_cancelled_the_old_model_stays_and_the_new_may_be_asked_for_again(self, store: Store) -> None:
        for text in TEXTS:
            store.save(text)
        order(store)
        assert not carry_on(budget=timedelta())
        assert store.client.delete("/admin/embedding-model").json()["status"] == "completed"
        assert not carry_on()
        assert used(store) == "old"
        assert found_by_vector(store, TEXTS[0])
        assert store.client.delete("/admin/embedding-model").status_code == 404
        order(store)
        assert carry_on()


class TestEnvironment:
    def test_a_model_it_names_is_not_used_before_the_change(
        self, store: Store, name_in_the_environment: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Whatever provider made the vectors, questions are asked of it until the new ones are there."""
        name_in_the_environment(provider="hashing", model="", dimensions=0)
        for text in TEXTS:
            store.save(text)
        name_in_the_environment(provider="openai", model="new", dimensions=16)
        assert found_by_vector(store, TEXTS[0])
        assert store.save(TEXTS[0])["action"] == "merged"
        assert "another embedding model than hashing-8 (8 dimensions)" in caplog.text
        call_command("reembed", stdout=StringIO())
        assert used(store) == "new"
        assert found_by_vector(store, TEXTS[0])
        long_ago()
        order(store, model="hashing-8", dimensions=8)
        assert carry_on()
        assert found_by_vector(store, TEXTS[1])

    def test_without_any_vector_the_named_model_is_simply_used(
        self, store: Store, name_in_the_environment: Any
    ) -> None:
        memory = store.save(TEXTS[0])["memory"]["id"]
        store.client.delete(f"/api/v1/memories?workspace={store.workspace}&user_id=u1")
        assert not store.rows("id"), memory
        name_in_the_environment(model="new", dimensions=16)
        store.save(TEXTS[0])
        assert (models(store), used(store)) == ([("new-16", None)], "new")

    def test_a_model_that_came_second_stores_nothing_of_its_own(
        self, store: Store, name_in_the_environment: Any
    ) -> None:
        """Two processes with other settings start beside an empty store."""
        name_in_the_environment(model="new", dimensions=16)
        with unaware():
            late = current.in_use()
            name_in_the_environment(model="old", dimensions=8)
            store.save(TEXTS[0])
            assert late.active.model_row_id() is None
        assert used(store) == "old"

    def test_the_model_in_use_is_built_once(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """From before its first vector on: a second one may take a hundred megabytes."""
        built: list[Model] = []

        def build(config: EmbeddingConfig) -> Model:
            built.append(Model(config))
            return built[-1]

        monkeypatch.setattr(current, "build", build)
        for text in TEXTS:
            store.save(text)
        assert current.seat().adopts is None
        assert len(built) == 1

    def test_a_change_that_was_ordered_holds_without_any_vector_too(self, store: Store) -> None:
        order(store)
        assert carry_on()
        store.save(TEXTS[0])
        assert used(store) == "new"
        assert found_by_vector(store, TEXTS[0])

    def test_a_process_with_other_settings_makes_no_vectors_of_its_own(
        self, store: Store, name_in_the_environment: Any
    ) -> None:
        store.save(TEXTS[0])
        name_in_the_environment(query_prefix="query: ")
        store.save(TEXTS[1])
        assert models(store) == [("old-8", None)] * 2

    @pytest.mark.parametrize(("url", "key"), [("http://a", "theirs"), ("http://b", "former")])
    def test_a_key_goes_only_where_it_was_given_for(self, url: str, key: str) -> None:
        named = EmbeddingConfig("openai", "http://a", "m", "theirs", "former", dimensions=8)
        other = EmbeddingConfig("openai", url, "other", dimensions=8)
        assert other.reached_like(named).api_key == key


class TestAsking:
    BAD = (
        ({"dimensions": 0}, 400), ({"dimensions": 2001}, 400), ({"dimensions": -1}, 400), ({"dimensions": "16"}, 400),
        ({"dimensions": 1.5}, 400), ({"model": ""}, 400), ({"model": "a\nb"}, 400), ({"model": None}, 400),
        ({"model": "m" * 201}, 400), ({"model": "away"}, 503), ({"model": "old", "dimensions": 8}, 409),
    )  # fmt: skip

    @pytest.mark.parametrize(("fields", "status"), BAD, ids=str)
    def test_behaviour_182_a_model_that_is_none_is_refused(
        self, store: Store, fields: dict[str, Any], status: int
    ) -> None:
        order(store, status=status, **fields)
        assert not EmbeddingChange.objects.filter(status="running").exists()

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

    def test_before_any_vector_there_is_none(self, store: Store) -> None:
        assert shown(store) == {"status": "none"}

    def test_prometheus_is_told_what_was_counted(self, store: Store) -> None:
        for text in TEXTS[:4]:
            store.save(text)
        order(store)
        store.save(TEXTS[4])
        reembed.measure()
        told = exposition().decode()
        assert f'omnia_memory_embedding_coverage{{workspace="{store.workspace}"}} 0.2' in told
        assert f'omnia_memory_reembed_backlog{{workspace="{store.workspace}"}} 4.0' in told


class TestCommand:
    def run(self, *arguments: str) -> str:
        said = StringIO()
        call_command("reembed", *arguments, stdout=said)
        return said.getvalue()

    def test_a_change_is_followed_to_its_end(self, store: Store) -> None:
        store.save(TEXTS[0])
        assert "old-8 (8 dimensions) is in use: 1 of 1 memories embedded" in self.run("--status")
        assert "new-16 (16 dimensions) is in use" in self.run("--model", "new", "--dimensions", "16")

    def test_a_running_change_is_shown_and_cancelled(self, store: Store) -> None:
        store.save(TEXTS[0])
        order(store)
        assert "Changing to new-16 (16 dimensions): 0 of 1 memories embedded" in self.run("--status")
        assert "the old model stays in use" in self.run("--cancel")
        with pytest.raises(CommandError, match="No change"):
            self.run("--cancel")

    def test_field_137_a_model_that_is_gone_leaves_the_words_until_all_are_embedded_anew(
        self, store: Store, name_in_the_environment: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for text in TEXTS:
            store.save(text)
        monkeypatch.setattr(current, "build", lambda config: Model(config, down=config.model == "old"))
        name_in_the_environment(model="new", dimensions=16)
        assert TEXTS[0] in contents(store.recall(TEXTS[0]))
        assert not found_by_vector(store, TEXTS[0])
        assert "new-16 (16 dimensions) is in use: 5 of 5" in self.run()
        assert found_by_vector(store, TEXTS[0])

    def test_what_was_given_up_or_saved_without_an_embedder_is_tried_again(self, store: Store) -> None:
        for text in TEXTS[:2]:
            store.save(text)
        run("UPDATE memories_memory SET embedding = NULL, embedding_model_id = NULL, embed_after = NULL")
        run("UPDATE memories_memory SET embed_attempts = 5 WHERE content = %s", TEXTS[0])
        assert shown(store)["given_up"] == 1
        assert "2 memories to embed" in self.run()
        assert models(store) == [("old-8", None)] * 2
        assert "0 memories to embed" in self.run()

    def test_half_a_wish_is_refused(self, store: Store) -> None:
        with pytest.raises(CommandError, match="go together"):
            self.run("--model", "new")
        with pytest.raises(CommandError, match="1 to 2000"):
            self.run("--model", "new", "--dimensions", "0")


@pytest.mark.django_db(transaction=True)
class TestCommitted:
    @pytest.mark.parametrize("slot", Slot)
    def test_the_index_of_another_length_is_made_beside_the_writers(
        self, store: Store, monkeypatch: pytest.MonkeyPatch, slot: Slot
    ) -> None:
        monkeypatch.undo()
        shape = Shape(16, slot)
        embedding_models.ensure_index(shape)
        embedding_models.ensure_index(shape)
        definition = f"SELECT indexrelid::regclass::text AS name, indisvalid, pg_get_indexdef(indexrelid) AS index FROM pg_index" \
                     f" WHERE indrelid = 'memories_memory'::regclass AND pg_get_indexdef(indexrelid) LIKE '%%vector_dims({slot.column}) = 16%%'"  # fmt: skip
        [index] = select(definition)
        run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", index["name"])
        embedding_models.ensure_index(shape)
        [again] = select(definition)
        assert again["indisvalid"]
        run(f"DROP INDEX {again['name']}")

    def test_the_shared_tiers_are_read_through_the_new_index(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.undo()
        shape = Shape(16, Slot.SECOND)
        embedding_models.ensure_index(shape)
        fill(store.workspace, 4000)
        run("INSERT INTO memories_embedding_model (name, dimensions) VALUES ('indexed-16', 16) ON CONFLICT DO NOTHING")
        run("UPDATE memories_memory SET second_embedding = array_fill(random()::real, ARRAY[16])::vector::halfvec,"
            " second_embedding_model_id = (SELECT id FROM memories_embedding_model WHERE name = 'indexed-16')")  # fmt: skip
        run("ANALYZE memories_memory")
        plan = select("EXPLAIN SELECT id FROM memories_memory m WHERE m.tier = 0 AND vector_dims(m.second_embedding) = 16"
                      " ORDER BY m.second_embedding::halfvec(16) <=> array_fill(0.5::real, ARRAY[16])::vector::halfvec(16) LIMIT 20")  # fmt: skip
        assert "memory_shared_second_vector_16" in str(plan)
        run("DROP INDEX memory_shared_second_vector_16")

    def test_while_others_save_and_recall_nothing_is_lost_and_no_answer_misses_it(self, store: Store) -> None:
        store.save(TEXTS[0])
        ended, missed, saved = threading.Event(), list[str](), list[str]()

        def beside(work: Callable[[int], None]) -> threading.Thread:
            def loop() -> None:
                number = 0
                try:
                    while not ended.is_set() or number < 5:
                        work(number)
                        number += 1
                finally:
                    connection.close()

            thread = threading.Thread(target=loop)
            thread.start()
            return thread

        def save(number: int) -> None:
            saved.append(f"saved as number {number}")
            store.save(saved[-1])

        def recall(number: int) -> None:
            if not found_by_vector(store, TEXTS[0]):
                missed.append(f"recall {number}")

        threads = [beside(save), beside(recall)]
        try:
            order(store)
            while not carry_on():
                pass
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        assert missed == []
        carry_on()  # finds what was in the making when the change was ordered
        embed_pending()
        assert {second for _, second in models(store)} == {"new-16"}
        assert [text for text in {*saved, TEXTS[0]} if not found_by_vector(store, text)] == []


def test_two_models_of_one_length_in_one_place_never_meet_in_one_distance(store: Store) -> None:
    store.save(TEXTS[0])
    order(store)
    carry_on()
    long_ago()
    order(store, model="alike", dimensions=8)
    EmbeddingChange.objects.filter(status="running").update(status="completed", ended_at=timezone.now())
    [row] = store.recall(TEXTS[0], explain=True)["memories"]
    assert (models(store), used(store)) == ([("old-8", "new-16")], "alike")
    assert row["explain"]["vector_rank"] is None
    assert store.save(TEXTS[0])["action"] == "added"
