"""`manage.py sync_policies`: follows the cluster's policies and workspaces until it is told to stop."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from policies.kube.current import cluster
from policies.services.sync import follow_cluster


class Command(BaseCommand):
    help = "Mirrors the cluster's MemoryPolicies and Workspaces into the database and writes the policies' status."

    def handle(self, *args: Any, **options: Any) -> None:
        found = cluster()
        if found is None:
            raise CommandError("There is no cluster to follow: set OMNIA_KUBERNETES to in-cluster or kubeconfig.")
        stop, asked = threading.Event(), threading.Event()

        def end(*_signal: Any) -> None:
            asked.set()
            stop.set()

        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, end)
        follow_cluster(found, stop=stop)
        if not asked.is_set():
            raise CommandError("Following the cluster ended with an error; see the log above.")
