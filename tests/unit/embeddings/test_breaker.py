"""When a provider is left alone, and when it is asked again."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from memories.embeddings.base import EmbeddingFailed
from memories.embeddings.breaker import FAILURES, REST_SECONDS, CircuitBreaker


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_breaker(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock=clock)
    for _ in range(FAILURES):
        breaker.admit()
        breaker.failed()
    return breaker


def test_failures_in_a_row_open_it(open_breaker: CircuitBreaker, clock: Clock) -> None:
    clock.now += REST_SECONDS - 0.01
    with pytest.raises(EmbeddingFailed):
        open_breaker.admit()


def test_a_success_between_them_keeps_it_closed(clock: Clock) -> None:
    breaker = CircuitBreaker(clock=clock)
    for outcome in [breaker.failed, breaker.failed, breaker.succeeded, breaker.failed, breaker.failed]:
        breaker.admit()
        outcome()
    breaker.admit()


def test_after_the_rest_one_call_tries_and_the_others_still_fail_fast(
    open_breaker: CircuitBreaker, clock: Clock
) -> None:
    clock.now += REST_SECONDS
    open_breaker.admit()
    with pytest.raises(EmbeddingFailed):
        open_breaker.admit()


def test_a_trial_that_succeeds_closes_it(open_breaker: CircuitBreaker, clock: Clock) -> None:
    clock.now += REST_SECONDS
    open_breaker.admit()
    open_breaker.succeeded()
    open_breaker.admit()


def test_a_trial_that_fails_starts_another_rest(open_breaker: CircuitBreaker, clock: Clock) -> None:
    clock.now += REST_SECONDS
    open_breaker.admit()
    clock.now += 1
    open_breaker.failed()
    clock.now += REST_SECONDS - 0.01
    with pytest.raises(EmbeddingFailed):
        open_breaker.admit()


def test_a_trial_that_never_comes_back_does_not_keep_it_open(open_breaker: CircuitBreaker, clock: Clock) -> None:
    clock.now += REST_SECONDS
    open_breaker.admit()
    clock.now += REST_SECONDS
    open_breaker.admit()
