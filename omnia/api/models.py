"""Access tokens and idempotency records."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class ApiToken(models.Model):
    """A bearer token, stored as its hash (design: Auth). Shown once, at creation.

    `workspaces` lists Workspace UIDs; `all_workspaces` stands for `*`. A token bound to a user
    (`subject`) acts as that user only.
    """

    class Role(models.TextChoices):
        PLATFORM_ADMIN = "platform-admin"
        OWNER = "owner"
        EDITOR = "editor"
        VIEWER = "viewer"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=120)
    token_hash = models.BinaryField(max_length=32, unique=True)
    role = models.CharField(max_length=20, choices=Role.choices)
    all_workspaces = models.BooleanField(default=False)
    workspaces = ArrayField(models.UUIDField(), default=list)
    subject = models.CharField(max_length=253, null=True)
    scopes = ArrayField(models.CharField(max_length=40), default=list)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "omnia_api_token"
        constraints = [
            models.CheckConstraint(condition=~Q(subject=""), name="token_subject_not_empty"),
            models.CheckConstraint(
                condition=Q(role__in=["platform-admin", "owner", "editor", "viewer"]), name="token_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.role})"


class IdempotencyRecord(models.Model):
    """The first answer to a POST with an Idempotency-Key, kept for 24 hours (design: Conventions).

    The answer may hold a person's words, so the record names whose (`workspace_id`, `subject`) and
    goes with "forget everything"; and it goes with any row it shows: `ids` are all that stand in it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    caller = models.CharField(max_length=200)
    key_hash = models.BinaryField(max_length=32)
    fingerprint = models.BinaryField(max_length=32)
    workspace_id = models.UUIDField(null=True)
    subject = models.CharField(max_length=253, null=True)
    status = models.PositiveSmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, default="")
    body = models.BinaryField(default=b"")
    ids = ArrayField(models.UUIDField(), default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "omnia_idempotency"
        constraints = [models.UniqueConstraint(fields=["caller", "key_hash"], name="idempotency_caller_key")]
        indexes = [
            models.Index(fields=["created_at"], name="idempotency_created"),
            models.Index(fields=["workspace_id", "subject"], name="idempotency_subject"),
            GinIndex(fields=["ids"], name="idempotency_ids"),
        ]

    def __str__(self) -> str:
        return f"{self.caller} {self.id}"


class WorkerSuccess(models.Model):
    """When a background task last did its work."""

    name = models.CharField(max_length=100, primary_key=True)
    at = models.DateTimeField()

    class Meta:
        db_table = "omnia_worker_success"

    def __str__(self) -> str:
        return self.name
