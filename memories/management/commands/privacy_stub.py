"""`manage.py privacy_stub`: a privacy service to try consent with (reference: Consent)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.management.privacy_double import PATH, PrivacyDouble


class Command(BaseCommand):
    help = (
        "A privacy service small enough to try consent with: it keeps what people agree to in memory, and tells the"
        " memory API when they take it back. Not for production."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8600, help="on 127.0.0.1; default 8600")
        parser.add_argument("--memory-api", help="where to post consent events, such as http://127.0.0.1:8000")
        parser.add_argument("--workspace", help="the workspace the events are for, its uid or name")
        parser.add_argument("--token", help="an owner's API token")

    def handle(self, **options: Any) -> None:
        posts = [options[name] for name in ("memory_api", "workspace", "token")]
        if any(posts) and not all(posts):
            raise CommandError("--memory-api, --workspace and --token go together.")

        def told(user: str, category: str) -> None:
            if all(posts):
                self.stdout.write(f"{category} was taken back: {_post(*posts, user=user, category=category)}")

        try:
            server = PrivacyDouble(options["port"], told=told)
        except OSError:
            raise CommandError(f"Port {options['port']} is taken; name another with --port.") from None
        self.stdout.write(f"OMNIA_PRIVACY_API_URL={server.url}\nPUT {server.url}{PATH}USER says what a user agrees to.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")
        finally:
            server.server_close()


def _post(memory_api: str, workspace: str, token: str, *, user: str, category: str) -> str:
    """Posts one consent event; what came of it, for the operator."""
    url = f"{memory_api.rstrip('/')}/api/v1/memories/consent-events?workspace={quote(workspace, safe='')}"
    headers = {"authorization": f"Bearer {token}"}
    try:
        answer = httpx.post(url, json={"userId": user, "category": category}, headers=headers, timeout=10)
    except httpx.HTTPError as error:
        return f"the memory API cannot be reached ({type(error).__name__})"
    return f"{answer.status_code} {answer.text[:200]}"
