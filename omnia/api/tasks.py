"""What the API sweeps."""

from __future__ import annotations

from celery import shared_task

from omnia.api import idempotency


@shared_task(name="omnia.api.tasks.sweep_idempotency_records")
def sweep_idempotency_records() -> None:
    """Removes the answers kept for a day."""
    idempotency.sweep()
