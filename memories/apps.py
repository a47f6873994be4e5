"""App: memory rows, the write path and the read path."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created


class MemoriesConfig(AppConfig):
    name = "memories"

    def ready(self) -> None:
        from memories.embeddings.halfvec import register_halfvec

        connection_created.connect(register_halfvec, dispatch_uid="memories.halfvec")
