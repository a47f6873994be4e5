#!/usr/bin/env python
"""Django's command line for Omnia Memory."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omnia.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, OperationalError) as error:
        # The operator's to mend, and the message says how: the way to this line in our code would only hide it.
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
