"""What is swept among memories."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from memories.services import embed, erasure, maintain, reembed
from omnia.api.workers import NOTHING_DUE


@shared_task(name="memories.tasks.embed_pending")
def embed_pending() -> None:
    """Gives vectors to the rows that wait for one."""
    embed.embed_pending()


@shared_task(name="memories.tasks.carry_out_erasures")
def carry_out_erasures() -> None:
    """Takes the erasures that were ordered as far as they go."""
    erasure.carry_out_all()


@shared_task(name="memories.tasks.maintain")
def maintenance() -> str:
    """Deletes what has expired and what lay in the trash long enough, when that is due."""
    config = settings.OMNIA
    done = maintain.maintain(schedule=config.maintenance_schedule, trash_retention=config.trash_retention)
    return "done" if done else NOTHING_DUE


@shared_task(name="memories.tasks.carry_on_reembedding")
def carry_on_reembedding() -> None:
    """Takes a change to another embedding model further."""
    reembed.carry_on()


@shared_task(name="memories.tasks.measure_embeddings")
def measure_embeddings() -> None:
    """Counts how many memories have the vector they should."""
    reembed.measure()
