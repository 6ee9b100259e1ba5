"""How long a cluster of one's own takes, how long a run on it, and how much of that is the carrier's.

    python benchmarks/cluster.py                a table; Argo alone beside the steps
    python benchmarks/cluster.py --cold         as well from nothing: every program and the image built (15 minutes)
    python benchmarks/cluster.py --json         one JSON object a line: name, value, unit, goal, peers
    python benchmarks/cluster.py --selftest     twice as many steps must be seen to take twice as long

Wall-clock seconds on the cluster of `make test-cluster`, where Argo looks for the next step after 1 s (default: 10 s).
cluster_cold_s and cluster_warm_s: up to the moment at which a workflow can be submitted, with chaosgate's image on the
node. submit_to_verdict_s: the smallest spec, from its submission until its workflow tells the verdict. step_overhead_s:
what a step takes besides its own container's run, on average over the steps that follow one another; beside it the same
for steps that do nothing, which is Argo's and Kubernetes' own part.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from figures import BIN, ROOT, Figure, see_twofold, show

TESTBED = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "support")]
sys.path[:0] = TESTBED

import yaml  # noqa: E402
from cluster_ground import Ground, NoCluster, cluster_under_test, fresh_namespace  # noqa: E402
from cluster_rig import Command, Run, create_workflow, write_own_kubeconfig, write_profile, write_spec  # noqa: E402
from testbed.places import SUBNET  # noqa: E402

from chaosgate.model.load import load_spec  # noqa: E402

CHAIN = ("deploy", "baseline-measure", "block1-inject", "conclude", "gate", "cleanup")
"""Steps of which each waits for the one before."""
CACHES = ("CHAOSGATE_CLUSTER_CACHE", "CHAOSGATE_TEST_CACHE", "GOCACHE", "GOMODCACHE")
"""Where built things are kept: empty, everything is built and fetched anew."""
SELFTEST_STEPS = 6
USER = {"runAsNonRoot": True, "runAsUser": 65532}
"""Who the steps of a run are, too."""


def cold_figure() -> Figure:
    """The cluster from nothing but Debian's packages and this repository."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cold-") as folder:
        os.environ.update({name: f"{folder}/{name}" for name in CACHES})
        begun = time.perf_counter()
        try:
            build()
            with cluster_under_test():
                taken = time.perf_counter() - begun
        finally:
            os.environ.clear()
            os.environ.update(before)
    return Figure("cluster_cold_s", taken, "s", 1200.0)


def build() -> None:
    """Do what `make cluster-build` does, with the caches that the environment names now."""
    path = {"PYTHONPATH": os.pathsep.join(TESTBED)}
    subprocess.run([BIN / "python", "-m", "testbed.cluster", "build"], cwd=ROOT, env={**os.environ, **path}, check=True)


def run_figures(ground: Ground, folder: Path) -> list[Figure]:
    """One run of the smallest spec, and a chain of steps that do nothing."""
    spec = write_spec(folder)
    with fresh_namespace(ground, load_spec(spec)) as namespace:
        command = Command(folder, write_own_kubeconfig(folder, ground, namespace))
        profile = write_profile(folder, ground, namespace)
        compiled = command("compile", spec, "--to", "argo", "--profile", profile).stdout
        run = create_workflow(ground, namespace, yaml.safe_load(compiled))
        ground.eventually(lambda: tells_verdict(run), "the verdict")
        verdict = Figure("submit_to_verdict_s", time.monotonic() - run.begun, "s", 240.0)
        overhead = Figure("step_overhead_s", step_overhead(run, CHAIN), "s", 15.0)
        overhead.peers["argo alone"] = chain_overhead(ground, namespace, len(CHAIN))[1]
        run.delete()
    return [verdict, overhead]


def tells_verdict(run: Run) -> bool:
    """Whether the workflow has the verdict among its outputs."""
    parameters = run.nodes().get("conclude", {}).get("outputs", {}).get("parameters", [])
    return any(one["name"] == "verdict" and one.get("value") for one in parameters)


def step_overhead(run: Run, chain: Sequence[str]) -> float:
    """Seconds a step of `chain` takes besides the run of its own container."""
    nodes = run.wait().nodes
    whole = moment(nodes[chain[-1]]["finishedAt"]) - moment(nodes[chain[0]]["startedAt"])
    found = (run.ground.api.get(run.pods, labelSelector=f"workflows.argoproj.io/workflow={run.run}") or {})["items"]
    own = {pod["metadata"]["annotations"]["workflows.argoproj.io/node-id"]: main_seconds(pod) for pod in found}
    return (whole - sum(own[nodes[step]["id"]] for step in chain)) / len(chain)


def main_seconds(pod: Mapping[str, Any]) -> float:
    """How long the container of the step itself ran."""
    states = (one["state"]["terminated"] for one in pod["status"]["containerStatuses"] if one["name"] == "main")
    return sum(moment(state["finishedAt"]) - moment(state["startedAt"]) for state in states)


def moment(text: str) -> float:
    """A time as Kubernetes writes it, in seconds."""
    return datetime.fromisoformat(text).timestamp()


def chain_overhead(ground: Ground, namespace: str, steps: int) -> tuple[float, float]:
    """A workflow of `steps` steps that do nothing: seconds for all, and the overhead of one."""
    names = [f"step-{number}" for number in range(steps)]
    run = create_workflow(ground, namespace, chain_of(names, ground.image, namespace))
    taken = run.wait().seconds
    overhead = step_overhead(run, names)
    run.delete()
    return taken, overhead


def chain_of(names: Sequence[str], image: str, namespace: str) -> dict[str, Any]:
    """The workflow: each step waits for the one before, and starts Python as every step of a run does."""
    tasks = [{"name": name, "template": "nothing"} for name in names]
    for before, task in pairwise(tasks):
        task["depends"] = before["name"]
    nothing = {"image": image, "imagePullPolicy": "IfNotPresent", "command": ["python"], "args": ["-c", "pass"]}
    spec = {"entrypoint": "chain", "serviceAccountName": "chaosgate", "securityContext": USER}
    templates = [{"name": "chain", "dag": {"tasks": tasks}}, {"name": "nothing", "container": nothing}]
    metadata = {"generateName": "nothing-", "namespace": namespace}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": metadata,
        "spec": {**spec, "templates": templates},
    }


def selftest(ground: Ground, folder: Path) -> None:
    """Twice as many steps must take about twice as long."""
    with fresh_namespace(ground, load_spec(write_spec(folder))) as namespace:
        once, _ = chain_overhead(ground, namespace, SELFTEST_STEPS)
        twice, _ = chain_overhead(ground, namespace, 2 * SELFTEST_STEPS)
    see_twofold(once, twice)


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--cold", "--json", "--selftest"):
        parser.add_argument(flag, action="store_true")
    words = parser.parse_args()
    os.environ.pop("KUBECONFIG", None)
    figures: list[Figure] = []
    try:
        figures += [cold_figure()] if words.cold else []
        begun = time.perf_counter()
        with cluster_under_test() as ground, tempfile.TemporaryDirectory() as folder:
            warm = Figure("cluster_warm_s", time.perf_counter() - begun, "s", 60.0)
            if words.selftest:
                selftest(ground, Path(folder))
                return
            figures.append(warm)
            figures += run_figures(ground, Path(folder))
    except NoCluster as reason:
        sys.exit(f"at {SUBNET}.0.0/16: {reason}")
    finally:
        # Building takes a quarter of an hour: what was measured is told, whatever comes after it.
        show(figures, words.json)


if __name__ == "__main__":
    main()
