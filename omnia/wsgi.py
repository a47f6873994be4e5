"""The WSGI entry: granian serves `omnia.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omnia.settings")
application = get_wsgi_application()
