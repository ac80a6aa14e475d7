"""The container and the Kubernetes manifests, as far as they can be held to their word without an engine or a cluster.

`make image-test` builds and runs the image.
"""

from __future__ import annotations

import copy
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from rpcgw.config.loading import load
from tests.support.cluster import cluster
from tests.support.daemon import ROOT, daemon

FOLDER = ROOT / "deploy" / "kubernetes"
MANIFESTS = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.yaml"))}
OF_KUBERNETES = [name for name in MANIFESTS if name not in {"kustomization.yaml", "servicemonitor.yaml"}]
"""Those whose schema is Kubernetes' own; the others belong to kubectl and to the Prometheus operator."""
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")
DEPLOYMENT = MANIFESTS["deployment.yaml"]
POD = DEPLOYMENT["spec"]["template"]["spec"]
[CONTAINER] = POD["containers"]

WRITES = '''
"""Every process of the daemon: where nothing but the state directory can be written, as in a read-only container."""
import os
import sys

STATE = os.environ["STATE_DIRECTORY"]
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def within(path):
    return not isinstance(path, (str, bytes)) or os.path.realpath(os.fsdecode(path)).startswith((STATE, "/dev/", "/proc/"))


def hook(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        writing = (flags or 0) & WRITING or (isinstance(mode, str) and set(mode) & set("wax+"))
        if not writing or within(path):
            return
    elif event not in {"os.mkdir", "os.rename", "os.remove", "os.symlink", "os.truncate"} or all(map(within, arguments[:1])):
        return
    print(f"READ-ONLY: {event} {arguments}", file=sys.stderr, flush=True)
    raise OSError(30, "Read-only file system", arguments[0])


sys.addaudithook(hook)
'''


# -- the container


def test_the_containerfile_is_linted() -> None:
    """Hadolint finds nothing, warnings included."""
    done = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), "Containerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def last(instruction: str) -> str:
    """The last instruction of a name, which is the one that holds."""
    found: list[str] = re.findall(rf"^{instruction} (.*)$", CONTAINERFILE, re.MULTILINE)
    return found[-1]


def test_the_container_does_not_run_as_root() -> None:
    """A number, so that Kubernetes can see that it is nobody special, and after it nothing that needs root."""
    assert last("USER") == "10001:10001"
    after = CONTAINERFILE.partition("\nUSER ")[2]
    assert not re.search(r"^(RUN|COPY|ADD) ", after, re.MULTILINE)
    assert f"--uid {POD['securityContext']['runAsUser']} " in CONTAINERFILE


def test_what_the_image_is_made_of_is_locked() -> None:
    """Every dependency by its hash, with those of the extras."""
    assert "--require-hashes" in CONTAINERFILE
    lock = (ROOT / "requirements" / "container.lock").read_text("utf-8")
    locked = {line.partition("==")[0] for line in lock.splitlines() if "==" in line}
    assert {"aiohttp", "pydantic", "aio-pika", "opentelemetry-sdk"} <= locked
    developers = (ROOT / "requirements" / "dev.lock").read_text("utf-8")
    assert {line for line in lock.splitlines() if "==" in line} <= set(developers.splitlines())


def test_what_is_copied_is_let_through() -> None:
    """The build sees what the Containerfile copies, and nothing else of the source."""
    ignored = (ROOT / ".containerignore").read_text("utf-8").splitlines()
    sources = re.findall(r"^COPY (?!--from)(\S+) ", CONTAINERFILE, re.MULTILINE)
    assert [line[1:] for line in ignored if line.startswith("!")] == sources
    assert "*" in ignored


def test_the_root_file_system_may_be_read_only(tmp_path: Path) -> None:
    """A daemon that can write to nothing but its state directory serves, reloads, and ends well."""
    hooks, state = tmp_path / "hooks", tmp_path / "state"
    hooks.mkdir()
    state.mkdir()
    (hooks / "sitecustomize.py").write_text(WRITES)
    path = ":".join([str(hooks), *filter(None, [str(ROOT)])])
    with daemon(env={"STATE_DIRECTORY": str(state), "PYTHONPATH": path}) as running:
        assert running.get("/readyz").status == 200
        assert running.get("/metrics").status == 200
        running.hup()
        running.wait_log("reload.done")
        assert running.get("/rpc").status == 200
        assert running.stop() == 0
        assert "READ-ONLY" not in running.stderr()
        assert any(state.iterdir())


# -- Kubernetes


@pytest.mark.parametrize("name", OF_KUBERNETES)
def test_a_manifest_is_what_kubernetes_takes(name: str) -> None:
    """By the schemas of Kubernetes, strictly: no field that there is not."""
    kubernetes_validate.validate(MANIFESTS[name], kubernetes_validate.latest_version(), strict=True)


def test_every_manifest_is_applied() -> None:
    """The kustomization names each of them once."""
    named = MANIFESTS["kustomization.yaml"]["resources"]
    assert sorted(named) == sorted(set(MANIFESTS) - {"kustomization.yaml"})


