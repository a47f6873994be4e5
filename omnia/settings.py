"""Django's settings, all from the environment; our own knobs live in `omnia.config`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from omnia.config import ConfigError, OmniaConfig
from omnia.embedded.running import QUICK_START, broker_url, discover

BASE_DIR = Path(__file__).resolve().parent.parent

RUNNING = discover(BASE_DIR / ".omnia")
"""The embedded servers that `make run` keeps, so that manage.py finds them by itself."""
_QUICK_START = RUNNING.database_url and not os.environ.get("DATABASE_URL")

try:
    OMNIA = OmniaConfig.from_env({**QUICK_START, **os.environ} if _QUICK_START else os.environ)
except ConfigError as error:
    raise ImproperlyConfigured(str(error)) from None

DEBUG = os.environ.get("OMNIA_DEBUG") == "1"
DATABASE_URL = os.environ.get("DATABASE_URL") or RUNNING.database_url
REDIS_URL = os.environ.get("REDIS_URL") or RUNNING.redis_url
SECRET_KEY = os.environ.get("OMNIA_SECRET_KEY") or RUNNING.secret_key
if DATABASE_URL and not REDIS_URL:
    raise ImproperlyConfigured(
        "REDIS_URL is not set. Set it (redis://HOST:6379/0), or start the embedded one: make run"
    )
if DATABASE_URL and not SECRET_KEY:
    raise ImproperlyConfigured(
        "OMNIA_SECRET_KEY is not set. Make one and give every process the same: "
        "python3 -c 'import secrets; print(secrets.token_urlsafe(64))'"
    )
ALLOWED_HOSTS = [host for host in os.environ.get("OMNIA_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",") if host]
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("OMNIA_TRUSTED_ORIGINS", "").split(",") if origin]
ROOT_URLCONF = "omnia.urls"
WSGI_APPLICATION = "omnia.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TIME_ZONE, USE_TZ, LANGUAGE_CODE, USE_I18N = "UTC", True, "en", False

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "guardian",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "omnia.audit",
    "omnia.api",
    "policies",
    "memories",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "omnia.api.middleware.ContentPolicy",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "omnia.api.middleware.RequestContext",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "omnia.api.middleware.BrowserState",
    "django.middleware.csrf.CsrfViewMiddleware",
]
"""What adds headers comes first, so that static files and early refusals carry them too."""

CSRF_FAILURE_VIEW = "omnia.api.error_pages.csrf_failed"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]


def _bounded() -> dict[str, str]:
    """The longest a statement may take where people wait for it, in milliseconds (OMNIA_STATEMENT_TIMEOUT)."""
    limit = os.environ.get("OMNIA_STATEMENT_TIMEOUT", "")
    return {"options": f"-c statement_timeout={int(limit)}"} if limit else {}


def _database(url: str) -> dict[str, object]:
    """Django's form of a libpq URL. Statements are prepared: planning one costs more than running it."""
    if not url:
        return {"ENGINE": "omnia.no_database"}
    try:
        parts = dict(conninfo_to_dict(url))
    except ProgrammingError:  # its message repeats the address, and with it the password
        raise ImproperlyConfigured(
            "DATABASE_URL is no PostgreSQL address; write postgresql://USER:PASSWORD@HOST:5432/NAME"
        ) from None
    known = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    named: dict[str, object] = {key: str(parts.pop(name, None) or "") for key, name in known.items()}
    return named | {
        "ENGINE": "django.db.backends.postgresql",
        "CONN_MAX_AGE": None,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": {**parts, "server_side_binding": True, "prepare_threshold": 3, "connect_timeout": 5, **_bounded()},
    }


DATABASES = {"default": _database(DATABASE_URL)}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}

AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend", "guardian.backends.ObjectPermissionBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
ANONYMOUS_USER_NAME = None
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "login", "home", "login"

SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_TLS = os.environ.get("OMNIA_TLS") == "1"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = SECURE_TLS
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE_TLS else None
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

# Once `collectstatic` has run (as in the container image) files are named by content and kept by browsers for
# good; in a checkout they come straight from where they lie.
_COLLECTED = BASE_DIR / "staticfiles"
COLLECTED = _COLLECTED.exists() or "collectstatic" in sys.argv
STATIC_URL, STATIC_ROOT, STATICFILES_DIRS = "/static/", _COLLECTED if COLLECTED else None, [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not COLLECTED
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if COLLECTED
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "policies.api.authentication.BearerAuthentication",
        "omnia.api.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["omnia.api.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["omnia.api.parsing.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "omnia.api.schema.HouseSchema",
    "EXCEPTION_HANDLER": "omnia.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Omnia Memory",
    "DESCRIPTION": "Memory for AI agents: save, recall, forget, under policy.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "omnia.api.schema.add_problem",
    ],
}

CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT, CELERY_TASK_TIME_LIMIT = 240, 300
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "omnia.logs.LineFormatter"}},
    "filters": {"failures": {"()": "omnia.logs.TaskFailures"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("OMNIA_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"level": "CRITICAL"},
        "django.db.backends": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
        "celery.app.trace": {"filters": ["failures"]},
    },
}
