"""App: the audit trail."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "omnia.audit"
    label = "omnia_audit"
    verbose_name = "Audit"
