"""Policies and workspaces as rows. The raw spec is the truth; everything typed is a view of it.

With a cluster these rows mirror its objects; without one they are the objects (architecture, rule 3).
"""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class MemoryPolicy(models.Model):
    """One MemoryPolicy document (spec: MemoryPolicy CRD). Cluster-scoped: the name is unique.

    `last_valid_spec` is what recall and save follow while the current spec is in phase `Error`.
    """

    class Phase(models.TextChoices):
        ACTIVE = "Active"
        ERROR = "Error"

    name = models.CharField(max_length=253, primary_key=True)
    uid = models.UUIDField(default=uuid7, unique=True, editable=False)
    spec = models.JSONField()
    last_valid_spec = models.JSONField(null=True)
    generation = models.BigIntegerField(default=1)
    resource_version = models.CharField(max_length=64, default="")
    observed_generation = models.BigIntegerField(default=0)
    phase = models.CharField(max_length=10, choices=Phase.choices, default="")
    conditions = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "policies_memorypolicy"
        verbose_name_plural = "memory policies"
        constraints = [
            models.CheckConstraint(condition=Q(generation__gte=1), name="policy_generation_positive"),
            models.CheckConstraint(condition=Q(phase__in=["", "Active", "Error"]), name="policy_phase_known"),
        ]

    def __str__(self) -> str:
        return self.name


class Workspace(models.Model):
    """One Workspace document: its service groups, their policies, and who may do what in it."""

    uid = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=253, unique=True)
    spec = models.JSONField(default=dict)
    generation = models.BigIntegerField(default=1)
    resource_version = models.CharField(max_length=64, default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "policies_workspace"
        permissions = [
            ("workspace_owner", "Owner of the workspace"),
            ("workspace_editor", "Editor of the workspace"),
            ("workspace_viewer", "Viewer of the workspace"),
        ]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="workspace_name_not_empty")]

    def __str__(self) -> str:
        return self.name

    @property
    def display_name(self) -> str:
        return str(self.spec.get("displayName") or self.name)


class ServiceGroup(models.Model):
    """A service group of a workspace and the policy it binds (spec: How Policies Are Bound).

    `policy_name` may name a policy that does not exist: the group then runs with no policy.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="service_groups")
    name = models.CharField(max_length=253)
    policy_name = models.CharField(max_length=253, default="", db_index=True)

    class Meta:
        db_table = "policies_servicegroup"
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="servicegroup_name")]

    def __str__(self) -> str:
        return self.name
