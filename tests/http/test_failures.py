"""Whatever goes wrong has its problem document, and what nobody foresaw tells nothing."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fastapi import Request
from fastapi.responses import Response
from starlette.testclient import TestClient

from api.http import ledger_service
from api.http.responses import streaming_response
from api.problem import PROBLEM_KINDS, Problem
from api.questions.filters_parser import WrongFilter
from api.serving.app import problem_of
from api.viewpoints.hand_selection import NotInLedger, Unfinished
from api.viewpoints.redaction import NoAccess
from events.ledger import Conflict
from store.folder.disk import LedgerLocked, Lock
from store.folder.frames import Damaged
from store.reader import NoLedger, NoSnapshot
from store.sql.guard import Refused
from tests.http.clients import Site, site_of
from tests.http.served import get, said, served

SECRET = "As Kd of lynx"


class Wanted(msgspec.Struct):
    """A body that a route reads by itself."""

    hands: int


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Problem("conflict", "so"), "conflict"),
        (WrongFilter(4, "so"), "wrong-filter"),
        (Refused("so"), "query-refused"),
        (NoLedger("/home/me/ledger holds no ledger"), "unavailable"),
        (LedgerLocked("so"), "conflict"),
        (Conflict("so"), "conflict"),
        (NoAccess("so"), "forbidden"),
        (NotInLedger("so"), "not-found"),
        (Unfinished("so"), "conflict"),
        (NoSnapshot("so"), "wrong-cursor"),
        (Damaged("hot-7.log is damaged at byte 99"), "damaged"),
        (KeyError(SECRET), "internal"),
        (PermissionError(13, SECRET), "internal"),
    ],
)
def test_every_failure_of_the_other_rooms_has_its_kind(failure: Exception, kind: str) -> None:
    problem = problem_of(failure)
    assert kind == problem.kind
    document = problem.document()
    assert PROBLEM_KINDS[kind].status == document["status"]
    assert SECRET not in json.dumps(document)
    assert "/home" not in json.dumps(document)
    assert "byte 99" not in json.dumps(document)


def test_a_wrong_filter_says_where() -> None:
    assert 4 == problem_of(WrongFilter(4, "so")).document()["position"]


def test_a_body_that_is_not_what_it_should_be_says_where() -> None:
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.json.decode(b'{"hands": "many"}', type=Wanted)
    document = problem_of(wrong.value).document()
    assert (422, "$.hands" in document["detail"]) == (document["status"], True)


def test_every_kind_has_a_status_and_a_title_that_is_a_sentence() -> None:
    for kind, (status, title) in PROBLEM_KINDS.items():
        assert kind == kind.lower()
        assert 400 <= status <= 599
        assert title[0].isupper()
        assert not title.endswith(".")


def test_whoever_holds_the_ledger_is_named(mine: Site) -> None:
    lock = Lock(mine.folder, "muckrake play")
    try:

        @mine.app.get("/api/v1/test/held")
        def held() -> None:
            Lock(mine.folder, "another")

        answer = mine.as_().get("/api/v1/test/held")
    finally:
        lock.release()
    assert 409 == answer.status_code
    detail = answer.json()["detail"]
    assert detail.startswith("the ledger is being written by muckrake play (process ")
    assert str(mine.folder) not in answer.text


def failing(site: Site) -> None:
    """A route that fails as nobody foresaw."""

    @site.app.get("/api/v1/test/fails")
    def fails() -> None:
        raise ValueError(f"cannot read {SECRET}")

    @site.app.get("/test/fails")
    def page_fails() -> None:
        raise ValueError(f"cannot read {SECRET}")


def test_an_unforeseen_failure_tells_nothing_and_is_found_in_the_log(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    site = site_of(house, logs=True)
    failing(site)
    answer = site.as_().get("/api/v1/test/fails")
    assert 500 == answer.status_code
    assert SECRET not in answer.text + str(answer.headers)
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    failed = next(line for line in told if "failed" in line)
    assert answer.json()["request_id"] == failed["request"] == answer.headers["x-request-id"]
    assert "ValueError" == failed["failed"]
    assert failed["where"][-1].endswith(" fails")
    assert SECRET not in log.getvalue()


def test_a_damaged_file_is_named_in_the_log_and_nowhere_else(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    site = site_of(house, logs=True)

    @site.app.get("/api/v1/test/damaged")
    def damaged() -> None:
        raise Damaged("hot-7.log is damaged at byte 99")

    answer = site.as_().get("/api/v1/test/damaged")
    assert "urn:muckrake:problem:damaged" == answer.json()["type"]
    assert "byte 99" not in answer.text
    assert "hot-7.log is damaged at byte 99" == json.loads(log.getvalue().splitlines()[0])["reason"]


def test_a_page_that_fails_is_a_page(mine: Site) -> None:
    failing(mine)
    answer = mine.as_().get("/test/fails", headers={"Accept": "text/html"})
    assert (500, "text/html; charset=utf-8") == (answer.status_code, answer.headers["content-type"])
    assert SECRET not in answer.text


def test_a_stream_that_fails_half_way_is_cut_not_ended(mine: Site) -> None:
    """A chunked answer without its last chunk: no client takes it for a whole one."""

    def chunks() -> Iterator[bytes]:
        yield b"one\n"
        raise ValueError(SECRET)

    @mine.app.get("/api/v1/test/half")
    def half(request: Request) -> Response:
        return streaming_response(request, chunks(), "ndjson")

    with served(mine.app) as port:
        came = said(port, get("/api/v1/test/half"))
        assert b"one\n" in came
        assert not came.endswith(b"0\r\n\r\n")
        assert SECRET.encode() not in came
        assert said(port, get("/healthz")).startswith(b"HTTP/1.1 200")


def test_a_ledger_that_is_not_there_is_said_at_every_door(tmp_path: Path) -> None:
    site = site_of(tmp_path / "nothing")
    answer: Any = site.as_().get("/readyz")
    assert 503 == answer.status_code
    assert "muckrake play or muckrake import makes one" in answer.json()["detail"]
    assert 200 == site.as_().get("/healthz").status_code


def test_a_ledger_is_read_before_a_caller_asks(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(ledger_service, "Reader", opened.append)
    with TestClient(site_of(own).app) as client:
        assert 200 == client.get("/healthz").status_code
    assert [own] == opened


def test_what_keeps_a_ledger_from_being_read_is_said_when_it_is_asked(own: Path) -> None:
    """The server starts all the same."""
    (own / "manifest.json").write_bytes(b"nothing")
    with TestClient(site_of(own).app) as client:
        answer = client.get("/readyz")
        assert 503 == answer.status_code
        assert "muckrake doctor says why" in answer.json()["detail"]
