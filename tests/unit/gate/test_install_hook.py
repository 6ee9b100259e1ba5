"""The installer of the hook: complete, repeatable, and careful with hooks of others."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from changed_specs import GateError
from gate_rig import HOOK, SCRIPTS, GitRepository, Receiver
from install_hook import MODULES, install


def imports(module: str) -> set[str]:
    """The modules beside `module` that it needs, those that they need among them."""
    tree = ast.parse((SCRIPTS / module).read_text(encoding="utf-8"))
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    beside = {f"{name}.py" for name in named if (SCRIPTS / f"{name}.py").is_file()}
    return beside.union(*(imports(name) for name in beside))


def test_everything_that_the_hook_imports_is_installed() -> None:
    assert set(MODULES) == {"pre_receive.py", *imports("pre_receive.py")}


def test_the_hook_needs_the_standard_library_only() -> None:
    for module in MODULES:
        tree = ast.parse((SCRIPTS / module).read_text(encoding="utf-8"))
        named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        named |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        roots = {name.partition(".")[0] for name in named}
        assert roots <= sys.stdlib_module_names | {Path(one).stem for one in MODULES}


@pytest.mark.parametrize("bare", [True, False])
def test_it_works_in_every_kind_of_repository(tmp_path: Path, bare: bool) -> None:
    repository = GitRepository(tmp_path / "r")
    repository.folder.mkdir()
    repository.git("init", "--quiet", *(["--bare"] if bare else []))
    hooks = repository.folder / ("hooks" if bare else ".git/hooks")
    assert install(repository.folder) == hooks / "pre-receive"
    assert (hooks / "pre-receive").read_bytes() == HOOK.read_bytes()
    assert (hooks / "pre-receive").stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in (hooks / "chaosgate-gate").iterdir()) == sorted(MODULES)


def test_it_follows_the_hooks_path(tmp_path: Path) -> None:
    repository = GitRepository.create(tmp_path / "r")
    repository.git("config", "core.hooksPath", str(tmp_path / "elsewhere"))
    assert install(repository.folder) == tmp_path / "elsewhere" / "pre-receive"


def test_it_can_be_repeated(tmp_path: Path) -> None:
    receiver = Receiver.create(tmp_path)
    module = receiver.bare.folder / "hooks" / "chaosgate-gate" / "pre_receive.py"
    module.write_text("old")
    install(receiver.bare.folder)
    assert module.read_bytes() == (SCRIPTS / "pre_receive.py").read_bytes()


def test_another_hook_is_left_alone(tmp_path: Path) -> None:
    repository = GitRepository.create(tmp_path / "r")
    other = repository.folder / ".git" / "hooks" / "pre-receive"
    other.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(GateError, match=r"pre-receive: is another hook; move it to .*pre-receive\.d or the like"):
        install(repository.folder)
    assert other.read_text() == "#!/bin/sh\nexit 1\n"


def test_what_is_no_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(GateError, match="nowhere: is no folder; name a repository that receives pushes"):
        install(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    with pytest.raises(GateError, match="not a git repository"):
        install(tmp_path / "folder")


def test_the_command_says_what_comes_next(tmp_path: Path) -> None:
    repository = GitRepository.create(tmp_path / "r")
    command = [sys.executable, str(SCRIPTS / "install_hook.py")]
    done = subprocess.run([*command, str(repository.folder)], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.endswith(f"next: git -C {repository.folder} config chaosgate.command PATH-OF-CHAOSGATE\n")
    refused = subprocess.run([*command, str(tmp_path / "nowhere")], capture_output=True, text=True)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is no folder" in refused.stderr
