"""The memory routes."""

from django.urls import path

from memories.api import relations, retrieve, views

urlpatterns = [
    path("memories", views.MemoriesView.as_view()),
    path("memories/search", views.SearchView.as_view()),
    path("memories/retrieve", retrieve.RetrieveView.as_view()),
    path("memories/<uuid:memory>", views.MemoryView.as_view()),
    path("memories/<uuid:memory>/history", views.HistoryView.as_view()),
    path("relations", relations.RelationsView.as_view()),
    path("relations/<uuid:relation>", relations.RelationView.as_view()),
    path("memory/schema", views.SchemaView.as_view()),
]
