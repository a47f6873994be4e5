"""The memory routes."""

from django.urls import path

from memories.api import (
    audit,
    batch,
    conflicts,
    consent,
    documents,
    guidance,
    relations,
    retrieve,
    shared,
    subjects,
    supersede,
    transfer,
    views,
)

urlpatterns = [
    path("memories", views.MemoriesView.as_view()),
    path("memories/search", views.SearchView.as_view()),
    path("memories/retrieve", retrieve.RetrieveView.as_view()),
    path("memories/batch", batch.BatchView.as_view()),
    path("memories/conflicts", conflicts.ConflictsView.as_view()),
    path("memories/consent-events", consent.ConsentEventsView.as_view()),
    path("memories/export", transfer.ExportView.as_view()),
    path("memories/import", transfer.ImportView.as_view()),
    path("memories/supersede", supersede.SupersedeView.as_view()),
    path("memories/<uuid:memory>", views.MemoryView.as_view()),
    path("memories/<uuid:memory>/history", views.HistoryView.as_view()),
    path("relations", relations.RelationsView.as_view()),
    path("relations/<uuid:relation>", relations.RelationView.as_view()),
    path("agent-memories", shared.AgentMemoriesView.as_view()),
    path("agent-memories/<uuid:memory>", shared.AgentMemoryView.as_view()),
    path("institutional/memories", shared.InstitutionalMemoriesView.as_view()),
    path("institutional/memories/<uuid:memory>", shared.InstitutionalMemoryView.as_view()),
    path("institutional/ingest", documents.IngestView.as_view()),
    path("institutional/ingest/batch", documents.IngestBatchView.as_view()),
    path("institutional/documents", documents.DocumentsView.as_view()),
    path("institutional/documents/<path:document>", documents.DocumentView.as_view()),
    path("audit/memories", audit.AuditView.as_view()),
    path("subjects/erasures/<uuid:erasure>", subjects.CertificateView.as_view()),
    path("subjects/<path:person>/erasure", subjects.ErasureView.as_view()),
    path("memory/schema", views.SchemaView.as_view()),
    path("memory/tool-guidance", guidance.ToolGuidanceView.as_view()),
]
