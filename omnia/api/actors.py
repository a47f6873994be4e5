"""The caller as audit rows name it, told from what a request brings (design: Audit)."""

from __future__ import annotations

import ipaddress

from omnia.api.principal import Principal
from omnia.core.actor import Actor

_LONGEST_AGENT = 200


def actor_of(principal: Principal, *, request_id: str, ip: str, user_agent: str, grants: str) -> Actor:
    """The actor; an address that is none (a Unix socket's) is left out, the user agent is made printable.

    `grants` is what X-Consent-Grants says, categories separated by commas.
    """
    return Actor(
        name=principal.name,
        subject=principal.subject,
        request_id=request_id,
        ip=_ip(ip),
        user_agent="".join(letter for letter in user_agent if letter.isprintable())[:_LONGEST_AGENT],
        consents=frozenset(filter(None, map(str.strip, grants.split(",")))),
    )


def _ip(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
