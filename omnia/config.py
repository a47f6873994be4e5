"""Our own knobs: read once from the environment, frozen, and named as the operator names them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal, TypeVar, cast, get_args
from urllib.parse import urlsplit

from omnia.core.cron import Cron
from omnia.core.duration import parse_duration
from omnia.core.edition import Edition

ClusterMode = Literal["off", "in-cluster", "kubeconfig"]
Provider = Literal["local", "openai", "ollama", "none", "hashing"]
LONGEST_MODEL_NAME = 200
_NAMESPACE = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
SERVICE_ACCOUNT = re.compile(
    rf"system:serviceaccount:(?P<namespace>{_NAMESPACE.pattern}):(?P<name>[a-z0-9][-a-z0-9.]{{0,252}})", re.ASCII
)
"""The full name a ServiceAccount has as a user of the cluster."""
Span = TypeVar("Span", timedelta, None)
HOURLY = Cron.parse("0 * * * *")


class ConfigError(Exception):
    """An environment variable holds what we cannot use; the message names it and the fix."""


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Which model makes the vectors, and where it answers."""

    provider: Provider = "none"
    url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    former_api_key: str = field(default="", repr=False)
    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    timeout_seconds: float = 10.0

    @property
    def remote(self) -> bool:
        """Whether the provider is a service, which has more than one model."""
        return self.provider in ("openai", "ollama")

    def with_dimensions(self, dimensions: int) -> EmbeddingConfig:
        return replace(self, dimensions=dimensions)

    def names_the_model_of(self, other: EmbeddingConfig) -> bool:
        """Whether both make the same vectors, wherever they are reached."""
        return self._model() == other._model()

    def reached_like(self, named: EmbeddingConfig) -> EmbeddingConfig:
        """This model, with the patience of `named`, and its key where it answers at the same address."""
        key = named.api_key if self.url == named.url else named.former_api_key
        return replace(self, api_key=key, timeout_seconds=named.timeout_seconds)

    def _model(self) -> tuple[object, ...]:
        named = (self.model, self.dimensions) if self.remote else ()
        return (self.provider, *named, self.query_prefix, self.passage_prefix)

    def check(self) -> None:
        """Raises ConfigError when the provider is a service and cannot be asked as it is described here."""
        if not self.remote:
            return
        address = urlsplit(self.url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError(
                f"OMNIA_EMBEDDING_URL must be the http or https address of the {self.provider} service, "
                "such as http://127.0.0.1:11434"
            )
        if not 0 < len(self.model) <= LONGEST_MODEL_NAME:
            raise ConfigError(f"OMNIA_EMBEDDING_MODEL must name the model in at most {LONGEST_MODEL_NAME} characters")


@dataclass(frozen=True, slots=True)
class IngestConfig:
    """What the spec's `--ingest-*` flags set, for fields a policy leaves out."""

    strategy: str = "chunk"
    summarizer: str = "extractive"
    chunk_size: int = 200
    chunk_overlap: int = 40


@dataclass(frozen=True, slots=True)
class ServiceAccounts:
    """Which of the cluster's ServiceAccounts may call, and as what. With no audience none may."""

    audiences: tuple[str, ...] = ()
    subjects: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    role: str = "editor"

    def check(self, mode: ClusterMode) -> None:
        """Raises ConfigError when it lets in nobody, or could not tell who is who."""
        listed = self.subjects | self.namespaces
        if self.audiences and not listed:
            raise ConfigError(
                "OMNIA_AUTH_AUDIENCES is set and nobody is allowed: name ServiceAccounts in OMNIA_AUTH_ALLOWED_SUBJECTS "
                "or namespaces in OMNIA_AUTH_ALLOWED_NAMESPACES, or leave all three out"
            )
        if listed and not self.audiences:
            raise ConfigError("OMNIA_AUTH_AUDIENCES must name the audience that ServiceAccount tokens are made for")
        if listed and mode == "off":
            raise ConfigError("ServiceAccount tokens are checked by the cluster: set OMNIA_KUBERNETES")
        for subject in self.subjects:
            if not SERVICE_ACCOUNT.fullmatch(subject):
                raise ConfigError(
                    f"OMNIA_AUTH_ALLOWED_SUBJECTS: {subject!r} is no ServiceAccount; "
                    "write system:serviceaccount:NAMESPACE:NAME"
                )
        for namespace in self.namespaces:
            if not _NAMESPACE.fullmatch(namespace):
                raise ConfigError(f"OMNIA_AUTH_ALLOWED_NAMESPACES: {namespace!r} cannot name a namespace")


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """Whether a Kubernetes API server holds the policies, and how its ServiceAccounts may call."""

    mode: ClusterMode = "off"
    service_accounts: ServiceAccounts = ServiceAccounts()


@dataclass(frozen=True, slots=True)
class OmniaConfig:
    """Every `OMNIA_*` setting. See the README's table for what each one does."""

    edition: Edition = Edition.CORE
    default_ttl: timedelta | None = None
    require_about_for_kinds: frozenset[str] = frozenset()
    merge_guard: bool = False
    policy_cache_seconds: float = 20.0
    rrf_k: int = 10
    recency_floor: float = 0.5
    trash_retention: timedelta = timedelta(days=30)
    maintenance_schedule: Cron = HOURLY
    pseudonym_key: str = field(default="", repr=False)
    metrics_open: bool = False
    service_group: str = "default"
    workspace: str = ""
    rate_limit_per_minute: int = 0
    privacy_api_url: str = ""
    access_flush_seconds: float = 5.0
    suppression_file: str = ""
    erasure_scrub: bool = False
    mcp_threads: int = 8
    embedding: EmbeddingConfig = EmbeddingConfig()
    ingest: IngestConfig = IngestConfig()
    cluster: ClusterConfig = ClusterConfig()

    @staticmethod
    def from_env(env: Mapping[str, str] = os.environ) -> OmniaConfig:
        """Reads and checks the environment. Raises ConfigError naming the variable at fault."""
        read = _Reader(env)
        return OmniaConfig(
            edition=Edition.ENTERPRISE if read.flag("OMNIA_ENTERPRISE") else Edition.CORE,
            default_ttl=read.duration("OMNIA_DEFAULT_TTL", None),
            require_about_for_kinds=frozenset(read.words("OMNIA_REQUIRE_ABOUT_FOR_KINDS")),
            merge_guard=read.flag("OMNIA_MERGE_GUARD"),
            policy_cache_seconds=read.number("OMNIA_POLICY_CACHE_SECONDS", 20.0, 0.0, 30.0),
            rrf_k=int(read.number("OMNIA_RRF_K", 10, 1, 10_000)),
            recency_floor=read.number("OMNIA_RECENCY_FLOOR", 0.5, 0.0, 1.0),
            trash_retention=read.duration("OMNIA_TRASH_RETENTION", timedelta(days=30)),
            maintenance_schedule=read.schedule("OMNIA_MAINTENANCE_SCHEDULE", HOURLY),
            pseudonym_key=env.get("OMNIA_PSEUDONYM_HMAC_KEY", ""),
            metrics_open=read.flag("OMNIA_METRICS_OPEN"),
            service_group=env.get("OMNIA_SERVICE_GROUP") or "default",
            workspace=env.get("OMNIA_WORKSPACE", ""),
            rate_limit_per_minute=int(read.number("OMNIA_RATE_LIMIT_PER_MINUTE", 0, 0, 10_000_000)),
            suppression_file=env.get("OMNIA_SUPPRESSION_FILE", ""),
            erasure_scrub=read.flag("OMNIA_ERASURE_SCRUB"),
            access_flush_seconds=read.number("OMNIA_ACCESS_FLUSH_SECONDS", 5.0, 0.0, 3600.0),
            privacy_api_url=_address(read, "OMNIA_PRIVACY_API_URL"),
            mcp_threads=int(read.number("OMNIA_MCP_THREADS", 8, 1, 256)),
            embedding=_embedding(read),
            ingest=_ingest(read),
            cluster=_cluster(read),
        )


def _address(read: _Reader, name: str) -> str:
    """A service's base address, empty when it is not set."""
    url = read.env.get(name, "").rstrip("/")
    if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
        raise ConfigError(f"{name} must be an http or https address, such as http://127.0.0.1:8600")
    return url


def _embedding(read: _Reader) -> EmbeddingConfig:
    config = EmbeddingConfig(
        provider=read.provider("OMNIA_EMBEDDING_PROVIDER"),
        url=read.env.get("OMNIA_EMBEDDING_URL", "").rstrip("/"),
        model=read.env.get("OMNIA_EMBEDDING_MODEL", ""),
        api_key=read.env.get("OMNIA_EMBEDDING_API_KEY", ""),
        former_api_key=read.env.get("OMNIA_EMBEDDING_FORMER_API_KEY", ""),
        dimensions=int(read.number("OMNIA_EMBEDDING_DIMENSIONS", 0, 0, 2000)),
        query_prefix=read.env.get("OMNIA_EMBEDDING_QUERY_PREFIX", ""),
        passage_prefix=read.env.get("OMNIA_EMBEDDING_PASSAGE_PREFIX", ""),
        timeout_seconds=read.number("OMNIA_EMBEDDING_TIMEOUT", 10.0, 0.1, 120.0),
    )
    config.check()
    return config


def _ingest(read: _Reader) -> IngestConfig:
    ingest = IngestConfig(
        strategy=read.choice("OMNIA_INGEST_STRATEGY", ("chunk", "summary", "summaryThenChunk")),
        summarizer=read.choice("OMNIA_INGEST_SUMMARIZER", ("extractive",)),
        chunk_size=int(read.number("OMNIA_INGEST_CHUNK_SIZE", 200, 1, 100_000)),
        chunk_overlap=int(read.number("OMNIA_INGEST_CHUNK_OVERLAP", 40, 0, 100_000)),
    )
    if ingest.chunk_overlap >= ingest.chunk_size:
        raise ConfigError("OMNIA_INGEST_CHUNK_OVERLAP must be less than OMNIA_INGEST_CHUNK_SIZE")
    return ingest


def _cluster(read: _Reader) -> ClusterConfig:
    mode = cast(ClusterMode, read.choice("OMNIA_KUBERNETES", get_args(ClusterMode)))
    service_accounts = ServiceAccounts(
        audiences=tuple(read.words("OMNIA_AUTH_AUDIENCES")),
        subjects=frozenset(read.words("OMNIA_AUTH_ALLOWED_SUBJECTS")),
        namespaces=frozenset(read.words("OMNIA_AUTH_ALLOWED_NAMESPACES")),
        role=read.choice("OMNIA_AUTH_ROLE", ("editor", "viewer", "owner")),
    )
    service_accounts.check(mode)
    return ClusterConfig(mode, service_accounts)


@dataclass(frozen=True, slots=True)
class _Reader:
    env: Mapping[str, str]

    def flag(self, name: str, default: bool = False) -> bool:
        text = self.env.get(name, "").strip().lower()
        if text in ("", "0", "false", "no", "off"):
            return default if text == "" else False
        if text in ("1", "true", "yes", "on"):
            return True
        raise ConfigError(f"{name}={text!r} is not a yes or a no; use 1 or 0")

    def number(self, name: str, default: float, low: float, high: float) -> float:
        text = self.env.get(name, "")
        if not text:
            return default
        try:
            value = float(text)
        except ValueError:
            raise ConfigError(f"{name}={text!r} is not a number") from None
        if not low <= value <= high:
            raise ConfigError(f"{name}={text} must lie between {low:g} and {high:g}")
        return value

    def duration(self, name: str, default: Span) -> timedelta | Span:
        try:
            span = parse_duration(self.env.get(name, ""))
        except ValueError as error:
            raise ConfigError(f"{name}: {error}") from None
        return default if span is None else span

    def schedule(self, name: str, default: Cron) -> Cron:
        try:
            return Cron.parse(text) if (text := self.env.get(name, "")) else default
        except ValueError as error:
            raise ConfigError(f"{name}: {error}") from None

    def words(self, name: str) -> list[str]:
        return [word.strip() for word in self.env.get(name, "").split(",") if word.strip()]

    def choice(self, name: str, known: tuple[str, ...]) -> str:
        """One of the known words; the first when not set."""
        text = self.env.get(name) or known[0]
        if text not in known:
            raise ConfigError(f"{name}={text!r} is unknown; use one of {', '.join(known)}")
        return text

    def provider(self, name: str) -> Provider:
        text = self.env.get(name) or "none"
        for known in get_args(Provider):
            if text == known:
                return known  # type: ignore[no-any-return]
        raise ConfigError(f"{name}={text!r} is unknown; use one of {', '.join(get_args(Provider))}")
