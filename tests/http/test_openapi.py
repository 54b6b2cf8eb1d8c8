"""The OpenAPI document is committed, whole, and every operation in it is asked by some test."""

import re
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from api.http.openapi import ANSWERS, TAGS
from api.problem import PROBLEM_JSON, PROBLEM_KINDS
from docs.openapi import PATH, written
from tests.http.clients import Site
from tests.http.exchanges import exchanges
from tests.http.shaped import Misshapen, check

HERE = Path(__file__).parent
DOCUMENT: dict[str, Any] = msgspec.json.decode(PATH.read_bytes())
OPERATIONS = [
    (method, path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
every_operation = pytest.mark.parametrize(
    ("method", "path", "operation"),
    OPERATIONS,
    ids=[f"{method} {path}" for method, path, _ in OPERATIONS],
)


def test_the_committed_document_is_what_the_application_says(accept: bool) -> None:
    if accept:
        PATH.write_text(written(), "utf-8")
    assert PATH.read_text("utf-8") == written(), f"./mr accept writes {PATH.name}"


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(names) == len(set(names))


@every_operation
def test_an_operation_says_what_it_is(method: str, path: str, operation: dict[str, Any]) -> None:
    assert re.fullmatch("[a-z][a-z_]*", operation["operationId"])
    assert operation["summary"]
    assert not operation["summary"].endswith(".")
    assert {*operation["tags"]} <= {*TAGS}
    assert operation["tags"]
    assert any(status.startswith("2") for status in operation["responses"])


@every_operation
def test_an_operation_tells_how_it_refuses(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    refusals = [status for status in operation["responses"] if status[0] in "45"]
    assert "503" in refusals
    for status in refusals:
        content = operation["responses"][status]["content"]
        assert {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}} == content


@every_operation
def test_an_operation_says_what_each_parameter_is(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    silent = [
        one["name"]
        for one in operation.get("parameters", ())
        if one["in"] == "query" and not (one.get("description") or one["schema"].get("title"))
    ]
    assert [] == silent


@every_operation
def test_an_operation_is_asked_on_a_page(method: str, path: str, operation: dict[str, Any]) -> None:
    template = re.sub(r"\\\{path\\\}", ".+", re.escape(path))
    template = re.sub(r"\\\{\w+\\\}", "[^/]+", template)
    asked = [
        one
        for page in sorted(HERE.glob("*.http.md"))
        for one in exchanges(page)
        if one.method.lower() == method and re.fullmatch(template, one.target.partition("?")[0])
    ]
    assert asked, "write it down in a *.http.md beside this file"


@every_operation
def test_an_operation_says_what_its_json_looks_like(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    contents = [
        answer["content"]["application/json"]["schema"]
        for status, answer in operation["responses"].items()
        if status.startswith("2") and "application/json" in answer.get("content", {})
    ]
    assert (operation["operationId"] in ANSWERS) == bool(contents), (
        "one line in api/http/openapi.py"
    )
    assert all("$ref" in schema for schema in contents)


def test_every_shape_is_of_an_operation() -> None:
    assert {*ANSWERS} <= {operation["operationId"] for _, _, operation in OPERATIONS}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"more": 1}, "Additional properties are not allowed"),
        ({"pot": "12"}, "pot: .* is not valid under any"),
        ({"cards": [["7h", {"redacted": True, "card": "As"}]]}, "is not valid under any"),
    ],
)
def test_an_answer_of_another_shape_would_be_found(
    change: dict[str, Any], wrong: str, site: Site
) -> None:
    answer = site.as_().get("/api/v1/hands/holdem/3")
    told = answer.json() | change
    with pytest.raises(Misshapen, match=wrong):
        check(_answered(answer.request, told))
    told.pop("more", None)
    del told["line"]
    with pytest.raises(Misshapen, match='"line" is a required property'):
        check(_answered(answer.request, {**told, "pot": 12, "cards": None}))


def test_a_status_that_is_not_in_the_document_would_be_found(site: Site) -> None:
    asked = site.as_().get("/api/v1/hands/holdem/3").request
    with pytest.raises(Misshapen, match="418: this status is not in the document"):
        check(httpx.Response(418, json={}, request=asked))


def test_to_stop_a_job_that_is_over_is_a_conflict_and_the_document_says_so() -> None:
    assert "409" in DOCUMENT["paths"]["/api/v1/jobs/{job}"]["delete"]["responses"]


def _answered(request: httpx.Request, told: Any) -> httpx.Response:
    return httpx.Response(200, json=told, request=request)


def test_every_link_of_the_root_leads_somewhere(site: Site) -> None:
    client = site.as_()
    for link in client.get("/api/v1/").json()["links"].values():
        until = {"until": "now"} if link.endswith("/stream") else {}
        assert 200 == client.get(link, params=until).status_code, link


@pytest.mark.parametrize("kind", PROBLEM_KINDS)
def test_every_kind_of_problem_is_met_in_a_test(kind: str) -> None:
    told = "".join(page.read_text("utf-8") for page in HERE.glob("*.http.md"))
    told += (HERE / "test_failures.py").read_text() + (HERE / "test_limits.py").read_text()
    told += (HERE / "test_hosts.py").read_text() + (HERE / "test_connections.py").read_text()
    told += (HERE / "test_quotas.py").read_text()
    assert re.search(rf'problem:{kind}"|"{kind}"\)', told)


def test_a_problem_that_is_not_in_the_schema_would_be_found() -> None:
    kinds = DOCUMENT["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]
    assert [f"urn:muckrake:problem:{kind}" for kind in PROBLEM_KINDS] == kinds