def test_the_pod_is_restricted() -> None:
    """What Kubernetes' Pod Security Standard "restricted" asks for, and a root file system that is read-only."""
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert POD["automountServiceAccountToken"] is False
    labels = MANIFESTS["namespace.yaml"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


PROBES = [("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")]


@pytest.mark.parametrize(("probe", "path"), PROBES)
def test_probes_ask_for_health_where_it_is(probe: str, path: str) -> None:
    """At a port of the container that has this name."""
    asked = CONTAINER[probe]["httpGet"]
    assert asked["path"] == path
    assert asked["port"] in {port["name"] for port in CONTAINER["ports"]}


def settings(tmp_path: Path) -> Any:
    """The ConfigMap's configuration, with the variables of the Secret, as the daemon would load it."""
    for name, text in MANIFESTS["configmap.yaml"]["data"].items():
        (tmp_path / name).write_text(text, "utf-8")
    return load(str(tmp_path / "gateway.yaml"), env=MANIFESTS["secret.yaml"]["stringData"]).settings


def test_the_configuration_loads(tmp_path: Path) -> None:
    """Without a problem, and listens at the ports that the pod opens."""
    loaded = settings(tmp_path)
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    assert loaded.server.bind == (f"0.0.0.0:{ports['http']}",)
    assert loaded.metrics.bind == f"0.0.0.0:{ports['metrics']}"
    assert loaded.metrics.token_sha256 is not None


def test_a_pod_has_the_time_that_its_daemon_takes_to_end(tmp_path: Path) -> None:
    """Kubernetes kills no earlier than a drain may last."""
    timeouts = settings(tmp_path).server.timeouts
    assert POD["terminationGracePeriodSeconds"] >= timeouts.pre_stop + timeouts.grace + 5 + 3


def test_names_fit_together() -> None:
    """Labels, ports, secrets and volumes: what one manifest refers to, another one has."""
    service, monitor = MANIFESTS["service.yaml"], MANIFESTS["servicemonitor.yaml"]
    pod_labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]["matchLabels"] == pod_labels
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    for name in ("poddisruptionbudget.yaml", "networkpolicy.yaml"):
        spec = MANIFESTS[name]["spec"]
        assert (spec.get("selector") or spec["podSelector"])["matchLabels"] == pod_labels
    ports = {port["name"] for port in CONTAINER["ports"]}
    assert {port["targetPort"] for port in service["spec"]["ports"]} == ports
    allowed = {port["port"] for rule in MANIFESTS["networkpolicy.yaml"]["spec"]["ingress"] for port in rule["ports"]}
    assert allowed == ports
    secret = MANIFESTS["secret.yaml"]["metadata"]["name"]
    assert [source["secretRef"]["name"] for source in CONTAINER["envFrom"]] == [secret]
    assert {mount["name"] for mount in CONTAINER["volumeMounts"]} == {volume["name"] for volume in POD["volumes"]}
    [image] = MANIFESTS["kustomization.yaml"]["images"]
    assert image["name"] == CONTAINER["image"]


def test_the_service_monitor_scrapes_what_is_served(tmp_path: Path) -> None:
    """The fields that the Prometheus operator knows; the path, port and token of the configuration."""
    monitor = MANIFESTS["servicemonitor.yaml"]
    assert (monitor["apiVersion"], monitor["kind"]) == ("monitoring.coreos.com/v1", "ServiceMonitor")
    assert set(monitor["spec"]) <= {"jobLabel", "selector", "endpoints", "namespaceSelector", "targetLabels"}
    [endpoint] = monitor["spec"]["endpoints"]
    assert set(endpoint) <= {"port", "path", "scheme", "interval", "scrapeTimeout", "authorization"}
    assert endpoint["port"] in {port["name"] for port in MANIFESTS["service.yaml"]["spec"]["ports"]}
    assert endpoint["path"] == settings(tmp_path).metrics.path
    credentials = endpoint["authorization"]["credentials"]
    assert credentials["name"] == MANIFESTS["secret.yaml"]["metadata"]["name"]
    assert credentials["key"] in MANIFESTS["secret.yaml"]["stringData"]
    assert monitor["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "rpcgw"


# -- kubectl

OLDEST_KUBECTL = (1, 22)
"""The first that knows `labels` in a kustomization, as the page says."""


def kubectl(*arguments: str, home: Path) -> str:
    """Run kubectl, which ends well, with a home of its own; what it prints."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "KUBECONFIG": os.devnull}
    command = ["kubectl", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def applied(tmp_path: Path) -> list[str]:
    """The words after kubectl in the page's command."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is missing. Install it: https://kubernetes.io/docs/tasks/tools/")
    version = json.loads(kubectl("version", "--client", "--output=json", home=tmp_path))["clientVersion"]
    found = (int(version["major"]), int(version["minor"].rstrip("+")))
    if found < OLDEST_KUBECTL:
        pytest.skip(
            f"kubectl {found[0]}.{found[1]} is older than the page asks for: https://kubernetes.io/docs/tasks/tools/"
        )
    page = (ROOT / "docs/howto/containers.md").read_text("utf-8")
    [line] = re.findall(r"^kubectl (.*)$", page, re.MULTILINE)
    return shlex.split(line)


def test_kubectl_applies_what_the_page_says(applied: list[str], tmp_path: Path) -> None:
    """Every object is made, the namespace first; once more nothing changes. A stand-in for a cluster answers."""
    kinds = [manifest["kind"] for name, manifest in MANIFESTS.items() if name != "kustomization.yaml"]
    with cluster() as there:
        # The cluster holds them to its schemas; kubectl would ask it for them first.
        command = [*applied, "--server", there.url, "--validate=false"]
        said = kubectl(*command, home=tmp_path).splitlines()
        made = copy.deepcopy(there.objects)
        assert [line.rpartition(" ")[2] for line in said] == ["created"] * len(kinds)
        assert sorted(sent["kind"] for sent in made.values()) == sorted(kinds)
        assert next(iter(made)) == "/api/v1/namespaces/rpcgw"
        assert {sent["metadata"]["labels"]["app.kubernetes.io/part-of"] for sent in made.values()} == {"rpcgw"}
        kubectl(*command, home=tmp_path)
        assert there.objects == made
