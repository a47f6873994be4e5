"""What is swept among memories."""

from __future__ import annotations

from celery import shared_task

from memories.services import embed


@shared_task(name="memories.tasks.embed_pending")
def embed_pending() -> None:
    """Gives vectors to the rows that wait for one."""
    embed.embed_pending()
