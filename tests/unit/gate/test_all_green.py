"""The last job: only success is success."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from all_green import failures
from gate_rig import SCRIPTS


def needs(**results: str) -> str:
    return json.dumps({name: {"result": result, "outputs": {}} for name, result in results.items()})


def test_all_success_is_green() -> None:
    assert failures(needs(check="success", test="success")) == []


@pytest.mark.parametrize("result", ["failure", "cancelled", "skipped", "", "Success"])
def test_anything_else_is_not(result: str) -> None:
    assert failures(needs(check="success", test=result)) == [f"test: {result}"]


@pytest.mark.parametrize("text", ["", "null", "[]", '{"check": "success"}', '{"check": {}}', "{", '{"check": null}'])
def test_what_holds_no_jobs_is_not_green(text: str) -> None:
    assert failures(text) == ["NEEDS holds no jobs; set it to ${{ toJSON(needs) }}"]


def test_needing_nothing_is_not_green() -> None:
    assert failures("{}") == ["this job needs no other; name every job in its `needs`"]


@pytest.mark.parametrize(
    ("result", "code", "said"), [("success", 0, ""), ("skipped", 1, "::error title=not green::drill: skipped\n")]
)
def test_the_script_says_what_is_not_green(result: str, code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / "all_green.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "NEEDS": needs(drill=result)},
    )
    assert (done.returncode, done.stdout) == (code, said)


def test_the_script_without_its_variable_fails() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NEEDS"}
    done = subprocess.run([sys.executable, SCRIPTS / "all_green.py"], capture_output=True, env=environment)
    assert done.returncode == 1
