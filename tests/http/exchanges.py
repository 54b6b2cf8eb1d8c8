"""A Markdown page as a test of HTTP: every fenced `http` block on it is a request and its answer.

    ```http
    GET /api/v1/hands/holdem/3?as=auditor          what is asked, as it is sent
    Authorization: Bearer <auditor>                <NAME> stands for a key, or for what was caught
    Accept: application/json

    HTTP 200                                       what must come back: the status
    Content-Type: application/json                 headers; `...` stands for anything
    ETag: "<tag>"                                  ... a new NAME catches what stands there
    Set-Cookie: absent                             ... and this one must not come

    {"hand": "holdem/3", "net": "...",             JSON: the members that are named, `"..."` is
     "board": ["...", "..."], "winner": "<who>"}   anything; lists whole, unless "..." is last
    lacks: seed                                    words that stand nowhere in the answer
    ```

A request with a body has it after an empty line. A body that is no JSON is compared as text, `...`
for anything. Nothing that is not named is looked at. Blocks of a page are asked in their order, of
one server with a ledger of its own, and each has a sentence above it that says why.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from starlette.testclient import TestClient

from tests.fences import fences
from tests.http.clients import Site

REASON_MIN = 20  # characters; less says nothing
_NAME = re.compile(r"<([a-z][\w-]*)>")


class Wrong(AssertionError):
    """An answer that is not as the page says: where, what it says, what came."""


class Exchange(NamedTuple):
    """A request and what its answer must be."""

    line: int
    reason: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: str
    status: int
    told: tuple[tuple[str, str], ...]
    said: str
    lacks: tuple[str, ...]


def exchanges(page: Path) -> Iterator[Exchange]:
    """The blocks of a page, each with the prose above it."""
    lines = page.read_text("utf-8").splitlines()
    end = 0
    for fence in fences(page):
        reason = " ".join(line for line in lines[end : fence.line - 1] if not line.startswith("#"))
        end = fence.line + len(fence.text.splitlines()) + 1
        if fence.language == "http":
            yield _read(page, fence.line, " ".join(reason.split()), fence.text)


def run(page: Path, site: Site) -> int:
    """Ask everything on a page; how many requests that were."""
    known = {**site.keys, "once": site.app.state.sessions.make_link(("audit:read",))}
    client = TestClient(site.app, "http://127.0.0.1:8000", follow_redirects=False)
    count = 0
    for exchange in exchanges(page):
        try:
            _ask(client, exchange, known)
        except Wrong as wrong:
            asked = f"{exchange.method} {exchange.target}"
            raise Wrong(f"{page}:{exchange.line}: {asked}: {wrong}") from None
        client.cookies.clear()  # who wants one sends it, so that a page shows it
        count += 1
    return count


def _read(page: Path, line: int, reason: str, text: str) -> Exchange:
    asked, found, answer = text.partition("\nHTTP ")
    if not found:
        raise Wrong(f"{page}:{line}: a block ends with its answer: HTTP and a status")
    head, _, body = asked.partition("\n\n")
    first, *headers = head.splitlines()
    method, _, target = first.partition(" ")
    answer_head, _, rest = answer.partition("\n\n")
    status, *told = answer_head.splitlines()
    lacks = tuple(re.findall(r"^lacks: (.+)$", rest, re.MULTILINE))
    said = re.sub(r"^lacks: .+\n?", "", rest, flags=re.MULTILINE).strip()
    return Exchange(
        line,
        reason,
        method,
        target,
        tuple(map(_header, headers)),
        body.strip(),
        int(status.split()[0]),
        tuple(map(_header, told)),
        said,
        lacks,
    )


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()


def _ask(client: TestClient, exchange: Exchange, known: dict[str, str]) -> None:
    if len(exchange.reason) < REASON_MIN:
        raise Wrong("say above it why it is asked")
    target, body = _filled(exchange.target, known), _filled(exchange.body, known)
    headers = {name: _filled(value, known) for name, value in exchange.headers}
    if exchange.body[:1] in ("{", "[") and "Content-Type" not in headers:
        headers["Content-Type"] = "application/json"
    answer = client.request(exchange.method, target, headers=headers, content=body or None)
    if answer.status_code != exchange.status:
        raise Wrong(f"HTTP {exchange.status}, not {answer.status_code}: {answer.text[:600]}")
    for name, value in exchange.told:
        came = answer.headers.get(name)
        if value == "absent":
            if came is not None:
                raise Wrong(f"{name} is to be absent, and is {came}")
        elif came is None:
            raise Wrong(f"{name}: {value}, and there is none")
        else:
            _alike(value, came, known, name)
    for word in exchange.lacks:
        if _filled(word, known) in answer.text or _filled(word, known) in str(answer.headers):
            raise Wrong(f"{word} is in it: {answer.text[:600]}")
    if exchange.said[:1] in ("{", "["):
        _compare(json.loads(exchange.said), answer.json(), known, "")
    elif exchange.said:
        _alike(exchange.said, answer.text.strip().replace("\r\n", "\n"), known, "the body")


def _filled(text: str, known: dict[str, str]) -> str:
    """With what the names stand for; one that nobody has caught stays."""
    return _NAME.sub(lambda found: known.get(found[1], found[0]), text)


def _compare(told: Any, came: Any, known: dict[str, str], where: str) -> None:
    """Named members, whole lists, equal values."""
    if isinstance(told, dict) and isinstance(came, dict):
        for name, value in told.items():
            if name not in came:
                raise Wrong(f"{where}.{name} is missing: there are {', '.join(came)}")
            _compare(value, came[name], known, f"{where}.{name}")
    elif isinstance(told, list) and isinstance(came, list):
        more = told[-1:] == ["..."] and len(told) != len(came)
        values = told[:-1] if more else told
        if len(came) < len(values) or (len(came) > len(values) and not more):
            raise Wrong(f"{where} has {len(came)} elements, not {len(values)}: {_short(came)}")
        for place, value in enumerate(values):
            _compare(value, came[place], known, f"{where}[{place}]")
    elif isinstance(told, str):
        if told != "...":
            _alike(told, came if isinstance(came, str) else json.dumps(came), known, where)
    elif told != came or isinstance(told, bool) != isinstance(came, bool):
        raise Wrong(f"{where} is {_short(came)}, not {_short(told)}")


def _alike(told: str, came: str, known: dict[str, str], where: str) -> None:
    """Equal, but for `...` and for names that are new: these catch what stands there."""
    pattern, caught = "", []
    for part in re.split(r"(\.\.\.|<[a-z][\w-]*>)", told):
        name = _NAME.fullmatch(part)
        if part == "...":
            pattern += ".*?"
        elif name and name[1] not in known:
            caught.append(name[1])
            pattern += "(.+?)"
        else:
            pattern += re.escape(known[name[1]] if name else part)
    found = re.fullmatch(pattern, came, re.DOTALL)
    if not found:
        raise Wrong(f"{where} is {came[:600]!r}, not {told!r}")
    known.update(zip(caught, found.groups(), strict=True))


def _short(value: Any) -> str:
    return json.dumps(value)[:300]
