"""A question is one file: the one of docs/questions.md is seen at every door, and so are bad words.

It is added in a process of its own, whose questions lie in one folder more.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.questions import declared
from api.questions.question import fields
from tests.fences import fences, same, typed

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "questions.md"
BESIDE = (
    "import sys; from api.questions import declared; declared.__path__.append(sys.argv.pop(1))\n"
)
MAIN = "from api.main import main\nsys.exit(main())"
SEEN = """
import json
from pathlib import Path
from starlette.testclient import TestClient
from api.http.ledger_service import LedgerService, Settings
from api.serving.app import create_app
from docs.generate import commands
from docs.http_tables import endpoints
from docs.question_tables import answers, tables

site = TestClient(create_app(LedgerService(Settings(Path(sys.argv[1])))), "http://127.0.0.1:8000")
at = "/players/random-0/company"
asked = [f"/api/v1{at}{more}" for more in ("", "?format=ndjson", "?format=csv", "?least=0")]
told = {
    "openapi": site.get("/openapi.json").json(),
    "answers": {path: (got.status_code, got.text) for path in asked for got in [site.get(path)]},
    "files": {
        kind: [got.status_code, got.headers["content-type"], len(got.content)]
        for kind in ("arrow", "parquet")
        for got in [site.get(f"/api/v1{at}?format={kind}")]
    },
    "page": site.get(at).text,
    "docs": [commands(), endpoints(), answers(), tables()],
}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page's file lies."""
    made = tmp_path_factory.mktemp("declared")
    (file,) = (one for one in fences(PAGE) if one.told.startswith("api/questions/declared/"))
    (made / Path(file.told).name).write_text(file.text, "utf-8")
    return made


def ran(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BESIDE + program, str(folder), *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "MUCKRAKE_LEDGER": str(folder / "ledger")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def typed_in(folder: Path) -> list[tuple[str, str]]:
    """What the page says that its commands print, and what they print."""
    (block,) = (one for one in fences(PAGE) if one.language == "console")
    found = []
    for command in typed(block.text):
        done = ran(folder, MAIN, *command.words[1:])
        assert done.returncode == 0, done.stderr
        found.append((command.printed, done.stdout))
    return found


@pytest.fixture(scope="module")
def seen(folder: Path, typed_in: list[tuple[str, str]]) -> dict[str, Any]:
    """The question over HTTP, in OpenAPI, on its page and in the documents."""
    done = ran(folder, SEEN, str(folder / "ledger"))
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_its_commands_print_what_the_page_says(typed_in: list[tuple[str, str]]) -> None:
    assert len(typed_in) == 4
    for said, printed in typed_in:
        assert same(said, printed), printed


def test_it_is_in_the_help_and_has_its_own(folder: Path) -> None:
    every = ran(folder, MAIN, "--help").stdout
    assert "Questions:" in every
    assert "With whom a player sat, and in how many hands." in every
    told = ran(folder, MAIN, "company", "--help").stdout
    for word in ("PLAYER", "--match", "--least", "--unit", "--csv", "--parquet", "--json", "--as"):
        assert (word in told) == (word != "--unit")
    assert "Those with most hands come first." in told


def test_a_word_that_it_cannot_take_is_refused(folder: Path, seen: dict[str, Any]) -> None:
    done = ran(folder, MAIN, "company", "random-0", "--least", "0")
    assert (2, "") == (done.returncode, done.stdout)
    assert "0 is not in the range x>=1" in done.stderr
    status, body = seen["answers"]["/api/v1/players/random-0/company?least=0"]
    assert status == 422
    assert "greater than or equal to 1" in json.loads(body)["detail"]


def test_it_goes_into_files(folder: Path, typed_in: list[tuple[str, str]], tmp_path: Path) -> None:
    done = ran(folder, MAIN, "company", "random-0", "--csv", str(tmp_path / "company.csv"))
    assert done.returncode == 0, done.stderr
    assert "companion,hands,share\nrandom-1,20,1.0\n" == (tmp_path / "company.csv").read_text()


def test_it_is_answered_over_http_in_every_format(seen: dict[str, Any]) -> None:
    at = "/api/v1/players/random-0/company"
    assert [200] * 3 == [
        seen["answers"][at + it][0] for it in ("", "?format=ndjson", "?format=csv")
    ]
    document = json.loads(seen["answers"][at][1])
    row = {"companion": "random-1", "hands": 20, "share": 1.0}
    assert {"schema": "muckrake.company/1", "as": "public", "player": "random-0", "hands": 20} == {
        key: value for key, value in document.items() if key != "companions"
    }
    assert (
        [row] == document["companions"] == [json.loads(seen["answers"][f"{at}?format=ndjson"][1])]
    )
    assert "companion,hands,share\r\nrandom-1,20,1.0\r\n" == seen["answers"][f"{at}?format=csv"][1]
    for kind, (status, media, size) in seen["files"].items():
        assert (200, True, True) == (status, kind in media, size > 200)


def test_openapi_knows_it(seen: dict[str, Any]) -> None:
    operation = seen["openapi"]["paths"]["/api/v1/players/{player}/company"]["get"]
    assert "player_company" == operation["operationId"]
    assert "With whom a player sat, and in how many hands" == operation["summary"]
    told = {one["name"]: one for one in operation["parameters"]}
    assert {"player", "match", "least", "as"} == set(told)
    assert (1, 1000, 1) == tuple(
        told["least"]["schema"][it] for it in ("minimum", "maximum", "default")
    )
    content = operation["responses"]["200"]["content"]
    assert 5 == len(content)
    assert {"$ref": "#/components/schemas/Company"} == content["application/json"]["schema"]
    column = seen["openapi"]["components"]["schemas"]["Companion"]["properties"]["hands"]
    assert "in how many of his hands" == column["description"]


def test_it_has_a_page(seen: dict[str, Any]) -> None:
    assert '<th>with</th><th class="n">hands</th>' in seen["page"]
    assert (
        '<th scope="row">random-1</th><td class="n">20</td><td class="n">100.0 %</td>'
        in (seen["page"])
    )


def test_the_documents_tell_it(seen: dict[str, Any]) -> None:
    commands, endpoints, answers, tables = seen["docs"]
    assert "### muckrake company" in commands
    assert "| GET | `/api/v1/players/{player}/company` | With whom a player sat" in endpoints
    assert "| `muckrake.company/1` | `company` | `/api/v1/players/{player}/company`" in answers
    assert "### company\n\n| column | title | what it is |" in tables
    assert "| `companion` | with | who sat there, too |" in tables


@pytest.mark.parametrize("name", declared.names())
def test_a_question_says_what_each_parameter_is(name: str) -> None:
    one = declared.question(name)
    lacking = [it.name for it in fields(one.params) if not (it.note and it.note.about)]
    assert {"people", "table"} >= set(lacking)
    assert one.sentence == declared.sentence(name)
    assert one.sentence.endswith(".")
