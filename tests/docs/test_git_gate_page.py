"""The page on the git gate: its hook does what it shows, its workflow calls what there is, its tables are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from console import blocks, run_page
from gate_rig import GIT, ROOT, SCRIPTS

PAGE = (ROOT / "docs" / "git-gate.md").read_text(encoding="utf-8")


def test_the_hook_does_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "chaosgate").symlink_to(ROOT)
    # A reader's own identity; nothing else of git's configuration is theirs.
    problems = run_page(PAGE, tmp_path, **GIT)
    assert problems == [], "\n".join(problems)


def workflow(text: str) -> Any:
    return yaml.load(text, Loader=yaml.BaseLoader)


def test_the_workflow_of_the_page_calls_what_there_is() -> None:
    (shown,) = [workflow(block.body) for block in blocks(PAGE) if block.language == "yaml"]
    called = workflow((ROOT / ".github" / "workflows" / "chaos-gate.yml").read_text(encoding="utf-8"))
    (job,) = shown["jobs"].values()
    assert job["uses"] == "your-team/chaosgate/.github/workflows/chaos-gate.yml@COMMIT"
    assert set(job["with"]) <= set(called["on"]["workflow_call"]["inputs"])
    assert shown["permissions"] == called["permissions"] == {"contents": "read"}
    # The check to require is the last job, which looks at all others.
    last = list(called["jobs"].values())[-1]
    (name,) = shown["jobs"]
    assert f"require the check `{name} / {last['name']}`" in PAGE


def test_the_table_lists_every_setting_with_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import pre_receive

    rows = dict(re.findall(r"^\| `chaosgate\.(\w+)` \| .* \| (.+?) \|$", PAGE, re.MULTILINE))
    assert [name.lower() for name in rows] == list(pre_receive.DEFAULTS)
    for name, shown in rows.items():
        default = pre_receive.DEFAULTS[name.lower()]
        if default not in ((), ("",)):
            assert f"`{default[0]}`" in shown
