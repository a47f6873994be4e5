"""App: policy documents, workspaces and their bindings."""

from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    name = "policies"
