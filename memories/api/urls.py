"""The memory routes."""

from django.urls import path

from memories.api import views

urlpatterns = [
    path("memories", views.MemoriesView.as_view()),
    path("memories/search", views.SearchView.as_view()),
    path("memories/retrieve", views.RetrieveView.as_view()),
    path("memories/<uuid:memory>", views.MemoryView.as_view()),
    path("memories/<uuid:memory>/history", views.HistoryView.as_view()),
    path("memory/schema", views.SchemaView.as_view()),
]
