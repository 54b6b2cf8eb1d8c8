"""A question is one file: the one of docs/questions.md is seen at every door, and so are bad words.

It is added in a process of its own, whose questions lie in one folder more.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.questions import declared
from api.questions.question import fields
from tests.fences import Typed, fences, same, typed

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "questions.md"
BESIDE = (
    "import sys; from api.questions import declared; declared.__path__.append(sys.argv.pop(1))\n"
)
SEEN = """
import contextlib
import io
import json
from pathlib import Path
from api.main import main
from starlette.testclient import TestClient
from api.http.ledger_service import LedgerService, Settings
from api.serving.app import create_app
from docs.generate import commands
from docs.http_tables import endpoints
from docs.question_tables import answers, tables

ran = []
for words in json.loads(sys.argv[2]):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    texts = (one.buffer.getvalue().decode().replace("\\r", "") for one in (out, err))
    ran.append((code, *texts))
site = TestClient(create_app(LedgerService(Settings(Path(sys.argv[1])))), "http://127.0.0.1:8000")
at = "/players/random-0/company"
asked = [f"/api/v1{at}{more}" for more in ("", "?format=ndjson", "?format=csv", "?least=0")]
told = {
    "ran": ran,
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


def commands_of_the_page() -> list[Typed]:
    (block,) = (one for one in fences(PAGE) if one.language == "console")
    return list(typed(block.text))


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Any]:
    """The question at the command line, over HTTP, in OpenAPI, on its page and in the documents."""
    ledger = folder / "ledger"
    words = [
        *(list(command.words[1:]) for command in commands_of_the_page()),
        *(["--help"], ["company", "--help"], ["company", "random-0", "--least", "0"]),
        ["company", "random-0", "--csv", str(folder / "company.csv")],
    ]
    done = subprocess.run(
        [
            *(sys.executable, "-W", "ignore", "-c", BESIDE + SEEN),
            *(str(folder), str(ledger), json.dumps(words)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "MUCKRAKE_LEDGER": str(ledger)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_its_commands_print_what_the_page_says(seen: dict[str, Any]) -> None:
    commands = commands_of_the_page()
    assert len(commands) == 4
    for command, (code, printed, errors) in zip(commands, seen["ran"], strict=False):
        assert code == 0, errors
        assert same(command.printed, printed), printed


def test_it_is_in_the_help_and_has_its_own(seen: dict[str, Any]) -> None:
    (_, every, _), (_, told, _) = seen["ran"][4:6]
    assert "\nAsk:\n" in every
    assert "With whom a player sat, and in how many hands." in every
    for word in ("PLAYER", "--match", "--least", "--unit", "--out", "--format", "--json", "--as"):
        assert (word in told) == (word != "--unit")
    assert "Those with most hands come first." in told


def test_a_word_that_it_cannot_take_is_refused(seen: dict[str, Any]) -> None:
    code, printed, errors = seen["ran"][6]
    assert (2, "") == (code, printed)
    assert "0 is not in the range x>=1" in errors
    status, body = seen["answers"]["/api/v1/players/random-0/company?least=0"]
    assert status == 422
    assert "greater than or equal to 1" in json.loads(body)["detail"]


def test_it_goes_into_files(folder: Path, seen: dict[str, Any]) -> None:
    code, _, errors = seen["ran"][7]
    assert code == 0, errors
    assert "companion,hands,share\nrandom-1,20,1.0\n" == (folder / "company.csv").read_text()


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
    assert re.search(r'<th><a class="sort" href="[^"]*sort=with">with</a></th>', seen["page"])
    assert re.search(
        r'<th class="n"><a class="sort" href="[^"]*sort=-hands">hands</a>', seen["page"]
    )
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


@pytest.mark.parametrize("name", declared.question_names())
def test_a_question_says_what_each_parameter_is(name: str) -> None:
    one = declared.question(name)
    lacking = [it.name for it in fields(one.params) if not (it.note and it.note.about)]
    doors = {"people", "table"} | ({"after", "limit", "online"} if one.pages else set())
    assert doors >= set(lacking)
    assert one.sentence == declared.sentence(name)
    assert one.sentence.endswith(".")
