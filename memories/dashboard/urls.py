"""The Memories and Audit pages' addresses. None carries a user id (see `memories.dashboard.opened`)."""

from __future__ import annotations

from django.urls import path

from memories.dashboard.audit import AuditExport, AuditPerson, AuditTrail
from memories.dashboard.views import ChooseScope, ForgetMemory, MemoryList, OneMemory, RestoreMemory

urlpatterns = [
    path("audit/", AuditTrail.as_view(), name="audit"),
    path("audit/person/", AuditPerson.as_view(), name="audit-person"),
    path("audit/export/", AuditExport.as_view(), name="audit-export"),
    path("memories/", MemoryList.as_view(), name="memories"),
    path("memories/scope/", ChooseScope.as_view(), name="memories-scope"),
    path("memories/<uuid:memory>/", OneMemory.as_view(), name="memory"),
    path("memories/<uuid:memory>/forget/", ForgetMemory.as_view(), name="memory-forget"),
    path("memories/<uuid:memory>/restore/", RestoreMemory.as_view(), name="memory-restore"),
]
