"""`verify.js` under node, asked many questions by one process: the second verifier in the tests."""

import atexit
import base64
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from api.evidence.verify import Key, Verdict, check_bundle, unzipped
from api.pages.site import STATIC
from tests.trust.own_bundles import Files

VERIFY_JS = STATIC / "verify.js"
DRIVER = Path(__file__).with_name("node_verifier.js")
NONE = "no node found: `sudo apt install nodejs` (18 or later), or set MUCKRAKE_NODE to its path"


def node() -> str:
    """The program; without it a test is skipped, or fails where MUCKRAKE_NODE is `require`."""
    named = os.environ.get("MUCKRAKE_NODE", "")
    there = shutil.which("node" if named in ("", "require") else named)
    if there is None:
        if named:
            pytest.fail(NONE, pytrace=False)
        pytest.skip(NONE)
    return there


@cache
def _process() -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [node(), DRIVER, VERIFY_JS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(process.terminate)
    return process


def _ask(question: dict[str, Any]) -> None:
    node()
    there = _process().stdin
    assert there is not None
    there.write(f"{json.dumps(question)}\n")
    there.flush()


def _answer() -> Any:
    there = _process().stdout
    assert there is not None
    answer = there.readline()
    assert answer, "node has ended: what it said stands above"
    return json.loads(answer)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def judged_in_node(
    bundle: Files | bytes, known: Sequence[Key] = (), policy: bytes | None = None
) -> Verdict:
    """What verify.js says of the files of a bundle, or of a zip."""
    _show(bundle, known, policy)
    return _judged()


def _show(bundle: Files | bytes, known: Sequence[Key], policy: bytes | None = None) -> None:
    question: dict[str, Any] = {"known": [key.line for key in known]}
    question["policy"] = None if policy is None else b64(policy)
    if isinstance(bundle, bytes):
        question["zip"] = b64(bundle)
    else:
        question["files"] = [[name, b64(text)] for name, text in bundle.items()]
    _ask(question)


def _judged() -> Verdict:
    found = _answer()
    return Verdict(tuple(found["problems"]), tuple(found["proved"]), found["code"])


def called_in_node(name: str, *values: bytes) -> Any:
    """What a function of verify.js gives for bytes."""
    _ask({"name": name, "values": [b64(value) for value in values]})
    found = _answer()
    return base64.b64decode(found) if isinstance(found, str) else found


def same(bundle: Files | bytes, known: Sequence[Key] = ()) -> Verdict:
    """What both verifiers say of the files of a bundle, or of a zip."""
    _show(bundle, known)  # it judges while we do
    found = check_bundle(lambda: unzipped(bundle) if isinstance(bundle, bytes) else bundle, known)
    assert found == _judged()
    return found
