"""CSV for spreadsheets: no text is a formula, numbers stay numbers, and all of it can be undone."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.hostile import made
from tests.http.clients import site_of
from tests.sessions import Captured
from tests.test_hostile_names import ran


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of hostile names, formulas among them."""
    return made(tmp_path_factory.mktemp("formulas") / "ledger")


@pytest.fixture(scope="module")
def client(ledger: Path) -> Iterator[TestClient]:
    """An auditor of it over HTTP."""
    with site_of(ledger).as_("auditor") as client:
        yield client


FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-1", "＝1", "plain", "", "'a")


def plainly(text: str) -> str:
    """The text that was made a text for spreadsheets, as docs/export.md says it."""
    return re.sub(r"^'('*[=+\-@\t\r＝＋－＠])", r"\1", text)


def test_a_download_holds_no_formula_and_can_be_read_back(client: TestClient) -> None:
    where = "/api/v1/exports/players?format=csv"
    safe, exact = client.get(where), client.get(f"{where}&spreadsheet=false")
    rows = list(csv.DictReader(io.StringIO(safe.text, newline="")))
    same = list(csv.DictReader(io.StringIO(exact.text, newline="")))
    assert "attachment" in safe.headers["content-disposition"]
    assert any(row["player"].startswith("a=1+1\t") for row in same)
    assert rows != same or all(row["player"][0] in "ab" for row in same)
    assert same == [{name: plainly(value) for name, value in row.items()} for row in rows]
    assert any(row["net"].startswith("-") for row in rows), "a number is no formula"
    assert 422 == client.get(f"{where}&spreadsheet=perhaps").status_code


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "not asked"])
def test_answers_are_exact_unless_asked_or_a_browser_opens_them(
    client: TestClient, asked: bool
) -> None:
    listed = ", ".join(f"($${one}$$, -{place})" for place, one in enumerate(FORMULAS, start=1))
    sql = f"SELECT t, n FROM (VALUES {listed}) x(t, n)"
    browser = client.get(
        "/api/v1/sql", params={"q": sql, "format": "csv"}, headers={"Accept": "text/html"}
    )
    given = {"q": sql, "format": "csv"} | ({"spreadsheet": "true"} if asked else {})
    answer = client.get("/api/v1/sql", params=given)
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert (browser.text == answer.text) == asked
    texts = [row["t"] for row in rows]
    assert list(FORMULAS) == (list(map(plainly, texts)) if asked else texts)
    assert not asked or not [one for one in texts if re.match("[=+\\-@\t\r＝]", one)]
    assert [str(-place) for place in range(1, len(FORMULAS) + 1)] == [row["n"] for row in rows]


def test_a_heading_is_no_formula_either(client: TestClient) -> None:
    given = {"q": 'SELECT 1 AS "=1+1"', "format": "csv", "spreadsheet": "true"}
    assert client.get("/api/v1/sql", params=given).text == "'=1+1\r\n1\r\n"


def test_an_export_is_exact_in_a_pipe_and_safe_if_asked(
    capsys: Captured, ledger: Path, tmp_path: Path
) -> None:
    told = {}
    for name, more in (("exact", []), ("safe", ["--spreadsheet"])):
        file = tmp_path / f"{name}.csv"
        words = ("export", "--to", "csv", "--table", "hands", "--out", str(file), *more)
        assert ran(capsys, ledger, *words)[0] == 0
        with file.open(newline="", encoding="utf-8") as text:
            told[name] = list(csv.DictReader(text))
    same = [{name: plainly(value) for name, value in row.items()} for row in told["safe"]]
    assert told["exact"] == same
    code, _, err = ran(capsys, ledger, "export", "--to", "phh", "--spreadsheet")
    assert (code, err.startswith("muckrake: --spreadsheet is for csv, not phh")) == (2, True)
