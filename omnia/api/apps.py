"""App: access by token, idempotency and the rules every HTTP answer keeps."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "omnia.api"
    label = "omnia_api"
    verbose_name = "API"

    def ready(self) -> None:
        from celery.signals import task_success

        from omnia.api.workers import WorkerCollector, note_success
        from omnia.metrics import FROM_THE_STORE

        task_success.connect(note_success, dispatch_uid="omnia.api.workers")
        FROM_THE_STORE.register(WorkerCollector())
