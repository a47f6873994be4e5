"""Where this run listens, checked before anything starts."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass


class AddressError(Exception):
    """The port cannot be used; the message says the fix."""


@dataclass(frozen=True, slots=True)
class Address:
    """The one address of a run: this machine only."""

    port: int
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @staticmethod
    def from_env(env: Mapping[str, str]) -> Address:
        """PORT, 8000 when unset. Raises AddressError for what is no port."""
        text = env.get("PORT") or "8000"
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
            raise AddressError(f"PORT={text} is no port; take one from 1 to 65535: PORT=8001 make run")
        return Address(int(text))

    def check_free(self) -> None:
        """Raises AddressError when something listens there already, or we may not."""
        try:
            self._bind()
        except PermissionError:
            raise AddressError(f"Port {self.port} is for root only. Take another: PORT=8001 make run") from None
        except OSError:
            other = self.port + 1 if self.port < 65535 else 8000
            raise AddressError(f"Port {self.port} is taken. Take another: PORT={other} make run") from None

    def _bind(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of the last run may linger
            probe.bind((self.host, self.port))
