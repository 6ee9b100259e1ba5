"""The command `rbac`: the same manifests each time, in a form that people review and `kubectl apply` takes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from cluster_drills import LOST, SERVICE, SLOW, drill, drill_text, fault

from chaosgate.cli.main import chaosgate
from chaosgate.deploy.cluster.rbac import rbac_manifests

GOLDEN = Path(__file__).parents[2] / "golden" / "rbac.yaml"
FAULTS = (LOST, SLOW, fault("node.cordon", "nodes"))
PROFILE = """\
apiVersion: chaosgate/v1
kind: ChaosProfile
metadata: {name: cluster}
spec: {carrier: {namespace: drills, serviceAccount: runner}}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "drill.yaml"
    file.write_text(drill_text(FAULTS, SERVICE))
    return file


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, ["rbac", *(str(word) for word in words)])


def test_the_whole_text(spec: Path) -> None:
    printed = call(spec, "--namespace", "chaos", "--submitter", "alice@example.com")

    assert printed.exit_code == 0, printed.output
    assert printed.stdout == GOLDEN.read_text()


def test_what_is_printed_is_what_is_meant(spec: Path) -> None:
    text = call(spec, "--namespace", "chaos", "--submitter", "alice@example.com").stdout
    meant = rbac_manifests(drill(*FAULTS, target=SERVICE), "chaos", submitter="alice@example.com")

    assert list(yaml.safe_load_all(text)) == meant


def test_namespace_and_account_are_those_of_the_profile_unless_named(spec: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile.yaml"
    profile.write_text(PROFILE)

    first = next(yaml.safe_load_all(call(spec, "--profile", profile).stdout))
    assert first["metadata"]["namespace"] == "drills"
    assert first["metadata"]["name"] == "runner"
    other = next(yaml.safe_load_all(call(spec, "--profile", profile, "--namespace", "chaos").stdout))
    assert other["metadata"]["namespace"] == "chaos"


def test_without_a_namespace_nothing_is_guessed(spec: Path) -> None:
    refused = call(spec)

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        "no namespace: name the one in which the steps run with --namespace NAME, or as spec.carrier.namespace of a "
        "profile (--profile FILE)\n"
    )


def test_a_name_that_no_namespace_has(spec: Path) -> None:
    refused = call(spec, "--namespace", "Chaos_1")

    assert refused.exit_code == 2
    assert refused.stderr.startswith("--namespace: read 'Chaos_1'; a name is lower case letters")


def test_a_name_that_yaml_would_read_as_something_else(spec: Path) -> None:
    text = call(spec, "--namespace", "chaos", "--submitter", "no").stdout

    assert list(yaml.safe_load_all(text))[-1]["subjects"][0]["name"] == "no"


def test_a_spec_whose_faults_hit_no_object_asks_nobody_to_allow_it(tmp_path: Path) -> None:
    file = tmp_path / "drill.yaml"
    file.write_text(drill_text([SLOW]))
    head = [line for line in call(file, "--namespace", "chaos").stdout.splitlines() if line.startswith("#")]

    assert head == ["# The rights of runs of drill in namespace chaos."]
