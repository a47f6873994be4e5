"""App: memory rows, the write path and the read path."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created


class MemoriesConfig(AppConfig):
    name = "memories"

    def ready(self) -> None:
        from memories.embeddings.halfvec import register_halfvec
        from memories.recall.index_scan import search_on
        from memories.services.coverage_metrics import CoverageCollector
        from memories.services.retention_metrics import RetentionCollector
        from omnia.metrics import FROM_THE_STORE

        connection_created.connect(register_halfvec, dispatch_uid="memories.halfvec")
        connection_created.connect(search_on, dispatch_uid="memories.index_scan")
        FROM_THE_STORE.register(CoverageCollector())
        FROM_THE_STORE.register(RetentionCollector())
