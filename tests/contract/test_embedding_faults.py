"""What an embedding provider may do to us, row by row, and that it costs a vector and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pytest

from memories.embeddings import current
from memories.embeddings.base import EmbeddingFailed
from memories.embeddings.http import LONGEST, OLLAMA, OPENAI, HttpEmbedder
from omnia.metrics import EMBED_REQUESTS
from tests.integration.embeddings.provider import (
    DIMENSIONS,
    Behaviour,
    Call,
    Provider,
    ollama,
    openai,
    provider,
    vector_of,
)

GOOD = [1.0] * DIMENSIONS
TEXTS = ["one", "three", "fifteen"]


@pytest.fixture
def server() -> Iterator[Provider]:
    with provider() as running:
        yield running


def embedder(server: Provider, **wishes: Any) -> HttpEmbedder:
    defaults = {"dialect": OPENAI, "url": server.url, "model": "m", "dimensions": DIMENSIONS, "timeout_seconds": 5}
    return HttpEmbedder(**{**defaults, **wishes})


def vectors(*rows: object) -> Behaviour:
    """Answers these rows, with the index each has here."""
    return lambda call: call.send_json({"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]})


def first_row(row: object) -> Behaviour:
    """A right answer but for its first vector."""
    return lambda call: vectors(row, *[GOOD] * (len(call.texts) - 1))(call)


def first_number(number: str) -> Behaviour:
    """A right answer but for its very first number, which JSON libraries differ about."""

    def answer(call: Call) -> None:
        rows = orjson.dumps({"data": [{"index": i, "embedding": GOOD} for i in range(len(call.texts))]})
        call.send(rows.replace(b"1.0", number.encode(), 1))

    return answer


def raw(body: str) -> Behaviour:
    return lambda call: call.send(body.encode())


def status(code: int) -> Behaviour:
    return lambda call: call.send_json({"error": call.texts}, status=code)


def indexes(*order: object) -> Behaviour:
    return lambda call: call.send_json({"data": [{"index": i, "embedding": GOOD} for i in order]})


def silence(call: Call) -> None:
    call.server.stopped.wait(5)


def slow_headers(call: Call) -> None:
    body = orjson.dumps({"data": [{"index": i, "embedding": GOOD} for i in range(len(call.texts))]})
    call.drip(b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n")
    call.wfile.write(body)


def slow_body(call: Call) -> None:
    call.send_response(200)
    call.end_headers()
    call.drip(b" " * 40)
    call.wfile.write(orjson.dumps({"data": [{"index": i, "embedding": GOOD} for i in range(len(call.texts))]}))


def ten_megabytes(call: Call) -> None:
    rows = [{"index": i, "embedding": GOOD} for i in range(len(call.texts))]
    call.send_json({"data": rows, "pad": " " * 10 * 1024 * 1024})


def redirect(call: Call) -> None:
    call.send(b"", status=307, location=f"{call.server.url}/elsewhere")


def hangs_up(call: Call) -> None:
    call.close_connection = True


def patience(fault: Behaviour) -> float:
    """Seconds to wait: short where the wait is the fault, and long where a busy machine must not make it one."""
    return 0.2 if fault in (silence, slow_headers, slow_body) else 5


FAULTS: dict[str, Behaviour] = {
    "timeout": silence,
    "500": status(500),
    "429": status(429),
    "401": status(401),
    "404": status(404),
    "slow drip of headers": slow_headers,
    "slow drip of the body": slow_body,
    "10 MB answer": ten_megabytes,
    "redirect": redirect,
    "hangs up": hangs_up,
    "one dimension short": first_row(GOOD[1:]),
    "one dimension over": first_row([*GOOD, 1.0]),
    "NaN": first_number("NaN"),
    "Infinity": first_number("Infinity"),
    "a number too large": first_number("1e999"),
    "null": first_row([None, *GOOD[1:]]),
    "number as text": first_row(["1", *GOOD[1:]]),
    "true": first_row([True, *GOOD[1:]]),
    "empty vector": first_row([]),
    "vector is an object": first_row({"0": 1.0}),
    "nested vector": first_row([GOOD] * DIMENSIONS),
    "two vectors for three texts": vectors(GOOD, GOOD),
    "four vectors for three texts": vectors(GOOD, GOOD, GOOD, GOOD),
    "no vectors": vectors(),
    "an index twice": indexes(0, 1, 1, 2),
    "an index missing": indexes(0, 1, 3),
    "index is not a number": indexes(0, 1, "2"),
    "index is a list": indexes(0, 1, [2]),
    "not JSON": raw("<html>"),
    "half of the JSON": raw('{"data":['),
    "not UTF-8": lambda call: call.send(b'{"data":"\xff"}'),
    "another shape": raw('{"embeddings":[]}'),
    "a list": raw("[]"),
    "data is null": raw('{"data":null}'),
    "entries are texts": raw('{"data":["a","b","c"]}'),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_faulty_answer_gives_no_vector_of_the_batch(server: Provider, fault: Behaviour) -> None:
    server.behaviour = fault
    with pytest.raises(EmbeddingFailed) as failure:
        embedder(server, timeout_seconds=patience(fault)).embed_passages(TEXTS)
    assert not failure.value.permanent


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_next_answer_is_taken_again(server: Provider, fault: Behaviour) -> None:
    asked = embedder(server, timeout_seconds=patience(fault))
    server.behaviour = fault
    with pytest.raises(EmbeddingFailed):
        asked.embed_passages(TEXTS)
    server.behaviour = openai
    assert all(vector is not None for vector in asked.embed_passages(TEXTS))


@pytest.mark.parametrize("drip", [slow_headers, slow_body])
def test_the_deadline_ends_the_exchange_itself(server: Provider, drip: Behaviour) -> None:
    server.behaviour = drip
    with pytest.raises(EmbeddingFailed, match=r"within 0\.2 s"):
        embedder(server, timeout_seconds=patience(drip)).embed_query("one")
    assert server.left.wait(5)


def test_a_redirect_is_not_followed(server: Provider) -> None:
    server.behaviour = redirect
    with pytest.raises(EmbeddingFailed, match="307"):
        embedder(server).embed_query("one")
    assert len(server.calls) == 1


OLLAMA_FAULTS = {
    "short": {"embeddings": [GOOD, GOOD]},
    "null": {"embeddings": None},
    "number": {"embeddings": 3},
    "texts": {"embeddings": ["a", "b", "c"]},
    "another shape": {"data": []},
}


@pytest.mark.parametrize("answer", OLLAMA_FAULTS.values(), ids=OLLAMA_FAULTS)
def test_the_other_dialect_is_as_strict(server: Provider, answer: object) -> None:
    server.behaviour = lambda call: call.send_json(answer)
    with pytest.raises(EmbeddingFailed):
        embedder(server, dialect=OLLAMA).embed_passages(TEXTS)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_save_goes_on_without_a_vector_and_the_metric_says_so(server: Provider, fault: Behaviour) -> None:
    server.behaviour = fault
    before = EMBED_REQUESTS.labels("failed")._value.get()
    with current.use(embedder(server, timeout_seconds=patience(fault))):
        assert current.seat().passage_vector("one") is None
    assert EMBED_REQUESTS.labels("failed")._value.get() == before + 1


def test_a_zero_vector_is_no_vector(server: Provider) -> None:
    server.behaviour = vectors(GOOD, [0.0] * DIMENSIONS, GOOD)
    first, second, third = embedder(server).embed_passages(TEXTS)
    assert first is not None
    assert second is None
    assert third is not None


def test_vectors_go_by_their_index(server: Provider) -> None:
    def backwards(call: Call) -> None:
        rows = [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(call.texts)]
        call.send_json({"data": rows[::-1]})

    server.behaviour = backwards
    for text, vector in zip(TEXTS, embedder(server).embed_passages(TEXTS), strict=True):
        assert vector is not None
        assert vector[0] / vector[1] == pytest.approx(len(text))


def test_the_text_travels_as_it_is(server: Provider) -> None:
    text = "Zoë wohnt in 東京 \U0001f4cd"
    embedder(server).embed_query(text)
    assert text.encode() in server.calls[0].raw
    assert server.calls[0].payload == {"model": "m", "input": [text]}


@pytest.mark.parametrize(
    ("dialect", "behaviour", "path"), [(OPENAI, openai, "/embeddings"), (OLLAMA, ollama, "/api/embed")]
)
def test_each_dialect_asks_at_its_place(server: Provider, dialect: Any, behaviour: Behaviour, path: str) -> None:
    server.behaviour = behaviour
    (vector,) = embedder(server, dialect=dialect, api_key="k").embed_passages(["one"])
    assert vector is not None
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert server.calls[0].path == path
    assert server.calls[0].headers["authorization"] == "Bearer k"


def test_batches_are_of_64_texts(server: Provider) -> None:
    texts = ["x" * (n + 1) for n in range(130)]
    made = embedder(server).embed_passages(texts)
    assert [len(call.texts) for call in server.calls] == [64, 64, 2]
    assert [round(float(v[0] / v[1])) for v in made if v is not None] == list(range(1, 131))


def test_no_texts_no_call(server: Provider) -> None:
    assert embedder(server).embed_passages([]) == []
    assert server.calls == []


def test_proxies_of_the_environment_are_not_asked(server: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert embedder(server).embed_query("one") is not None


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_refused_text_is_said_to_be_refused(server: Provider, code: int) -> None:
    server.behaviour = status(code)
    with pytest.raises(EmbeddingFailed) as failure:
        embedder(server).embed_passages(["one"])
    assert failure.value.permanent
    assert "one" not in str(failure.value)


def test_a_text_above_the_models_window_is_embedded_by_its_beginning(server: Provider) -> None:
    """An 8,192-byte body at a provider that takes 2,000 characters."""

    def narrow(call: Call) -> None:
        openai(call) if len(call.texts[0]) <= 2000 else status(400)(call)

    server.behaviour = narrow
    vector = embedder(server).embed_query("x" * 8192)
    assert vector is not None
    assert [len(call.texts[0]) for call in server.calls] == [8192, 4096, 2048, 1024]


def test_no_more_of_a_text_is_sent_than_any_model_reads(server: Provider) -> None:
    embedder(server).embed_query("x" * (LONGEST + 1))
    assert [len(call.texts[0]) for call in server.calls] == [LONGEST]


def test_after_three_failures_the_provider_is_left_alone(server: Provider) -> None:
    server.behaviour = status(500)
    asked = embedder(server)
    for _ in range(6):
        with pytest.raises(EmbeddingFailed):
            asked.embed_query("one")
    assert len(server.calls) == 3


def test_refused_texts_do_not_rest_the_provider(server: Provider) -> None:
    server.behaviour = status(400)
    asked = embedder(server)
    for _ in range(6):
        with pytest.raises(EmbeddingFailed):
            asked.embed_query("one")
    assert len(server.calls) == 6


def test_the_first_answer_settles_the_dimension_when_no_setting_does(server: Provider) -> None:
    asked = embedder(server, dimensions=0)
    assert asked.name == f"openai-m-{DIMENSIONS}"
    server.behaviour = vectors([1.0] * (DIMENSIONS + 1))
    with pytest.raises(EmbeddingFailed):
        asked.embed_query("one")


def test_an_unreachable_provider_is_a_failure_like_any_other() -> None:
    with provider() as gone:
        pass
    with pytest.raises(EmbeddingFailed, match="cannot be reached"):
        embedder(gone).embed_query("one")
