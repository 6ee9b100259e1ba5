"""The runner of the pages believes no page: each way in which one can be wrong is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import commands, run_page

PAGE = """\
# A page

<!-- console: file notes.txt -->
```text
one
two 2
```

Some words, and a language that is not run:

```python
print("$ not a command")
```

```console
$ cat notes.txt
one
two 2
$ cat notes.txt \\
    notes.txt | sort -u
one
two 2
$ WORD=three
$ echo $WORD
three
$ ls nowhere
...
$ echo $?
2
```

<!-- console: numbers vary -->
```console
$ seq 10 12; echo took 0.25 s; echo run a-20990101-000000-000000
11
...
took 12.75 s
run a-20250301-101500-a1b2c3
```

<!-- console: skip: nobody has a cluster -->
```console
$ kubectl get pods
```
"""


def run(page: str, folder: Path) -> list[str]:
    return [problem.partition("; it printed:")[0] for problem in run_page(page, folder)]


def test_a_page_that_is_right_has_no_problems(tmp_path: Path) -> None:
    assert run(PAGE, tmp_path) == []
    assert (tmp_path / "notes.txt").read_text() == "one\ntwo 2\n"


def test_the_commands_of_a_page_are_found_with_their_lines() -> None:
    found = [(command.line, command.text.splitlines()[0], command.shown) for command in commands(PAGE)]
    assert found[1] == (16, "cat notes.txt", ("one", "two 2"))
    assert "kubectl" not in str(found)
    assert len(found) == 8


TWINS = [
    ("one\ntwo 2\n$ cat notes.txt \\", "one\ntwo 3\n$ cat notes.txt \\", "shown and not printed: 'two 3'"),
    ("one\ntwo 2\n$ cat notes.txt \\", "one\n$ cat notes.txt \\", "printed and not shown: 'two 2'"),
    ("one\ntwo 2\n$ cat notes.txt \\", "two 2\none\n$ cat notes.txt \\", "shown and not printed: 'two 2'"),
    ("one\ntwo 2\n$ cat notes.txt \\", "...\none\n$ cat notes.txt \\", "shown and not printed: 'one'"),
    ("$ echo $WORD\nthree", "$ echo $WORD\nfour", "shown and not printed: 'four'"),
    ("$ echo $?\n2", "$ echo $?\n1", "shown and not printed: '1'"),
    ("$ echo $?\n2\n", "", "exit code 2"),
    ("took 12.75 s", "took 12.75 ms", "shown and not printed: 'took 12.75 ms'"),
    ("run a-20250301-101500-a1b2c3", "run b-20250301-101500-a1b2c3", "shown and not printed: 'run b-"),
    ("numbers vary", "numbers  vary", "shown and not printed: '11'"),
    ("$ WORD=three", "$ exit 0", "was not run: the shell had ended"),
    ("<!-- console: file notes.txt -->", "", "exit code 1"),
]


@pytest.mark.parametrize(("right", "wrong", "why"), TWINS, ids=[why for *_, why in TWINS])
def test_a_page_that_is_wrong_is_caught(right: str, wrong: str, why: str, tmp_path: Path) -> None:
    assert PAGE.count(right) == 1
    found = run(PAGE.replace(right, wrong), tmp_path)
    assert found, "nothing was found"
    assert why in found[0]
