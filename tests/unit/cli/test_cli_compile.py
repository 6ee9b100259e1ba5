"""The command `compile`: what it prints and where, which option wins, and what it says when something is missing."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner, Result
from small_drill import write_spec

from chaosgate.artifacts import SPEC, read_document
from chaosgate.cli.main import chaosgate
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.model.plan import Plan
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import CLUSTER, make_plan

PROFILE = """\
apiVersion: chaosgate/v1
kind: ChaosProfile
metadata: {name: cluster}
spec:
  tracking: {uri: "http://mlflow:5000"}
  carrier: {image: "registry.example/chaosgate:1.2.3", namespace: drills}
"""
HINT = (
    "a KFP run imports the spec's file: {} to the cluster's object store, "
    "and create the run with its address as spec_uri\n"
)


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, ["compile", *(str(word) for word in words)])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_spec(tmp_path)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    file = tmp_path / "profile.yaml"
    file.write_text(PROFILE)
    return file


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Plan, ChaosSpec, Carrier]]:
    """What the compilers, which only note it here, are given."""
    calls: list[tuple[Plan, ChaosSpec, Carrier]] = []

    def note(plan: Plan, spec: ChaosSpec, carrier: Carrier) -> str:
        calls.append((plan, spec, carrier))
        return f"pipeline: {plan.name}\n"

    for to in ("argo", "kfp"):
        monkeypatch.setitem(sys.modules, f"chaosgate.compile.{to}", SimpleNamespace(**{f"compile_{to}": note}))
    return calls


Compiled = list[tuple[Plan, ChaosSpec, Carrier]]


@pytest.mark.parametrize(
    ("to", "says"), [("argo", ""), ("kfp", HINT.format("write it with --spec-out FILE, upload it"))]
)
def test_the_pipeline_is_all_that_is_printed(spec: Path, compiled: Compiled, to: str, says: str) -> None:
    said = call(spec, "--to", to)
    assert (said.exit_code, said.stdout, said.stderr) == (0, "pipeline: small-drill\n", says)
    ((plan, given, carrier),) = compiled
    assert given == load_spec(spec)
    assert plan == make_plan(given, CLUSTER)
    assert carrier == Carrier()


def test_the_profile_and_its_carrier_are_compiled_in(spec: Path, profile: Path, compiled: Compiled) -> None:
    assert call(spec, "--to", "argo", "--profile", profile).exit_code == 0
    ((_, given, carrier),) = compiled
    assert given.spec.tracking.uri == "http://mlflow:5000"
    assert (carrier.image, carrier.namespace) == ("registry.example/chaosgate:1.2.3", "drills")


def test_options_win_over_the_profile(spec: Path, profile: Path, compiled: Compiled) -> None:
    words = ["--image", "other:2", "--service-account", "me", "--profile", profile]
    assert call(spec, "--to", "kfp", *words).exit_code == 0
    ((_, _, carrier),) = compiled
    assert (carrier.image, carrier.service_account, carrier.namespace) == ("other:2", "me", "drills")
    assert call(spec, "--to", "argo", "--namespace", "mine", "--profile", profile).exit_code == 0
    assert compiled[1][2].namespace == "mine"


def test_a_wrong_option_is_named_and_nothing_is_compiled(spec: Path, compiled: Compiled) -> None:
    said = call(spec, "--to", "argo", "--image", "other", "--namespace", "My Space")
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.splitlines() == [
        "--image: read 'other'; write an image with its tag or digest, such as chaosgate:0.1.0",
        "--namespace: read 'My Space'; a name is lower case letters, digits and hyphens between them, "
        "at most 63 (a DNS label)",
    ]
    assert compiled == []


def test_a_file_is_written_whole_and_readable_by_others(spec: Path, tmp_path: Path, compiled: Compiled) -> None:
    file = tmp_path / "out.yaml"
    file.write_text("before")
    said = call(spec, "--to", "argo", "-O", file)
    assert (said.exit_code, said.stdout, said.stderr) == (0, "", f"wrote {file}\n")
    assert file.read_text() == "pipeline: small-drill\n"
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(spec.stat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} == {"out.yaml", spec.name}


def test_a_dash_is_stdout(spec: Path, compiled: Compiled) -> None:
    assert call(spec, "--to", "argo", "-O", "-").stdout == "pipeline: small-drill\n"


@pytest.mark.parametrize(
    ("option", "words"), [("--output", ["-O", "{}"]), ("--spec-out", ["-O", "-", "--spec-out", "{}"])]
)
@pytest.mark.parametrize(
    ("where", "cause"), [("none/out", "No such file or directory"), ("small-drill.yaml/out", "Not a directory")]
)
def test_a_file_that_cannot_be_written_is_named(
    spec: Path, tmp_path: Path, compiled: Compiled, option: str, words: list[str], where: str, cause: str
) -> None:
    said = call(spec, "--to", "argo", *(word.format(tmp_path / where) for word in words))
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr == f"{tmp_path / where}: cannot be written: {cause}; choose another with {option} FILE\n"


def test_a_folder_in_the_way_stays_and_leaves_nothing_behind(spec: Path, tmp_path: Path, compiled: Compiled) -> None:
    (tmp_path / "out" / "kept").mkdir(parents=True)
    said = call(spec, "--to", "argo", "-O", tmp_path / "out")
    assert said.exit_code == 2
    assert f"{tmp_path / 'out'}: cannot be written: " in said.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"out", spec.name}


def test_the_spec_is_written_as_a_run_reads_it(spec: Path, tmp_path: Path, compiled: Compiled) -> None:
    file = tmp_path / "spec.json"
    said = call(spec, "--to", "kfp", "--spec-out", file)
    assert (said.exit_code, said.stdout) == (0, "pipeline: small-drill\n")
    assert said.stderr == f"wrote {file}\n" + HINT.format(f"upload {file}")
    assert read_document(file, SPEC) == load_spec(spec)


@pytest.mark.thorough
@pytest.mark.parametrize(("to", "library"), [("argo", "hera"), ("kfp", "kfp")])
def test_a_missing_library_ends_in_what_to_install(spec: Path, to: str, library: str) -> None:
    # In a process of its own, for a library that is imported by half stays behind.
    script = (
        "import sys\n"
        f"sys.modules[{library!r}] = None\n"
        "from chaosgate.cli.main import chaosgate\n"
        f"chaosgate(['compile', {str(spec)!r}, '--to', {to!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"--to {to} needs {library}, which is not installed; install it: pip install 'chaosgate[{to}]'\n"
    )


@pytest.mark.thorough
def test_only_the_library_that_is_asked_for_is_imported(spec: Path) -> None:
    script = (
        "import sys\n"
        "from chaosgate.cli.main import chaosgate\n"
        f"chaosgate(['compile', {str(spec)!r}, '--to', 'argo'], standalone_mode=False)\n"
        "heavy = ('hera', 'kfp', 'aiohttp', 'numpy', 'scipy', 'mlflow', 'matplotlib', 'psutil')\n"
        "print('imported:', *[name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "imported: hera"


def test_a_module_of_our_own_that_is_missing_is_no_mistake_of_the_user(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "chaosgate.compile.argo", None)
    assert isinstance(call(spec, "--to", "argo").exception, ModuleNotFoundError)


@pytest.mark.parametrize(
    ("words", "says"),
    [((), "Missing option '--to'"), (("--to", "jenkins"), "'jenkins' is not one of 'argo', 'kfp'")],
)
def test_only_what_can_be_compiled_to_is_taken(spec: Path, words: tuple[str, ...], says: str) -> None:
    said = call(spec, *words)
    assert said.exit_code == 2
    assert says in said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("to", ["argo", "kfp"])
def test_the_real_compilers_print_yaml(spec: Path, profile: Path, to: str) -> None:
    said = call(spec, "--to", to, "--profile", profile)
    assert said.exit_code == 0
    first = next(iter(yaml.safe_load_all(said.stdout)))
    name = first["metadata"]["generateName"] if to == "argo" else first["pipelineInfo"]["name"]
    assert name.startswith("small-drill")
    assert "registry.example/chaosgate:1.2.3" in said.stdout


def test_that_a_package_holds_no_schedule_is_said(tmp_path: Path, compiled: Compiled) -> None:
    spec = tmp_path / "nightly.yaml"
    spec.write_text(write_spec(tmp_path).read_text().rstrip() + '\n  schedule: {cron: "0 3 * * *"}\n')
    note = "a KFP package holds no schedule: create a recurring run with the spec's cron, or give --once\n"
    assert call(spec, "--to", "kfp").stderr.endswith(note)
    assert note not in call(spec, "--to", "kfp", "--once").stderr
