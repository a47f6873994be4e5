"""etcd and kube-apiserver on loopback ports of their own, in a folder that goes with them."""

from __future__ import annotations

import base64
import secrets
import shutil
import socket
import ssl
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kubernetes import client

from omnia.child import Child, spawn

_START_SECONDS = 120
_ADMIN = "system:masters"


@dataclass(frozen=True)
class ControlPlane:
    """A running API server; `token` is one of a cluster administrator."""

    url: str
    certificate: Path
    token: str

    def connect(self, token: str | None = None) -> client.ApiClient:
        """A client that shows a bearer token, the administrator's unless another is given."""
        settings = client.Configuration()
        settings.host, settings.ssl_ca_cert, settings.retries = self.url, str(self.certificate), False
        settings.api_key["BearerToken"] = f"Bearer {token or self.token}"
        return client.ApiClient(settings)


@contextmanager
def control_plane(programs: Path) -> Iterator[ControlPlane]:
    """Starts both; returns once the API server says it is ready."""
    with ExitStack() as ending:
        folder = Path(tempfile.mkdtemp(prefix="omnia-cluster-"))
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        store = f"http://127.0.0.1:{_free_port()}"
        etcd = spawn("etcd", _etcd(programs, folder, store), log=folder / "etcd.log")
        ending.callback(etcd.stop, seconds=10)
        etcd.await_ready(lambda: _answers(f"{store}/health"), seconds=_START_SECONDS)
        plane = ControlPlane(f"https://127.0.0.1:{_free_port()}", folder / "apiserver.crt", secrets.token_urlsafe())
        server = spawn("kube-apiserver", _server(programs, folder, store, plane), log=folder / "kube-apiserver.log")
        ending.callback(server.stop, seconds=10)
        _await(server, plane)
        yield plane


def _await(server: Child, plane: ControlPlane) -> None:
    def ready() -> bool:
        return plane.certificate.exists() and _answers(f"{plane.url}/readyz", plane)

    server.await_ready(ready, seconds=_START_SECONDS)


def _etcd(programs: Path, folder: Path, store: str) -> list[str | Path]:
    return [
        programs / "etcd",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={store}",
        f"--advertise-client-urls={store}",
        f"--listen-peer-urls=http://127.0.0.1:{_free_port()}",
        "--unsafe-no-fsync=true",
        "--log-level=warn",
    ]


def _server(programs: Path, folder: Path, store: str, plane: ControlPlane) -> list[str | Path]:
    """It signs its own certificate; nothing else of it is different from a production server that matters here."""
    key, tokens = folder / "service-accounts.key", folder / "tokens.csv"
    key.write_text(_signing_key())
    tokens.write_text(f'{plane.token},admin,admin,"{_ADMIN}"\n')
    return [
        programs / "kube-apiserver",
        f"--etcd-servers={store}",
        "--bind-address=127.0.0.1",
        f"--secure-port={plane.url.rpartition(':')[2]}",
        f"--cert-dir={folder}",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--disable-admission-plugins=ServiceAccount",
        f"--service-account-issuer={plane.url}/",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
    ]


def _signing_key() -> str:
    """A new P-256 private key (RFC 5915, without the public part) in PEM."""
    scalar = b"\x00" + secrets.token_bytes(31)  # below the curve's order
    der = bytes.fromhex("30310201010420") + scalar + bytes.fromhex("a00a06082a8648ce3d030107")
    body = base64.b64encode(der).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{body}\n-----END EC PRIVATE KEY-----\n"


def _answers(url: str, plane: ControlPlane | None = None) -> bool:
    headers = {"Authorization": f"Bearer {plane.token}"} if plane else {}
    try:
        context = ssl.create_default_context(cafile=str(plane.certificate)) if plane else None
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=2, context=context) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
