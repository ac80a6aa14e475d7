"""What of Kubernetes' API kubectl needs to apply manifests: it says what kinds there are, keeps what it is sent, and gives it back.

It stands in for a cluster, which no test here can have: nothing is scheduled. What it is sent it holds to Kubernetes' own
schemas, strictly, as a cluster does.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import kubernetes_validate

KINDS = {
    "v1": [
        ("namespaces", "Namespace", False),
        ("configmaps", "ConfigMap", True),
        ("secrets", "Secret", True),
        ("services", "Service", True),
    ],
    "apps/v1": [("deployments", "Deployment", True)],
    "policy/v1": [("poddisruptionbudgets", "PodDisruptionBudget", True)],
    "networking.k8s.io/v1": [("networkpolicies", "NetworkPolicy", True)],
    "monitoring.coreos.com/v1": [("servicemonitors", "ServiceMonitor", True)],
}
"""Of each version of an API: a kind's name in paths, its name in manifests, and whether it lives in a namespace."""
FOREIGN = {"ServiceMonitor"}
"""Kinds that are not Kubernetes' own."""


class Cluster(ThreadingHTTPServer):
    """Keeps objects by their path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, dict[str, Any]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """One request of kubectl's."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if (found := discovery(path)) is not None:
            self._answer(200, found)
        elif path in self._cluster.objects:
            self._answer(200, self._cluster.objects[path])
        else:
            self._answer(404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})

    def do_POST(self) -> None:
        sent = self._sent()
        try:
            check(sent, self.path)
        except (AssertionError, kubernetes_validate.ValidationError) as problem:
            self._answer(422, {"kind": "Status", "status": "Failure", "message": str(problem), "code": 422})
            return
        path = f"{self.path.partition('?')[0]}/{sent['metadata']['name']}"
        self._cluster.objects[path] = sent
        self._answer(201, sent)

    def do_PATCH(self) -> None:
        kept = self._cluster.objects[self.path.partition("?")[0]]
        merge(kept, self._sent())
        self._answer(200, kept)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""

    def _sent(self) -> dict[str, Any]:
        sent: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return sent

    @property
    def _cluster(self) -> Cluster:
        return cast("Cluster", self.server)

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def discovery(path: str) -> dict[str, Any] | None:
    """What there is at a path that tells of kinds, None for other paths."""
    groups = [version for version in KINDS if "/" in version]
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        named = [{"groupVersion": version, "version": version.partition("/")[2]} for version in groups]
        listed = [{"name": v["groupVersion"].partition("/")[0], "versions": [v], "preferredVersion": v} for v in named]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
    version = path.removeprefix("/api/").removeprefix("/apis/")
    if version not in KINDS:
        return None
    verbs = ["create", "get", "list", "patch"]
    resources = [
        {"name": name, "singularName": kind.lower(), "namespaced": namespaced, "kind": kind, "verbs": verbs}
        for name, kind, namespaced in KINDS[version]
    ]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}


def merge(kept: dict[str, Any], patch: dict[str, Any]) -> None:
    """Change an object as a patch says (RFC 7386)."""
    for name, value in patch.items():
        if value is None:
            kept.pop(name, None)
        elif isinstance(value, dict) and isinstance(kept.get(name), dict):
            merge(kept[name], value)
        else:
            kept[name] = value


def check(sent: dict[str, Any], path: str) -> None:
    """A manifest is what a cluster takes, and in the namespace that the path names."""
    metadata = sent["metadata"]
    if "namespace" in metadata:
        assert f"/namespaces/{metadata['namespace']}/" in path, path
    if sent["kind"] not in FOREIGN:
        kubernetes_validate.validate(sent, kubernetes_validate.latest_version(), strict=True)


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """Answer kubectl until the block ends."""
    with Cluster() as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        try:
            yield served
        finally:
            served.shutdown()
            thread.join()
