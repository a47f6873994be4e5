"""The cluster this process works with, or none: made once, from the settings, when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from django.conf import settings

from policies.kube.port import Cluster

_replaced: list[Cluster | None] = []


def cluster() -> Cluster | None:
    """None without `OMNIA_KUBERNETES`: the database rows are the objects then."""
    return _replaced[-1] if _replaced else _configured()


@contextmanager
def use(other: Cluster | None) -> Iterator[None]:
    """Stands in for the configured one, for tests."""
    _replaced.append(other)
    try:
        yield
    finally:
        _replaced.pop()


@cache
def _configured() -> Cluster | None:
    mode = settings.OMNIA.cluster.mode
    if mode == "off":
        return None
    # Fifty megabytes that an installation without a cluster does not need.
    from policies.kube.client import KubernetesCluster, connect

    return KubernetesCluster(lambda: connect(mode))
