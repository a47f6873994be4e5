"""Two ways to do one operation, turn about in one run, so that what else the machine does falls on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from bench.cost import Cost, Meter

CaseT = TypeVar("CaseT")
OPERATIONS = 50
"""Operations a round of one side; the kernel's clocks are read around a round."""


@dataclass(frozen=True, slots=True)
class Side(Generic[CaseT]):
    """One way to do it, what it is done to, and the meter of whoever does it. There are cases enough."""

    ask: Callable[[CaseT], Any]
    cases: Iterator[CaseT]
    meter: Meter

    def measured(self, operations: int) -> Cost:
        """Does it so many times; the cost of one."""
        batch = list(islice(self.cases, operations))
        self.meter.lap()
        for case in batch:
            self.ask(case)
        return self.meter.lap(operations=len(batch))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The median round of each side, CPU milliseconds an operation."""

    floor: Cost
    service: Cost

    @property
    def ratio(self) -> float:
        return self.service.total / self.floor.total


def compare(*, floor: Side[Any], service: Side[Any], rounds: int, warm: int) -> Comparison:
    """`rounds` times the floor, then the service, after each has done it `warm` times."""
    sides = (floor, service)
    for side in sides:
        side.measured(warm)
    found = [[side.measured(OPERATIONS) for side in sides] for _ in range(rounds)]
    return Comparison(*map(_median, zip(*found, strict=True)))


def _median(costs: Sequence[Cost]) -> Cost:
    return sorted(costs, key=lambda cost: cost.total)[len(costs) // 2]
