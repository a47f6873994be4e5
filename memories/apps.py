"""App: memory rows, the write path and the read path."""

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "memories"
