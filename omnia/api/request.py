"""A request is UTF-8, whatever its Content-Type claims.

Django decodes the query string in the charset the header names and parses the header before any
middleware runs: one that names no text encoding, or cannot be parsed, would end in a bare 500.
`RequestContext` refuses a foreign charset; here it only does no harm.
"""

from __future__ import annotations

from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.utils.http import parse_header_parameters


class Utf8Request(WSGIRequest):
    """The request class of `omnia.wsgi`."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except (ValueError, LookupError):
            self.content_type, self.content_params = "", {}
