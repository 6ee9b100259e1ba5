"""The same Containerfile with Docker, on a daemon of the test's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker_daemon import Docker, own_docker, why_no_docker
from image_builder import base_archive, cache_folder, make_image

from chaosgate import __version__

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def docker() -> Iterator[Docker]:
    """Docker, with the base image in its storage."""
    if reason := why_no_docker():
        pytest.skip(reason)
    with own_docker() as docker:
        docker("import", str(base_archive(cache_folder())), "python-base:test")
        yield docker


def test_docker_builds_it_with_the_same_layers_each_time(docker: Docker, context: Path) -> None:
    found = []
    for image in ("chaosgate:first", "chaosgate:second"):
        make_image(context, docker.env, "--no-cache", BUILDER="docker", IMAGE=image, BASE="python-base:test")
        found.append(json.loads(docker("image", "inspect", image))[0]["RootFS"]["Layers"])
    assert found[0] == found[1]
    done = docker.run("chaosgate:first", "--version")
    assert (done.returncode, done.stdout) == (0, f"chaosgate, version {__version__}\n"), done.stderr
