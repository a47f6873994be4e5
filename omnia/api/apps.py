"""App: access by token, idempotency and the rules every HTTP answer keeps."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "omnia.api"
    label = "omnia_api"
    verbose_name = "API"
