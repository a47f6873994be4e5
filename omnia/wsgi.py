"""The WSGI entry: granian serves `omnia.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omnia.settings")
application = get_wsgi_application()

from memories.embeddings.current import warm_in_background  # noqa: E402 - the framework must be up first
from omnia.api.request import Utf8Request  # noqa: E402

application.request_class = Utf8Request
warm_in_background()
