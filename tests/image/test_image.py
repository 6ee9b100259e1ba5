"""The image, built for real: what is in it, what it may do, and that the same sources make the same image."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tarfile
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

import pytest
from image_builder import REVISION, ROOT, Podman, copy_context
from small_drill import write_spec

from chaosgate import __version__

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PACKAGES = Path("opt/chaosgate/lib")
UNCHECKED_HASH = (1).to_bytes(4, "little")
"""Bytes 4 to 8 of byte code that holds a hash of its source which nobody checks (PEP 552)."""
WHERE_CAN_I_WRITE = """
import os, tempfile
for folder in ("/", "/etc", "/opt/chaosgate", "/work", "/tmp"):
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        print(folder, error.strerror)
    else:
        print(folder, "yes")
print(os.getuid(), os.getgid(), os.getcwd())
"""


def step(podman: Podman, image: str, *words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command other than the image's own, as pipelines do."""
    command, *arguments = words
    return podman.run(image, *arguments, options=(f"--entrypoint={command}", *options))


def layers(podman: Podman, image: str) -> list[str]:
    """The digests of the image's layers, the base's first."""
    return list(json.loads(podman("image", "inspect", image))[0]["RootFS"]["Layers"])


def digest(podman: Podman, image: str) -> str:
    """The digest of the whole image."""
    return str(json.loads(podman("image", "inspect", image))[0]["Digest"])


@pytest.fixture(scope="module")
def config(podman: Podman, image: str) -> dict[str, Any]:
    """The image's configuration."""
    found: dict[str, Any] = json.loads(podman("image", "inspect", image))[0]["Config"]
    return found


def test_its_own_command_is_chaosgate(podman: Podman, image: str) -> None:
    assert podman.run(image, "--version").stdout == f"chaosgate, version {__version__}\n"
    assert "Usage: chaosgate" in podman.run(image).stdout


def test_it_runs_as_a_numeric_user_and_writes_only_where_it_is_let(podman: Podman, image: str) -> None:
    refused = "Read-only file system"
    done = step(podman, image, "python", "-c", WHERE_CAN_I_WRITE)
    assert done.stdout.splitlines() == [
        *(f"{folder} {refused}" for folder in ("/", "/etc", "/opt/chaosgate", "/work")),
        "/tmp yes",
        "65532 65532 /work",
    ]


def test_any_other_user_will_do_as_well(podman: Podman, image: str) -> None:
    options = ("--user=1000700000:0", "--tmpfs=/work:mode=1777")
    done = step(podman, image, "python", "-c", WHERE_CAN_I_WRITE, options=options)
    assert done.stdout.splitlines()[-3:] == ["/work yes", "/tmp yes", "1000700000 0 /work"]


def test_a_shipped_spec_is_valid_inside(podman: Podman, image: str) -> None:
    mount = f"--volume={ROOT / 'chaos-specs'}:/work/chaos-specs:ro"
    done = podman.run(image, "validate", "chaos-specs/scenarios/stream-degradation.yaml", options=[mount])
    assert done.returncode == 0, done.stderr
    assert "stream-degradation.yaml: valid: stream-degradation sha256:" in done.stdout


def test_a_component_answers(podman: Podman, image: str) -> None:
    done = step(podman, image, "python", "-m", "chaosgate.components", "gate", "--run", "r1", "--verdict", "/tmp/none")
    assert done.returncode == 3
    assert done.stderr.startswith("gate: error: /tmp/none")


@pytest.mark.parametrize("module", ["chaosgate.gateway", "chaosgate.engine"])
def test_the_servers_are_entry_points(podman: Podman, image: str, module: str) -> None:
    done = step(podman, image, "python", "-m", module, "--help")
    assert f"usage: {module.replace('.', ' ')}" in done.stdout


