"""Real images for tests, as root on Linux: a base, what `make image` builds on it, an archive that a cluster imports.

podman gets settings and storage of its own in a temporary folder, which is taken away afterwards. What takes long
and does not change is kept in a cache folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = ("Makefile", ".dockerignore", "LICENSE", "README.md", "pyproject.toml", "components", "requirements", "src")
"""What an image is built from, and the Makefile that builds it."""
PROGRAMS = ("make", "mmdebstrap", "podman", "runc", "skopeo")
CACHE_VARIABLE = "CHAOSGATE_TEST_CACHE"
REVISION = "0123456789abcdef0123456789abcdef01234567"
PATIENCE = 900.0
"""Seconds a build may take; only a broken one needs them."""
LIMITS = ("--ulimit=nofile=1024:4096", "--ulimit=nproc=4096:4096")
"""podman sets higher limits than it has, which only CAP_SYS_RESOURCE allows; a builder in a sandbox may be without."""

BASE_RECIPE = (
    *("--variant=minbase", "--include=python3,python3-pip"),
    *(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("doc", "locale", "man")),
    # As in Python's own images, its library comes without byte code.
    '--customize-hook=find "$1"/usr/lib/python3.* -name __pycache__ -prune -exec rm -r {} +',
)
PIP_SETTINGS = (Path("/etc/pip.conf"), Path("/etc/ssl/certs/ca-certificates.crt"))
"""A build sees the base and nothing else, so the base holds how pip reaches an index from this machine."""


def why_no_image(programs: Sequence[str] = PROGRAMS) -> str | None:
    """Why no image can be built here, for a skip; None when one can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "images are built as root on Linux"
    absent = [program for program in programs if shutil.which(program) is None]
    return f"not installed: {', '.join(absent)}" if absent else None


def cache_folder() -> Path:
    """The folder named by $CHAOSGATE_TEST_CACHE, else ~/.cache/chaosgate-tests; it is there afterwards."""
    folder = Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "chaosgate-tests")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def base_archive(cache: Path) -> Path:
    """A root file system with Python and pip as a tar archive, made once."""
    settings = [path for path in PIP_SETTINGS if path.exists()]
    digest = _digest(*(word.encode() for word in BASE_RECIPE), *(path.read_bytes() for path in settings))
    archive = cache / f"python-base-{digest}.tar"
    if not archive.exists():
        hooks = [f'--customize-hook=install -D -m 644 {path} "$1{path}"' for path in settings]
        draft = archive.with_name(f"{os.getpid()}-{archive.name}")
        said(["mmdebstrap", *BASE_RECIPE, *hooks, "bookworm", str(draft)])
        draft.replace(archive)
    return archive


def copy_context(target: Path, source: Path = ROOT) -> Path:
    """What an image is built from, copied: the working tree may change while it is built."""
    target.mkdir(parents=True)
    for name in CONTEXT:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source / name, target / name)
    return target


def make_image(context: Path, env: Mapping[str, str], *flags: str, **variables: str) -> None:
    """Run `make image` in `context` with flags for the builder and variables for make."""
    settings = {"REVISION": REVISION, "BUILD_FLAGS": " ".join(("--network host", *flags)), **variables}
    said(["make", "-C", str(context), "image", *(f"{name}={value}" for name, value in settings.items())], env)


def image_archive(reference: str, cache: Path) -> Path:
    """The working tree's image as a `docker-archive` that names it `reference`; made unless this very one is there."""
    base = base_archive(cache)
    with tempfile.TemporaryDirectory() as folder:
        context = copy_context(Path(folder) / "context")
        files = sorted(path for path in context.rglob("*") if path.is_file())
        parts = [part for path in files for part in (str(path.relative_to(context)).encode(), path.read_bytes())]
        archive = cache / f"image-{_digest(base.name.encode(), reference.encode(), *parts)}.tar"
        if not archive.exists():
            for stale in cache.glob("image-*.tar"):
                stale.unlink()
            with own_podman() as podman:
                podman.import_base(base)
                podman.build(context, reference)
                podman.export(reference, archive)
    return archive


class Podman:
    """podman with settings and storage of its own below `root`."""

    BASE = "localhost/python-base:test"

    def __init__(self, root: Path) -> None:
        self.root = root
        folders = {name: root / name for name in ("graph", "run", "tmp", "networks", "volumes")}
        for folder in folders.values():
            folder.mkdir()
        (root / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{folders["graph"]}"\nrunroot = "{folders["run"]}"\n'
        )
        (root / "containers.conf").write_text(
            '[containers]\ndefault_ulimits = ["nofile=1024:4096"]\n'
            f'[network]\nnetwork_config_dir = "{folders["networks"]}"\n'
            '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n'
            f'tmp_dir = "{folders["tmp"]}"\nvolume_path = "{folders["volumes"]}"\n'
        )
        self.env = {
            **os.environ,
            "CONTAINERS_CONF": str(root / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(root / "storage.conf"),
        }

    def __call__(self, *words: str) -> str:
        """What `podman WORDS` prints; an AssertionError with all it said when it fails."""
        return said(["podman", *words], self.env)

    def import_base(self, archive: Path) -> None:
        """Make a root file system the image BASE."""
        self("import", "--quiet", str(archive), self.BASE)

    def build(self, context: Path, image: str, *flags: str, **variables: str) -> None:
        """Build `image` from `context` on BASE."""
        make_image(context, self.env, *flags, BUILDER="podman", IMAGE=image, BASE=self.BASE, **variables)

    def run(self, image: str, *words: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run `image` as a strict cluster does: nothing to gain, no network but loopback, nothing to write but /tmp."""
        nothing = ("--read-only", "--network=none", "--cap-drop=all", "--security-opt=no-new-privileges")
        command = ["podman", "run", "--rm", *nothing, *LIMITS, *options, image, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=self.env)

    @contextmanager
    def mounted(self, image: str) -> Iterator[Path]:
        """The image's files."""
        try:
            yield Path(self("image", "mount", image).strip())
        finally:
            self("image", "unmount", image)

    def export(self, image: str, archive: Path) -> None:
        """Write `image` as a `docker-archive` under its own name, whole or not at all."""
        draft = archive.with_name(f"{os.getpid()}-{archive.name}")
        said(["skopeo", "copy", "--quiet", f"containers-storage:{image}", f"docker-archive:{draft}:{image}"], self.env)
        draft.replace(archive)

    def close(self) -> None:
        """Take everything away: containers, images, the mount that overlay storage makes of its own folder."""
        self("rm", "--all", "--force")
        self("rmi", "--all", "--force")
        if os.path.ismount(self.root / "graph" / "overlay"):
            said(["umount", str(self.root / "graph" / "overlay")])
        shutil.rmtree(self.root)


@contextmanager
def own_podman() -> Iterator[Podman]:
    """A podman that leaves nothing behind. Its path is short, as podman refuses a long one."""
    podman = Podman(Path(tempfile.mkdtemp(prefix="podman-")))
    try:
        yield podman
    finally:
        podman.close()


def said(command: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """The standard output of a command that has to succeed; else an AssertionError with the end of what it said."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
    output = (done.stdout + done.stderr)[-4000:]
    assert done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}\n{output}"
    return done.stdout


def _digest(*parts: bytes) -> str:
    """Twelve digits that differ when any part does."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:12]
