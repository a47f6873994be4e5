"""What is swept in the audit trail."""

from __future__ import annotations

from celery import shared_task

from omnia.audit import chain


@shared_task(name="omnia.audit.tasks.seal_audit")
def seal_audit() -> None:
    """Seals the rows written since the last sweep."""
    chain.seal_pending()
