"""What the routes of policies and of workspaces have in common: who may write, entity tags, pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from omnia.api.pagination import decode_cursor, encode_cursor
from omnia.api.views import ApiView
from omnia.core.errors import Forbidden, PreconditionRequired
from policies.api.media import PARSERS
from policies.domain.schema.crd import Crd

LARGEST_PAGE = 100


class DocumentView(ApiView):
    """A route of one kind of document; everybody reads what they may see, platform admins write."""

    parser_classes = PARSERS
    plural: ClassVar[str]
    writes: ClassVar[bool] = True
    """Whether its unsafe methods change anything."""

    def check_permissions(self, request: Request) -> None:
        """Before the body is read. Raises Forbidden `role_too_small` for a write of anybody but a platform admin."""
        super().check_permissions(request)
        if self.writes and request.method not in SAFE_METHODS and not self.principal.platform_admin:
            raise Forbidden("Policies and workspaces are changed by platform admins.", code="role_too_small")

    def document(self) -> dict[str, Any]:
        """The body as a whole document: what the server knows is filled in."""
        crd = Crd.load(self.plural)
        return {"apiVersion": crd.api_version, "kind": crd.kind, **self.given()}

    def given(self) -> dict[str, Any]:
        """The body without what the server adds to what it shows."""
        return {key: value for key, value in self.body.items() if key not in ("bindings", "status")}

    def expected(self) -> str | None:
        """The entity tag of If-Match; None for `*`. Raises PreconditionRequired without one."""
        tag = self.request.headers.get("If-Match", "").strip()
        if not tag:
            raise PreconditionRequired(
                "Send If-Match with the ETag you read, so that nobody's change is overwritten unseen.",
                code="if_match_required",
            )
        return None if tag == "*" else tag

    def page(self, names: Sequence[str]) -> tuple[Sequence[str], str | None]:
        """The names (in order) on the page that was asked for, and the cursor of the next."""
        self.query.only("limit", "cursor")
        limit = self.query.integer("limit", default=LARGEST_PAGE, low=1, high=LARGEST_PAGE)
        cursor = self.query.text("cursor", max_length=1024)
        after = str(decode_cursor(cursor, purpose=self.plural)[0]) if cursor else ""
        rest = [name for name in names if name > after]
        shown = rest[:limit]
        return shown, encode_cursor([shown[-1]], purpose=self.plural) if len(rest) > limit else None


def listed(items: Sequence[Mapping[str, Any]], cursor: str | None) -> dict[str, Any]:
    return {"items": items, "next": cursor}
