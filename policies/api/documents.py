"""What the routes of policies and of workspaces have in common: who may write, entity tags, pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

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

    def require_admin(self) -> None:
        """Raises Forbidden `role_too_small` for anybody but a platform admin."""
        if not self.principal.platform_admin:
            raise Forbidden("Policies and workspaces are changed by platform admins.", code="role_too_small")

    def document(self) -> dict[str, Any]:
        """The body as a whole document: what the server adds is left out, what it knows is filled in."""
        crd = Crd.load(self.plural)
        given = {key: value for key, value in self.body.items() if key not in ("bindings", "status")}
        return {"apiVersion": crd.api_version, "kind": crd.kind, **given}

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
