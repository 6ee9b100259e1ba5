"""Kubernetes on the node: its own containerd, the control plane and one kubelet, started and waited for."""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from testbed.api import Api, Json
from testbed.node import Node, wait_for
from testbed.places import API_PORT, HOST_LINK, NODE_ADDRESS, POD_RANGE, SERVICE_RANGE, SUBNET

NODE_NAME = "test-node"
API_SERVICE = f"{SUBNET}.64.1"
"""The API server's own Service has the first address of the range."""
PAUSE_IMAGE = "localhost/pause:1"


def start_control_plane(node: Node, binaries: Path) -> Path:
    """etcd, an API server that answers, and the controllers; the kubeconfig for this machine."""
    token = write_credentials(node.folder)
    inside = write_kubeconfig(node.folder / "node.kubeconfig", NODE_ADDRESS, token)
    outside = write_kubeconfig(node.folder / "kubeconfig", HOST_LINK[1], token)
    node.start("etcd", binaries / "etcd", "--data-dir", node.folder / "etcd")
    start_api_server(node, binaries)
    api = Api(outside)
    wait_for(lambda: answers(node, api), "the API server", 90)
    start_controllers(node, binaries, inside)
    return outside


def start_containerd(node: Node) -> None:
    """containerd with a configuration, state, socket and network folder of its own."""
    folder = node.folder / "containerd"
    network = folder / "cni"
    network.mkdir(parents=True)
    (network / "10-pods.conflist").write_text(json.dumps(pod_network(folder)))
    config = folder / "config.toml"
    config.write_text(containerd_config(folder, network))
    node.start("containerd", "containerd", "--config", config)
    wait_for(containerd_socket(node).exists, "containerd's socket")


def containerd_socket(node: Node) -> Path:
    """Where containerd is asked."""
    return node.folder / "containerd" / "containerd.sock"


def containerd_config(folder: Path, network: Path) -> str:
    """The file; `restrict_oom_score_adj` where a negative score may not be set."""
    return f"""\
version = 2
root = "{folder}/root"
state = "{folder}/state"
[grpc]
  address = "{folder}/containerd.sock"
[ttrpc]
  address = "{folder}/containerd.sock.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{network}"
"""


def pod_network(folder: Path) -> dict[str, Any]:
    """One bridge; it enforces no NetworkPolicy."""
    addresses = {
        "type": "host-local",
        "dataDir": f"{folder}/addresses",
        "ranges": [[{"subnet": POD_RANGE, "gateway": NODE_ADDRESS, "rangeStart": f"{SUBNET}.0.10"}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "hairpinMode": True, "ipMasq": True}
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [{**bridge, "ipam": addresses}, ports]}


def write_credentials(folder: Path) -> str:
    """The API server's certificate, the keys that sign service accounts, and the administrator's token."""
    pki = folder / "pki"
    pki.mkdir()
    openssl("genrsa", "-out", pki / "sa.key", "2048")
    openssl("rsa", "-in", pki / "sa.key", "-pubout", "-out", pki / "sa.pub")
    names = [*(f"IP:{address}" for address in (NODE_ADDRESS, HOST_LINK[1], API_SERVICE)), "DNS:kubernetes.default.svc"]
    certificate = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test-cluster"]
    certificate += ["-addext", f"subjectAltName={','.join(names)}"]
    openssl("req", *certificate, "-keyout", pki / "api.key", "-out", pki / "api.crt")
    token = secrets.token_hex(16)
    (pki / "tokens.csv").write_text(f'{token},admin,admin,"system:masters"\n')
    return token


def openssl(*words: str | Path) -> None:
    """Run `openssl WORDS`."""
    subprocess.run(["openssl", *words], capture_output=True, check=True)


def write_kubeconfig(file: Path, address: str, token: str) -> Path:
    """A kubeconfig for whoever sees the API server at `address`."""
    authority = base64.b64encode((file.parent / "pki" / "api.crt").read_bytes()).decode()
    cluster = {"server": f"https://{address}:{API_PORT}", "certificate-authority-data": authority}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "current-context": "test",
    }
    file.write_text(yaml.safe_dump(config))
    file.chmod(0o600)
    return file


def start_api_server(node: Node, binaries: Path) -> None:
    """The API server; kubelets are asked at their address, as their names are in no DNS."""
    pki = node.folder / "pki"
    node.start(
        "kube-apiserver",
        binaries / "kube-apiserver",
        "--etcd-servers=http://127.0.0.1:2379",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki}/sa.pub",
        f"--service-account-signing-key-file={pki}/sa.key",
        f"--tls-cert-file={pki}/api.crt",
        f"--tls-private-key-file={pki}/api.key",
        f"--token-auth-file={pki}/tokens.csv",
        "--authorization-mode=Node,RBAC",
        f"--secure-port={API_PORT}",
        f"--advertise-address={NODE_ADDRESS}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--kubelet-preferred-address-types=InternalIP",
        "--allow-privileged=true",
    )


def start_controllers(node: Node, binaries: Path, kubeconfig: Path) -> None:
    """Controller manager, scheduler and the proxy that makes Services."""
    pki = node.folder / "pki"
    node.start(
        "kube-controller-manager",
        binaries / "kube-controller-manager",
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={pki}/sa.key",
        f"--root-ca-file={pki}/api.crt",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
    )
    node.start("kube-scheduler", binaries / "kube-scheduler", f"--kubeconfig={kubeconfig}", "--leader-elect=false")
    node.start(
        "kube-proxy",
        binaries / "kube-proxy",
        f"--kubeconfig={kubeconfig}",
        "--proxy-mode=iptables",
        f"--cluster-cidr={POD_RANGE}",
        f"--hostname-override={NODE_NAME}",
        # The kernel's own values stay: in namespaces they may not be set.
        "--conntrack-max-per-core=0",
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
    )


def start_kubelet(node: Node, binaries: Path) -> None:
    """The kubelet, with control groups of the node's own name."""
    config = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "address": NODE_ADDRESS,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{node.folder.name}",
        "failSwapOn": False,
        "failCgroupV1": False,
        "clusterDNS": [NODE_ADDRESS],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        "containerRuntimeEndpoint": f"unix://{containerd_socket(node)}",
        "volumePluginDir": f"{node.folder}/kubelet/plugins",
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        # Where the machine's disk is fuller than 85 %, the kubelet would remove images that nobody can pull again.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "maxPods": 60,
    }
    file = node.folder / "kubelet.yaml"
    file.write_text(yaml.safe_dump(config))
    node.start(
        "kubelet",
        binaries / "kubelet",
        f"--config={file}",
        f"--kubeconfig={node.folder}/node.kubeconfig",
        f"--root-dir={node.folder}/kubelet",
        f"--hostname-override={NODE_NAME}",
        f"--node-ip={NODE_ADDRESS}",
    )


def answers(node: Node, api: Api) -> bool:
    """Whether the API server is up and content."""
    return look(node, lambda: api.call("GET", "/readyz", {}) == "ok")


def node_ready(node: Node, api: Api) -> bool:
    """Whether the one node takes pods."""
    return look(node, lambda: is_ready(api.get(f"/api/v1/nodes/{NODE_NAME}")))


def look(node: Node, question: Callable[[], bool]) -> bool:
    """The answer, False while the API server gives none; an error of the node where a part of it has ended."""
    node.check()
    try:
        return question()
    except (ApiException, HTTPError, OSError):
        return False


def is_ready(found: Json | None) -> bool:
    """Whether a node says that it is ready; False while there is none."""
    conditions = (found or {}).get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
