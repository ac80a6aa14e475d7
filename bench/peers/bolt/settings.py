"""As little of Django as will do."""

SECRET_KEY = "for a measurement on this machine"
DEBUG = False
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django_bolt"]
USE_TZ = True
DATABASES: dict[str, object] = {}
BOLT_API = ["api:api"]
LOGGING_CONFIG = None
