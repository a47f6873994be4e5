"""The frame's addresses."""

from __future__ import annotations

from django.urls import path

from policies.dashboard.views import Home, SignIn, SignOut, SwitchWorkspace

urlpatterns = [
    path("", Home.as_view(), name="home"),
    path("login/", SignIn.as_view(), name="login"),
    path("logout/", SignOut.as_view(), name="logout"),
    path("workspace/", SwitchWorkspace.as_view(), name="workspace"),
]
