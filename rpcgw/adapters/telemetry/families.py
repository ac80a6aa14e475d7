"""Every metric of rpcgw: its name, what it says, its labels. Named as Prometheus asks; label values are bounded."""

from __future__ import annotations

from rpcgw.adapters.telemetry.slotfile import COUNTER, GAUGE, HISTOGRAM, LEVEL
from rpcgw.api.records import record

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the duration buckets."""
BYTES = (256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262_144.0, 1_048_576.0, 4_194_304.0)
"""Upper bounds of the size buckets."""


@record(frozen=True, slots=True)
class Family:
    """One metric. `limit` is how many combinations of label values there may be; further ones count as `other`."""

    name: str
    kind: int
    text: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    limit: int = 1000

    @property
    def cells(self) -> int:
        """How many numbers a series has: a histogram has its buckets, the last one unbounded, and the sum."""
        return len(self.bounds) + 2 if self.kind == HISTOGRAM else 1


BUILD_INFO = Family("rpcgw_build_info", LEVEL, "The version that serves, always 1.", ("version",))
CALLS = Family(
    "rpcgw_calls_total",
    COUNTER,
    "Procedure calls that have ended; a tool result that says isError is a failure here.",
    ("surface", "group", "version", "method", "outcome"),
    limit=100_000,
)
CALL_SECONDS = Family(
    "rpcgw_call_duration_seconds",
    HISTOGRAM,
    "How long procedure calls took, from acceptance to outcome.",
    ("surface", "group", "method"),
    SECONDS,
    limit=20_000,
)
IN_FLIGHT = Family("rpcgw_calls_in_flight", GAUGE, "Procedure calls that are running.")
REQUESTS = Family(
    "rpcgw_requests_total", COUNTER, "HTTP requests answered, by endpoint and status.", ("endpoint", "status")
)
REQUEST_SECONDS = Family(
    "rpcgw_request_duration_seconds",
    HISTOGRAM,
    "How long HTTP requests took, from their head to their answer; a stream to its end.",
    ("endpoint",),
    SECONDS,
)
REQUEST_BYTES = Family(
    "rpcgw_request_size_bytes", HISTOGRAM, "Bodies of HTTP requests, uncompressed.", ("endpoint",), BYTES
)
RESPONSE_BYTES = Family(
    "rpcgw_response_size_bytes", HISTOGRAM, "Bodies of HTTP answers, as they went out.", ("endpoint",), BYTES
)
CACHE_HITS = Family("rpcgw_cache_hits_total", COUNTER, "Calls answered from the result cache.")
CACHE_MISSES = Family("rpcgw_cache_misses_total", COUNTER, "Calls of cached methods that had to run.")
CACHE_ERRORS = Family("rpcgw_cache_errors_total", COUNTER, "Reads and writes of the result cache that failed.")
CACHE_WRITES = Family("rpcgw_cache_writes_total", COUNTER, "Results written to the cache.")
CACHE_JOINED = Family(
    "rpcgw_cache_joined_total", COUNTER, "Calls answered with a result that another call was computing meanwhile."
)
CACHE_INVALIDATIONS = Family(
    "rpcgw_cache_invalidations_total",
    COUNTER,
    "Drops of kept results: of a method, or of some of its parameters' values.",
)
LOCK_CONFLICTS = Family("rpcgw_lock_conflicts_total", COUNTER, "Calls refused because another one held the lock.")
LOCK_ERRORS = Family("rpcgw_lock_errors_total", COUNTER, "Requests to the store of locks that failed.")
LOCKS_LOST = Family("rpcgw_locks_lost_total", COUNTER, "Locks that were no longer their holder's when it renewed them.")
SESSIONS_CREATED = Family("rpcgw_sessions_created_total", COUNTER, "MCP sessions opened.")
SESSIONS_ENDED = Family("rpcgw_sessions_ended_total", COUNTER, "MCP sessions closed by their client.")
SESSIONS_EXPIRED = Family(
    "rpcgw_sessions_expired_total", COUNTER, "MCP sessions whose time was over before their client ended them."
)
SESSION_ERRORS = Family("rpcgw_session_errors_total", COUNTER, "Requests to the store of sessions that failed.")
SESSIONS_ACTIVE = Family(
    "rpcgw_sessions_active", LEVEL, "MCP sessions that live, whichever host made them.", ("group",)
)
GUARD_REFUSALS = Family(
    "rpcgw_guard_refusals_total", COUNTER, "Requests refused before their body was read, by guard.", ("guard",)
)
CONNECTIONS_LATE = Family(
    "rpcgw_connections_late_total", COUNTER, "Connections ended because the head of a request did not come in time."
)
CONNECTIONS_SHED = Family("rpcgw_connections_shed_total", COUNTER, "Idle connections ended to make room for others.")
LIMITED = Family(
    "rpcgw_limited_total", COUNTER, "Requests and calls that came too often and were refused, by limit.", ("limit",)
)
LIMIT_ERRORS = Family(
    "rpcgw_limit_errors_total", COUNTER, "Requests and calls that nobody could count, by limit.", ("limit",)
)
BREAKERS_OPENED = Family(
    "rpcgw_breaker_openings_total", COUNTER, "How often a method failed so often that it is not tried.", ("method",)
)
JOBS = Family(
    "rpcgw_jobs_total",
    COUNTER,
    "Calls in queues: put there, refused by the queue, done, failed, begun again, dead.",
    ("queue", "outcome"),
)
JOB_SECONDS = Family(
    "rpcgw_job_duration_seconds",
    HISTOGRAM,
    "How long jobs of queues took, their callback included.",
    ("queue",),
    SECONDS,
)
WEBHOOKS = Family("rpcgw_webhooks_total", COUNTER, "Answers sent to callbacks, by what became of them.", ("outcome",))
BEACONS = Family(
    "rpcgw_webmcp_beacons_total",
    COUNTER,
    "Beacons of pages, by what became of them: begun, ended, unmatched (an end without its beginning), and why not.",
    ("site", "outcome"),
)
PLUGINS = Family("rpcgw_plugins", LEVEL, "Plugins by state.", ("state",))
WORKERS = Family("rpcgw_workers", GAUGE, "Workers that serve, old ones that drain included.")
LOG_DROPPED = Family("rpcgw_log_lines_dropped_total", COUNTER, "Log lines that could not be written.")
GENERATION = Family("rpcgw_generation", LEVEL, "The number of the generation that serves.")
RELOAD_SUCCESS = Family("rpcgw_reload_last_success", LEVEL, "Whether the last reload succeeded.")
RELOAD_TIME = Family(
    "rpcgw_reload_last_success_timestamp_seconds", LEVEL, "When a generation last began to serve, since the epoch."
)

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        BUILD_INFO,
        CALLS,
        CALL_SECONDS,
        IN_FLIGHT,
        REQUESTS,
        REQUEST_SECONDS,
        REQUEST_BYTES,
        RESPONSE_BYTES,
        CACHE_HITS,
        CACHE_MISSES,
        CACHE_ERRORS,
        CACHE_WRITES,
        CACHE_JOINED,
        CACHE_INVALIDATIONS,
        LOCK_CONFLICTS,
        LOCK_ERRORS,
        LOCKS_LOST,
        SESSIONS_CREATED,
        SESSIONS_ENDED,
        SESSIONS_EXPIRED,
        SESSION_ERRORS,
        SESSIONS_ACTIVE,
        GUARD_REFUSALS,
        CONNECTIONS_LATE,
        CONNECTIONS_SHED,
        LIMITED,
        LIMIT_ERRORS,
        BREAKERS_OPENED,
        JOBS,
        JOB_SECONDS,
        WEBHOOKS,
        BEACONS,
        PLUGINS,
        WORKERS,
        LOG_DROPPED,
        GENERATION,
        RELOAD_SUCCESS,
        RELOAD_TIME,
    )
}
"""By name, as series are named in slot files."""
