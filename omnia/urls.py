"""The routes, put together."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from memories.api.embedding_model import EmbeddingModelView
from omnia.api import health

handler400 = handler403 = handler404 = "omnia.api.error_pages.failed"
handler500 = "omnia.api.error_pages.crashed"

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.Metrics.as_view()),
    path("openapi.yaml", health.openapi, name="openapi"),
    path("api/v1/openapi.yaml", health.openapi),
    path("docs", health.docs, name="docs"),
    path("admin/embedding-model", EmbeddingModelView.as_view()),
    path("api/v1/", include("memories.api.urls")),
    path("api/v1/", include("policies.api.urls")),
    path("", include("policies.dashboard.urls")),
    path("", include("memories.dashboard.urls")),
]
