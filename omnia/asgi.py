"""The ASGI entry, of the MCP server: granian serves `omnia.asgi:application`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omnia.settings")
django.setup()

from memories.embeddings.current import warm_in_background  # noqa: E402 - the framework must be up first
from memories.mcp.application import mcp_application  # noqa: E402

application = mcp_application()
warm_in_background()
