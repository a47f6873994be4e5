"""Maintenance: the scheduled purge, run once however many beats and workers there are (spec: tiers).

Being told is a hint: the database says whether a run is due, and whose it is. So a flushed Redis loses nothing,
and after an outage there is one run for all that was missed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from memories.services.purge import Purged, purge
from memories.store import runs
from omnia.core.actor import Actor
from omnia.core.cron import Cron
from omnia.db import database_time

logger = logging.getLogger(__name__)

BUDGET = timedelta(seconds=20)
"""A worker turns to other things after this; what is left goes on when it is told again."""
ACTOR = Actor("system:maintenance")


def maintain(
    *,
    schedule: Cron,
    trash_retention: timedelta,
    clock: Callable[[], datetime] = database_time,
    budget: timedelta = BUDGET,
) -> Purged | None:
    """Runs maintenance if it is due and nobody else does; None when there was nothing to do."""
    now = clock()
    with transaction.atomic():
        claim = runs.claim(due=schedule.latest(now), now=now)
    if claim is None:
        return None
    try:
        done = purge(
            now=now,
            trash_retention=trash_retention,
            actor=ACTOR,
            go_on=lambda: clock() < now + budget,
            within=lambda: claim.hold(now=clock()),
            run=claim.run,
        )
    except runs.RunLost:
        logger.warning("maintenance took longer than its lease, and another worker went on with it")
        return None
    except BaseException:  # a worker that is stopped gives its run back too
        claim.fail(now=clock())
        raise
    (claim.finish if done.complete else claim.pause)(now=clock())
    logger.info("maintenance deleted %d expired and %d forgotten memories", done.expired, done.purged)
    return done
