"""The frame's addresses."""

from __future__ import annotations

from django.urls import path

from policies.dashboard.access import Access, GrantRole, MakeAccount, MakeToken, WithdrawRole, WithdrawToken
from policies.dashboard.editing import NewPolicy, OnePolicy
from policies.dashboard.policies import DeletePolicy, PolicyList
from policies.dashboard.views import Home, SignIn, SignOut, SwitchWorkspace

urlpatterns = [
    path("", Home.as_view(), name="home"),
    path("login/", SignIn.as_view(), name="login"),
    path("logout/", SignOut.as_view(), name="logout"),
    path("workspace/", SwitchWorkspace.as_view(), name="workspace"),
    path("access/", Access.as_view(), name="access"),
    path("access/tokens/", MakeToken.as_view(), name="access-token"),
    path("access/tokens/<uuid:token>/withdraw/", WithdrawToken.as_view(), name="access-token-withdraw"),
    path("access/roles/", GrantRole.as_view(), name="access-role"),
    path("access/roles/withdraw/", WithdrawRole.as_view(), name="access-role-withdraw"),
    path("settings/policies/", PolicyList.as_view(), name="policies"),
    path("settings/new-policy/", NewPolicy.as_view(), name="policy-new"),
    path("settings/policies/<name>/", OnePolicy.as_view(), name="policy"),
    path("settings/policies/<name>/delete/", DeletePolicy.as_view(), name="policy-delete"),
    path("access/accounts/", MakeAccount.as_view(), name="access-account"),
]
