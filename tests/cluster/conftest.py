"""The API servers the tests run against: a fake one in this process, and the real one where it can be had."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from policies.kube.client import KubernetesCluster
from policies.kube.current import use
from policies.services import access, resolve
from policies.services.rows import Rows
from policies.services.sync import follow
from tests.cluster.api import Api, plain
from tests.cluster.control_plane import ControlPlane, control_plane
from tests.cluster.fake_server import fake_server
from tests.cluster.installed import install_crds
from tests.cluster.programs import NotToBeHad, folder

BOTH = ["fake", pytest.param("real", marks=pytest.mark.cluster)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The real server's tests come last, so that it is built while the others run."""
    items.sort(key=lambda item: item.get_closest_marker("cluster") is not None)


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    """The real API server, with our kinds of object. Skips the test, with the reason, where it is not to be had."""
    try:
        programs = folder()
    except NotToBeHad as reason:
        pytest.skip(str(reason))
    with control_plane(programs) as running:
        install_crds(running.connect())
        yield running


@pytest.fixture
def real(plane: ControlPlane) -> Api:
    """The real API server without objects of ours."""
    api = Api(plane.connect)
    api.clear()
    return api


@pytest.fixture(params=BOTH)
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    """An API server without objects of ours."""
    if request.param == "fake":
        with fake_server() as server:
            yield Api(partial(plain, server.url), server)
    else:
        yield request.getfixturevalue("real")


@pytest.fixture
def fake() -> Iterator[Api]:
    with fake_server() as server:
        yield Api(partial(plain, server.url), server)


@pytest.fixture
def in_cluster(api: Api) -> Iterator[Api]:
    """The application works with `api`."""
    resolve.clear_cache()
    access.clear_cache()
    with use(api.cluster):
        yield api
    resolve.clear_cache()


@pytest.fixture
def in_fake(fake: Api) -> Iterator[None]:
    """The application works with `fake`."""
    with use(fake.cluster):
        yield


Follow = Callable[[Rows[Any], Api], None]


@pytest.fixture
def following() -> Iterator[Follow]:
    """Starts the loop for one kind; every loop ends with the test."""
    started: list[tuple[threading.Thread, KubernetesCluster]] = []
    stop = threading.Event()

    def start(rows: Rows[Any], api: Api) -> None:
        cluster = api.cluster
        thread = threading.Thread(target=follow, args=(rows, cluster), kwargs={"stop": stop}, daemon=True)
        thread.start()
        started.append((thread, cluster))

    yield start
    stop.set()
    for thread, cluster in started:
        cluster.end_watches()
        thread.join(10)
        assert not thread.is_alive()
