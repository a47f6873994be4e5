"""What is swept among memories."""

from __future__ import annotations

from celery import shared_task

from memories.services import embed, erasure


@shared_task(name="memories.tasks.embed_pending")
def embed_pending() -> None:
    """Gives vectors to the rows that wait for one."""
    embed.embed_pending()


@shared_task(name="memories.tasks.carry_out_erasures")
def carry_out_erasures() -> None:
    """Takes the erasures that were ordered as far as they go."""
    erasure.carry_out_all()
