"""Core and Enterprise: which features an installation has (spec: Enterprise-gated sections)."""

from enum import StrEnum


class Edition(StrEnum):
    CORE = "core"
    ENTERPRISE = "enterprise"
