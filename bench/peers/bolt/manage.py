"""bolt-mcp on django-bolt (both Rust, with Python's tools): `manage.py runbolt --port ...`."""

import os
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
execute_from_command_line(sys.argv)
