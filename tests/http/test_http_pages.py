"""Every page of requests beside this file is asked, and its answers are held to their word."""

from pathlib import Path

import pytest

from tests.http import ledgers
from tests.http.clients import Site
from tests.http.exchanges import Wrong, run

PAGES = sorted(Path(__file__).parent.glob("*.http.md"))

BLOCK = """\
# A page

{reason}

```http
GET /api/v1/

HTTP {status}
{header}

{body}
```
"""
GOOD = {
    "reason": "The root says who one is.",
    "status": "200",
    "header": "Content-Type: application/json",
    "body": '{"viewpoint": {"view": "public"}}',
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that no other test has looked at: the pages say every count of it."""
    return ledgers.made(tmp_path_factory.mktemp("pages") / "ledger")


@pytest.mark.parametrize("told", PAGES, ids=lambda told: told.name.partition(".")[0])
def test_every_answer_is_as_the_page_says(told: Path, mine: Site) -> None:
    assert run(told, mine) > 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"reason": "Because."}, "say above it why it is asked"),
        ({"status": "404"}, "HTTP 404, not 200"),
        ({"header": "Content-Type: text/csv"}, "Content-Type is 'application/json'"),
        ({"header": "X-Nothing: 1"}, "X-Nothing: 1, and there is none"),
        ({"header": "ETag: absent"}, "ETag is to be absent"),
        ({"body": '{"viewpoint": {"view": "auditor"}}'}, ".viewpoint.view is 'public'"),
        ({"body": '{"viewpoint": {"matches": ["x"]}}'}, ".viewpoint.matches has 0 elements"),
        ({"body": '{"nothing": 1}'}, ".nothing is missing"),
        ({"body": "lacks: public"}, "public is in it"),
        ({"body": "some text"}, "the body is"),
    ],
)
def test_an_answer_that_is_not_as_a_page_says_is_found(
    changed: dict[str, str], said: str, site: Site, tmp_path: Path
) -> None:
    page = tmp_path / "a.http.md"
    page.write_text(BLOCK.format(**GOOD))
    assert 1 == run(page, site)
    page.write_text(BLOCK.format(**(GOOD | changed)))
    with pytest.raises(Wrong) as wrong:
        run(page, site)
    assert said in str(wrong.value)
