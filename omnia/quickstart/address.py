"""Where this run listens, checked before anything starts."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace


class AddressError(Exception):
    """The port cannot be used; the message says the fix."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where one server listens: on this machine only. `setting` is what moves it elsewhere."""

    port: int
    setting: str = "PORT"
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def neighbour(self) -> int:
        """The next port; below the last one, where there is no next."""
        return self.port + 1 if self.port < 65535 else self.port - 1

    @staticmethod
    def read(text: str, *, setting: str) -> Address:
        """Raises AddressError for what is no port."""
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
            raise AddressError(f"{setting}={text} is no port; take one from 1 to 65535: {setting}=8001 make run")
        return Address(int(text), setting)

    def check_free(self) -> None:
        """Raises AddressError when something listens there already, or we may not."""
        try:
            self._bind()
        except PermissionError:
            raise AddressError(
                f"Port {self.port} is for root only. Take another: {self.setting}=8001 make run"
            ) from None
        except OSError:
            fix = f"{self.setting}={self.neighbour} make run"
            raise AddressError(f"Port {self.port} is taken. Take another: {fix}") from None

    def _bind(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of the last run may linger
            probe.bind((self.host, self.port))


@dataclass(frozen=True, slots=True)
class Addresses:
    """The two servers of a run. The MCP server stands beside the web server, unless the operator says where."""

    web: Address
    mcp: Address
    mcp_is_given: bool = False

    @property
    def mcp_url(self) -> str:
        return f"{self.mcp.url}/mcp"

    @staticmethod
    def from_env(env: Mapping[str, str]) -> Addresses:
        """PORT, 8000 when unset, and OMNIA_MCP_PORT. Raises AddressError for what is no port, or twice the same."""
        web, given = Address.read(env.get("PORT") or "8000", setting="PORT"), env.get("OMNIA_MCP_PORT")
        if not given:
            return Addresses(web, Address(web.neighbour, "OMNIA_MCP_PORT"))
        mcp = Address.read(given, setting="OMNIA_MCP_PORT")
        if mcp.port == web.port:
            raise AddressError(f"PORT and OMNIA_MCP_PORT are both {web.port}; two servers need two ports.")
        return Addresses(web, mcp, mcp_is_given=True)

    def checked(self) -> Addresses:
        """Free ones: an MCP port that nobody gave gives way to any that is. Raises AddressError."""
        self.web.check_free()
        try:
            self.mcp.check_free()
        except AddressError:
            if self.mcp_is_given:
                raise
            return replace(self, mcp=replace(self.mcp, port=_any_port()))
        return self


def _any_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
