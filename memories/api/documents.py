"""The ingestion routes, Enterprise only: take documents in, list them, delete one (design: Memories)."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from memories.api import docs
from memories.api import document_messages as messages
from memories.api.scope import SCOPE_PARAMETERS, admit_reader, admit_shared
from memories.domain.reach import DEEPEST_OFFSET, DEFAULT_PAGE, LARGEST_PAGE
from memories.services.documents import delete_document, list_documents
from memories.services.ingest import ingest_document, ingest_documents
from omnia.api.message import read
from omnia.api.permissions import IsEnterprise
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.core.scope import Scope


class IngestView(ApiView):
    """One document."""

    permission_classes = [IsEnterprise]

    @extend_schema(
        summary="Take in a document, or what it says now",
        description="It is stored whole, as sections and chunks; what it no longer says is deleted for good.",
        operation_id="ingestDocument",
        request=messages.IngestMessage,
        responses={202: messages.IngestAnswer},
    )
    def post(self, request: Request) -> HttpResponse:
        message = read(messages.IngestMessage, self.body)
        admitted = admit_shared(self, writes=True)
        self.answers_for(Scope(admitted.workspace.uid))
        ingested = ingest_document(
            message.source(),
            workspace=admitted.workspace.uid,
            policy=admitted.policy,
            now=self.now,
            actor=self.actor,
        )
        return json_response(ingested.as_json(), status=202)


class IngestBatchView(ApiView):
    """Up to a hundred documents: all of them, or none when one breaks a rule."""

    permission_classes = [IsEnterprise]

    @extend_schema(
        summary="Take in documents, all or none",
        operation_id="ingestDocuments",
        request=messages.IngestBatchMessage,
        responses={202: messages.IngestBatchAnswer},
    )
    def post(self, request: Request) -> HttpResponse:
        message = read(messages.IngestBatchMessage, self.body)
        admitted = admit_shared(self, writes=True)
        self.answers_for(Scope(admitted.workspace.uid))
        ingested = ingest_documents(
            [each.source() for each in message.documents],
            workspace=admitted.workspace.uid,
            policy=admitted.policy,
            now=self.now,
            actor=self.actor,
        )
        return json_response({"documents": [each.as_json() for each in ingested]}, status=202)


class DocumentsView(ApiView):
    """The documents of a workspace."""

    permission_classes = [IsEnterprise]

    @extend_schema(
        summary="List the documents of a workspace, last ingested first",
        operation_id="listDocuments",
        parameters=[docs.WORKSPACE, *docs.PAGE, docs.CURSOR],
        responses=messages.DocumentsAnswer,
    )
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_reader(self), self.query
        query.only(*SCOPE_PARAMETERS, "limit", "offset", "cursor")
        page = list_documents(
            admitted.workspace.uid,
            limit=query.integer("limit", default=DEFAULT_PAGE, low=1, high=LARGEST_PAGE),
            cursor=query.text("cursor"),
            offset=query.integer("offset", default=0, low=0, high=DEEPEST_OFFSET),
            now=self.now,
        )
        return json_response(page.as_json())


class DocumentView(ApiView):
    """One document, by the id its ingestion answered."""

    permission_classes = [IsEnterprise]

    @extend_schema(
        summary="Delete a document with its sections and chunks, for good",
        operation_id="deleteDocument",
        parameters=[
            OpenApiParameter("document", str, OpenApiParameter.PATH, description="The `document_id`, percent-encoded."),
            docs.WORKSPACE,
        ],
        responses=messages.DocumentDeletedAnswer,
    )
    def delete(self, request: Request, document: str) -> HttpResponse:
        admitted = admit_shared(self, writes=True)
        deleted = delete_document(document, workspace=admitted.workspace.uid, actor=self.actor)
        return json_response({"status": "deleted", "document_id": document, "deleted": deleted})
