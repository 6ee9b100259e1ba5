"""One podman and one image for all tests of a session; `make image` builds it from a copy of the working tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from image_builder import Podman, base_archive, cache_folder, copy_context, own_podman, why_no_image

IMAGE = "localhost/chaosgate:test"


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the image is built from."""
    return copy_context(tmp_path_factory.mktemp("image") / "context")


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """podman, with the base image in its storage."""
    if reason := why_no_image():
        pytest.skip(reason)
    with own_podman() as podman:
        podman.import_base(base_archive(cache_folder()))
        yield podman


@pytest.fixture(scope="session")
def image(podman: Podman, context: Path) -> str:
    """The name of the image, built."""
    podman.build(context, IMAGE)
    return IMAGE