def test_a_whole_drill_runs_inside_without_a_shell_and_without_a_network(
    podman: Podman, image: str, tmp_path: Path
) -> None:
    # Engine, gateway, load, report and record in one container; there are no errors, so that this can only be a no.
    tmp_path.chmod(0o755)
    spec = write_spec(tmp_path, bound=">= 99 %")
    shells = [f"--volume=/dev/null:/usr/bin/{shell}" for shell in ("dash", "bash")]
    mounts = [f"--volume={spec}:/spec.yaml:ro", "--tmpfs=/work:mode=1777", *shells]
    done = podman.run(image, "run", "/spec.yaml", "-o", "json", options=mounts)
    assert done.returncode == 1, done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["verdict"]["verdict"], outcome["problems"], outcome["cleanup"]["clean"]) == ("fail", [], True)


def test_the_labels_say_what_it_is(config: dict[str, Any]) -> None:
    prefix = "org.opencontainers.image."
    labels = {name.removeprefix(prefix): text for name, text in config["Labels"].items() if name.startswith(prefix)}
    assert labels == {
        "title": "chaosgate",
        "description": "Chaos-as-Code for LLM serving: versioned chaos specs that end in a deployment verdict.",
        "licenses": "Apache-2.0",
        "version": __version__,
        "revision": REVISION,
        "source": "",
        "base.name": Podman.BASE,
    }


def test_it_asks_for_no_volume_and_no_port(config: dict[str, Any]) -> None:
    assert config.keys() & {"Volumes", "ExposedPorts"} == set()


def test_it_holds_what_is_locked_and_nothing_else(podman: Podman, image: str) -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / "image.txt").read_text(), re.M))
    with podman.mounted(image) as root:
        names = [info.stem.rpartition("-")[0] for info in (root / PACKAGES).glob("python3.*/site-packages/*.dist-info")]
        found = {re.sub(r"[-_.]+", "-", name).lower() for name in names}
        assert found == locked | {"chaosgate"}
        assert [name for name in ("build", "image", "package") if (root / name).exists()] == []
        assert [path for path in (root / PACKAGES).rglob("tests") if path.is_dir()] == []


def test_all_python_code_is_there_as_byte_code_that_is_not_checked(podman: Podman, image: str) -> None:
    with podman.mounted(image) as root:
        code = set((root / PACKAGES).rglob("*.pyc"))
        library = set((root / "usr/lib").glob("python3.*/__pycache__/*.pyc"))
        assert {path.stem.partition(".")[0] for path in library} >= {"argparse", "socket", "typing"}
        assert [path for path in code | library if path.read_bytes()[4:8] != UNCHECKED_HASH] == []
        sources = {Path(source_from_cache(str(path))) for path in code}
        assert [path for path in (root / PACKAGES).rglob("*.py") if path not in sources] == []


def test_the_same_sources_make_the_same_image(podman: Podman, image: str, context: Path, tmp_path: Path) -> None:
    # A checkout at another time, in another place, with another umask; nothing is taken from the first build.
    other = copy_context(tmp_path / "elsewhere", context)
    for path in other.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (0, 0))
    podman.build(other, f"{image}-again", "--no-cache")
    assert layers(podman, f"{image}-again") == layers(podman, image)
    assert digest(podman, f"{image}-again") == digest(podman, image)


def test_another_source_changes_the_last_layer_and_no_other(
    podman: Podman, image: str, context: Path, tmp_path: Path
) -> None:
    other = copy_context(tmp_path / "changed", context)
    with (other / "src/chaosgate/__init__.py").open("a") as file:
        file.write("# changed\n")
    podman.build(other, f"{image}-changed")
    *kept, last = layers(podman, image)
    assert layers(podman, f"{image}-changed")[:-1] == kept
    assert layers(podman, f"{image}-changed")[-1] != last


def test_a_version_that_the_sources_have_not_is_refused(podman: Podman, context: Path) -> None:
    with pytest.raises(AssertionError, match=r"No matching distribution found for chaosgate==9\.9\.9"):
        podman.build(context, "localhost/chaosgate:wrong", VERSION="9.9.9")


def test_the_archive_carries_the_image_under_its_name(podman: Podman, image: str, tmp_path: Path) -> None:
    podman.export(image, tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as archive:
        manifest = archive.extractfile("manifest.json")
        assert manifest is not None
        assert [entry["RepoTags"] for entry in json.load(manifest)] == [[image]]
