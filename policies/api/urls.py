"""The routes of policies, workspaces and tokens."""

from __future__ import annotations

from django.urls import path

from policies.api.policies import PoliciesView, PolicyView, ValidateView
from policies.api.tokens import TokensView, TokenView
from policies.api.workspaces import WorkspacesView, WorkspaceView

urlpatterns = [
    path("policies", PoliciesView.as_view()),
    path("policies/validate", ValidateView.as_view()),
    path("policies/<str:name>", PolicyView.as_view()),
    path("workspaces", WorkspacesView.as_view()),
    path("workspaces/<str:name>", WorkspaceView.as_view()),
    path("tokens", TokensView.as_view()),
    path("tokens/<uuid:token>", TokenView.as_view()),
]
